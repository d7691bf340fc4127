// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/PerfConfiguration.h"

#include "Tuning/Json.h"
#include "Tuning/TuningReader.h"

#include <algorithm>
#include <strings.h>

namespace OrthancPerf
{
  namespace
  {
    using PerfKey = SettingKey<PerfConfiguration>;

    constexpr const char* PERF = "Perf";
    constexpr const char* TUNING = "Tuning";

    void ReadKey(PerfConfiguration& configuration, const std::string& name,
                 const Json::Value& value, std::vector<std::string>& warnings)
    {
      const std::vector<PerfKey>& keys = GetPerfKeys();
      const auto key = std::find_if(keys.begin(), keys.end(),
                                    [&name](const PerfKey& known) { return known.name == name; });

      if (name == "Enabled")  // or the plugin would stay on
      {
        throw SettingError("Unknown key \"Perf.Enabled\"; its name is \"Enable\", as in Orthanc's "
                           "other plugins",
                           JoinPath(PERF, name), Describe(value), "Enable");
      }

      if (key == keys.end())
      {
        warnings.push_back("Unknown key \"" + DescribeText(JoinPath(PERF, name)) + "\" is ignored");
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

    for (const std::string& name : section.getMemberNames())
    {
      if (name == TUNING && !section[name].isNull())
      {
        configuration.tuningDocument =
            ReadTuningConfiguration(section[name], JoinPath(PERF, TUNING), configuration.warnings);
        configuration.tuning = ApplyTuning(Tuning(), configuration.tuningDocument);
      }
      else if (name != TUNING)
      {
        ReadKey(configuration, name, section[name], configuration.warnings);
      }
    }

    return configuration;
  }

  PerfConfiguration PerfConfiguration::Find(const Json::Value& orthanc)
  {
    PerfConfiguration configuration = Parse(orthanc[PERF]);

    for (const std::string& name : orthanc.getMemberNames())
    {
      if (name != PERF && strcasecmp(name.c_str(), PERF) == 0)
      {
        configuration.warnings.push_back("The section \"" + name +
                                         "\" is ignored; its name is \"Perf\"");
      }
    }

    return configuration;
  }

  const std::vector<SettingKey<PerfConfiguration>>& GetPerfKeys()
  {
    using Perf = PerfConfiguration;

    const auto make = [](const char* name, const auto& kind, auto member)
    {
      return MakeSettingKey<Perf>("", name, kind, member);
    };

    static const std::vector<PerfKey> ALL = {
        make("Enable", MakeSwitchKind(), &Perf::enabled),
        make("SocketProbe", MakeSwitchKind(), &Perf::socketProbe),
        make("RecentInstances", MakeIntegerKind<std::size_t>(RECENT_INSTANCES_RANGE),
             &Perf::recentInstances),
        make("MaximumPeers", MakeIntegerKind<std::size_t>(MAXIMUM_PEERS_RANGE),
             &Perf::maximumPeers),
        make("AllowTuning", MakeSwitchKind(), &Perf::allowTuning),
        make("PersistTuning", MakeSwitchKind(), &Perf::persistTuning),
    };
    return ALL;
  }
}
