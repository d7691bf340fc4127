// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/PerfConfiguration.h"

#include "Tuning/SettingError.h"
#include "Tuning/TuningReader.h"
#include "Tuning/UnknownKeys.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    using PerfKey = SettingKey<PerfConfiguration>;

    constexpr const char* PERF = "Perf";
    constexpr const char* TUNING = "Tuning";

    PerfKey MakeSizeKey(const std::string& name, const std::string& description,
                        const IntegerRange& range, std::size_t PerfConfiguration::*member)
    {
      return MakeIntegerKey<PerfConfiguration>(
          "", name, description, range,
          [member](const PerfConfiguration& c) { return static_cast<std::int64_t>(c.*member); },
          [member](PerfConfiguration& c, std::int64_t value)
          { c.*member = static_cast<std::size_t>(value); });
    }


    PerfKey MakeSwitchKey(const std::string& name, const std::string& description,
                          bool PerfConfiguration::*member)
    {
      return MakeBooleanKey<PerfConfiguration>(
          "", name, description, [member](PerfConfiguration& c) -> bool& { return c.*member; });
    }


    std::vector<std::string> GetAllPaths()
    {
      std::vector<std::string> paths;

      for (const PerfKey& key : GetPerfKeys())
      {
        paths.push_back(JoinPath(PERF, key.name));
      }

      paths.push_back(JoinPath(PERF, TUNING));

      for (const std::string& path : GetTuningPaths(JoinPath(PERF, TUNING)))
      {
        paths.push_back(path);
      }

      return paths;
    }


    void ReadKey(PerfConfiguration& configuration, const std::string& name,
                 const Json::Value& value, const UnknownKeys& unknownKeys)
    {
      const std::vector<PerfKey>& keys = GetPerfKeys();
      const auto key = std::find_if(keys.begin(), keys.end(),
                                    [&name](const PerfKey& known) { return known.name == name; });

      if (key == keys.end())
      {
        unknownKeys.Report(PERF, name, value);
      }
      else if (!value.isNull() && !key->read(value, configuration))
      {
        throw SettingError::ForValue(JoinPath(PERF, name), value, key->allowed);
      }
    }
  }


  PerfConfiguration PerfConfiguration::Parse(const Json::Value& section)
  {
    PerfConfiguration configuration;

    if (section.isNull())
    {
      return configuration;
    }

    if (!section.isObject())
    {
      throw SettingError::ForValue(PERF, section, "an object");
    }

    std::vector<std::string> warnings;
    UnknownKeys unknownKeys(GetAllPaths());
    unknownKeys.CollectWarningsIn(warnings);

    for (const std::string& name : section.getMemberNames())
    {
      if (name == TUNING && !section[name].isNull())
      {
        configuration.tuningDocument =
            ReadTuningConfiguration(section[name], JoinPath(PERF, TUNING), warnings);
        configuration.tuning = ApplyTuning(Tuning(), configuration.tuningDocument);
      }
      else if (name != TUNING)
      {
        ReadKey(configuration, name, section[name], unknownKeys);
      }
    }

    configuration.warnings = warnings;
    return configuration;
  }


  const std::vector<SettingKey<PerfConfiguration>>& GetPerfKeys()
  {
    static const std::vector<PerfKey> ALL = {
        MakeSwitchKey("Enabled", "whether the plugin does anything at all",
                      &PerfConfiguration::enabled),
        MakeSwitchKey("SocketProbe", "whether the libc probe may be installed",
                      &PerfConfiguration::socketProbe),
        MakeSizeKey("RecentInstances", "how many finished instances /perf/instances remembers",
                    RECENT_INSTANCES_RANGE, &PerfConfiguration::recentInstances),
        MakeSizeKey("MaximumPeers", "how many peers are told apart; the rest share \"other\"",
                    MAXIMUM_PEERS_RANGE, &PerfConfiguration::maximumPeers),
        MakeSwitchKey("AllowTuning", "whether PUT and DELETE of /perf/tuning are allowed",
                      &PerfConfiguration::allowTuning),
        MakeSwitchKey("PersistTuning", "whether changes of the tuning survive a restart",
                      &PerfConfiguration::persistTuning),
    };
    return ALL;
  }
}
