// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What the plugin needs to know of Orthanc's own configuration, with Orthanc's defaults where a
  // key is missing or is of another type. Made once, of the whole configuration; constant.
  struct ServerConfiguration
  {
    explicit ServerConfiguration(const Json::Value& orthancConfiguration);

    std::uint16_t dicomPort;  // 0: Orthanc has no DICOM server
    std::uint16_t httpPort;   // 0: Orthanc has no HTTP server
    std::size_t dicomThreads;
    std::size_t httpThreads;
    std::chrono::seconds dicomTimeout;  // that Orthanc's DICOM server has patience; zero: any time

    std::vector<std::string> modalityTitles;    // the AE titles of all modalities
    std::vector<std::uint16_t> encryptedPorts;  // of the modalities that are called over TLS

    // Of the images, and of SQLite's index; as they are written, so relative to the configuration
    std::string storageDirectory;
    std::string indexDirectory;

    bool hasOtherFilters;  // anything in this Orthanc may refuse an instance: Lua, other plugins

    // Query arguments that a request has for others: a browser's cache ("_", by jQuery), and the
    // token of a user, for Orthanc's authorization plugin
    std::vector<std::string> foreignArguments;
  };
}
