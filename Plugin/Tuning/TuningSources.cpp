// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningSources.h"

#include "Tuning/SettingError.h"
#include "Tuning/TuningReader.h"
#include "Tuning/TuningSchema.h"

namespace OrthancPerf
{
  namespace
  {
    bool Names(const Json::Value& document, const TuningKey& key)
    {
      return document.isMember(key.section) && document[key.section].isMember(key.name);
    }
  }


  Json::Value DescribeSources(const Json::Value& configuration, const Json::Value& overrides)
  {
    const Tuning configured = ApplyTuning(Tuning(), configuration);
    const Tuning inForce = ApplyTuning(configured, overrides);
    Json::Value json(Json::objectValue);

    for (const TuningKey& key : GetTuningKeys())
    {
      if (key.name == PRESET)
      {
        continue;
      }

      Json::Value& entry = json[key.section][key.name];
      entry["Value"] = key.write(inForce);

      if (Names(overrides, key))
      {
        entry["Source"] = "REST";
        entry["Configured"] = key.write(configured);
      }
      else
      {
        entry["Source"] = Names(configuration, key) ? "Configuration" : "Default";
      }
    }

    return json;
  }


  std::string DescribeOverridden(const Json::Value& configuration, const Json::Value& overrides)
  {
    const Json::Value sources = DescribeSources(configuration, overrides);
    std::string text;

    for (const TuningKey& key : GetTuningKeys())
    {
      const Json::Value& entry = sources[key.section][key.name];

      if (entry.isMember("Configured") && entry["Value"] != entry["Configured"])
      {
        text += (text.empty() ? "" : ", ") + key.GetPath() + " is " + Describe(entry["Value"]) +
                " (configured: " + Describe(entry["Configured"]) + ")";
      }
    }

    return text;
  }
}
