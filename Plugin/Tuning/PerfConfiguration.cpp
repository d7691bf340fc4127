// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/PerfConfiguration.h"

#include "Tuning/SettingError.h"
#include "Tuning/TuningReader.h"
#include "Tuning/UnknownKeys.h"

#include <boost/algorithm/string/predicate.hpp>

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    using PerfKey = SettingKey<PerfConfiguration>;

    constexpr const char* PERF = "Perf";
    constexpr const char* TUNING = "Tuning";

    struct AllowTuningKind : SwitchKind
    {
      static std::string GetAllowed()
      {
        return SwitchKind::GetAllowed() +
               "; Resources/Configuration/access.lua says which users may";
      }
    };

    // Keys of a former version. Other unknown keys are ignored; with these, the plugin would stay
    // on, or users would gain rights.
    struct FormerKey
    {
      const char* name;
      const char* instead;
    };

    constexpr FormerKey FORMER_KEYS[] = {
        {"Enabled", "absent; its name is \"Enable\", as in Orthanc's other plugins"},
        {"MetricsUsers",
         "absent; Resources/Configuration/access.lua says which users read metrics only"},
    };

    std::vector<std::string> GetAllPaths()
    {
      std::vector<std::string> paths;

      for (const PerfKey& key : GetPerfKeys())
      {
        paths.push_back(JoinPath(PERF, key.name));
      }

      const std::vector<std::string> ofTuning = GetTuningPaths(JoinPath(PERF, TUNING));
      paths.push_back(JoinPath(PERF, TUNING));
      paths.insert(paths.end(), ofTuning.begin(), ofTuning.end());
      return paths;
    }


    void ReadKey(PerfConfiguration& configuration, const std::string& name,
                 const Json::Value& value, std::vector<std::string>& warnings)
    {
      const std::vector<PerfKey>& keys = GetPerfKeys();
      const auto key = std::find_if(keys.begin(), keys.end(),
                                    [&name](const PerfKey& known) { return known.name == name; });

      for (const FormerKey& former : FORMER_KEYS)
      {
        if (name == former.name)
        {
          throw SettingError::ForValue(JoinPath(PERF, name), value, former.instead);
        }
      }

      if (key == keys.end())
      {
        ReportUnknownKey(GetAllPaths(), PERF, name, value, &warnings);
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


  PerfConfiguration PerfConfiguration::ParseSectionOf(const Json::Value& configuration)
  {
    PerfConfiguration parsed = Parse(configuration[PERF]);

    for (const std::string& name : configuration.getMemberNames())
    {
      if (name != PERF && boost::algorithm::iequals(name, PERF))
      {
        parsed.warnings.push_back("the section \"" + name + "\" is ignored: its name is \"" + PERF +
                                  "\"");
      }
    }

    return parsed;
  }


  const std::vector<SettingKey<PerfConfiguration>>& GetPerfKeys()
  {
    using Perf = PerfConfiguration;

    const auto make = [](const char* name, auto kind, auto member)
    {
      return MakeSettingKey<Perf>("", name, kind, member);
    };

    static const std::vector<PerfKey> ALL = {
        make("Enable", SwitchKind(), &Perf::enabled),
        make("SocketProbe", SwitchKind(), &Perf::socketProbe),
        make("RecentInstances", IntegerKind{RECENT_INSTANCES_RANGE}, &Perf::recentInstances),
        make("MaximumPeers", IntegerKind{MAXIMUM_PEERS_RANGE}, &Perf::maximumPeers),
        make("AllowTuning", AllowTuningKind(), &Perf::allowTuning),
        make("PersistTuning", SwitchKind(), &Perf::persistTuning),
    };
    return ALL;
  }
}
