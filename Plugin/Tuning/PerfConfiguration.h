// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/SettingKey.h"
#include "Tuning/TuningDocument.h"

#include <json/value.h>

#include <cstddef>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The section "Perf" of Orthanc's configuration. A value, read once at the start; the members'
  // initial values are the defaults.
  struct PerfConfiguration
  {
    bool enabled = true;                 // whether the plugin does anything at all
    bool socketProbe = true;             // whether the libc probe may be installed
    std::size_t recentInstances = 1000;  // how many finished ones /perf/instances remembers
    std::size_t maximumPeers = 256;      // how many are told apart; the rest share "other"
    bool allowTuning = true;             // whether /perf/tuning takes PUT and DELETE
    bool persistTuning = true;           // whether changes of the tuning survive a restart
    Json::Value tuningDocument = Json::objectValue;  // what it sets of the tuning, canonical
    Tuning tuning;                                   // that, over the defaults

    // One line for the log for each key that is not known, and ignored
    std::vector<std::string> warnings;

    // Reads the section; null stands for what is not there, and gives the default. Throws
    // SettingError, with the path of the key from "Perf" on, on a wrong type or value.
    static PerfConfiguration Parse(const Json::Value& section);

    // The same of Orthanc's whole configuration. Warns of the section's name in other letters.
    static PerfConfiguration Find(const Json::Value& orthanc);
  };

  // 100,000 finished instances take some 40 MB: 304 bytes each and an identifier
  constexpr IntegerRange RECENT_INSTANCES_RANGE = {0, 100000};

  // Each peer is a label value of a dozen of metrics
  constexpr IntegerRange MAXIMUM_PEERS_RANGE = {1, 10000};

  // Every key of the section but "Tuning", which GetTuningKeys() describes
  const std::vector<SettingKey<PerfConfiguration>>& GetPerfKeys();
}
