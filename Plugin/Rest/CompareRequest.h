// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The body of POST /perf/transcoding/compare. A value.
  struct CompareRequest
  {
    // Some minutes of work at most, for images of the usual size
    static constexpr std::size_t MAXIMUM_INSTANCES = 1000;

    std::string resource;              // Orthanc's identifier of an instance or a series
    std::vector<std::string> targets;  // transfer syntax UIDs, each once
    std::vector<std::string> engines;  // names, each once
    std::size_t maximumInstances = 20;
    unsigned int lossyQuality = 90;
    int priority = 0;
  };

  // Reads the body, where "engines" are the names of all engines that there are. Throws
  // SettingError, which names the key. Any thread.
  CompareRequest ReadCompareRequest(const std::string& body,
                                    const std::vector<std::string>& engines);

  // That many at most, from the whole length of the series: its first images may be unlike the rest
  std::vector<std::string> SpreadOut(const std::vector<std::string>& instances,
                                     std::size_t maximum);
}
