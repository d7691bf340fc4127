// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/EventQueue.h"

#include <json/value.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The folder in which relative paths of the configuration begin, as Orthanc has it (1.10.1 to
  // 1.13.0): that of the file or the folder that its command line names, or else where it was
  // started. "commandLine": its words with a null after each, /proc/self/cmdline (proc(5)). The
  // SDK's OrthancPluginGetConfigurationPath is the folder above for a folder.
  std::filesystem::path FindConfigurationFolder(const std::string& commandLine);

  // Modalities and peers as Orthanc calls them: of "DicomModalities" and "OrthancPeers", or of
  // Orthanc's answers to GET /modalities?expand and GET /peers?expand. Port 0: it cannot be read.
  std::vector<Destination> ReadDestinations(const Json::Value& modalities,
                                            const Json::Value& peers);

  // What the plugin needs to know of Orthanc's own configuration, with Orthanc's defaults where a
  // key is missing or is of another type. Made once, of the whole configuration; constant.
  struct ServerConfiguration
  {
    // "folder": in which relative paths begin
    ServerConfiguration(const Json::Value& orthancConfiguration,
                        const std::filesystem::path& folder);

    std::uint16_t dicomPort;  // 0: Orthanc has no DICOM server
    std::uint16_t httpPort;   // 0: Orthanc has no HTTP server
    std::size_t dicomThreads;

    std::vector<Destination> destinations;  // of the file

    // Of the images, and of SQLite's index, as paths from anywhere; both empty where Orthanc stores
    // nothing ("ReadOnly")
    std::string storageDirectory;
    std::string indexDirectory;

    // The section by which the index is to be in a database's server; empty: there is none. Without
    // "EnableIndex", which may be misspelt, it is if several servers share it ("Lock").
    std::string databaseSection;
  };
}
