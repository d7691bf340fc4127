// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Hashing.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // Orthanc's MD5 is portable C, no assembler: 250 MB/s on a busy core, 500 MB/s on a free one
    constexpr double SLOW_MD5 = 250e6;

    // What else "prepare" does with the bytes of a file (copies), without MD5
    constexpr double COPYING = 1500e6;


    // Whether something else that may take long lies in "prepare"
    bool HasOtherWork(const ServerFacts& facts)
    {
      const Json::Value& scripts = facts.configuration["LuaScripts"];
      return (scripts.isArray() && !scripts.empty()) || facts.IsOn("StorageCompression", false);
    }
  }


  double EstimateMd5(const TrafficSums& traffic, const ServerFacts& facts)
  {
    if (!facts.IsOn("StoreMD5ForAttachments", true))
    {
      return 0;
    }

    const double rest = std::max(traffic.GetSeconds(Phase::Prepare) - traffic.bytes / COPYING, 0.0);
    return HasOtherWork(facts) ? std::min(rest, traffic.bytes / SLOW_MD5) : rest;
  }
}
