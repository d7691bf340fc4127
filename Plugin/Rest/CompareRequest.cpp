// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/CompareRequest.h"

#include "Dicom/TransferSyntax.h"
#include "Tuning/ParseJson.h"
#include "Tuning/SettingError.h"
#include "Tuning/TuningSchema.h"

#include <algorithm>
#include <limits>
#include <map>
#include <regex>

namespace OrthancPerf
{
  namespace
  {
    // Nothing else comes into a path of the REST API. Orthanc's DicomInstanceHasher.
    bool IsOrthancIdentifier(const Json::Value& value)
    {
      static const std::regex GROUPS("([0-9a-f]{8}-){4}[0-9a-f]{8}");
      constexpr std::size_t LENGTH = 44;
      return value.isString() && value.asString().size() == LENGTH &&
             std::regex_match(value.asString(), GROUPS);
    }


    // A list that is not empty, without what is in it twice. "choices": what each text stands for.
    std::vector<std::string> ReadList(const std::string& key, const Json::Value& value,
                                      const std::map<std::string, std::string>& choices)
    {
      std::string allowed;
      std::vector<std::string> list;

      for (const auto& [text, meaning] : choices)
      {
        allowed += (allowed.empty() ? "" : ", ") + text;
      }

      if (!value.isArray() || value.empty())
      {
        throw SettingError::ForValue(key, value, "a list of " + allowed);
      }

      for (const Json::Value& item : value)
      {
        const auto choice = choices.find(item.isString() ? item.asString() : "");

        if (choice == choices.end())
        {
          throw SettingError::ForValue(key, item, allowed);
        }

        if (std::find(list.begin(), list.end(), choice->second) == list.end())
        {
          list.push_back(choice->second);
        }
      }

      return list;
    }


    template <typename Integer>
    void ReadInteger(Integer& target, const std::string& key, const Json::Value& value,
                     const IntegerRange& range)
    {
      if (!range.Contains(value))
      {
        throw SettingError::ForValue(key, value, range.Describe());
      }

      target = static_cast<Integer>(value.asInt64());
    }


    std::map<std::string, std::string> ListTargets()
    {
      std::map<std::string, std::string> targets;

      for (const TransferSyntax& syntax : GetWritableSyntaxes())
      {
        targets[syntax.uid] = syntax.uid;
        targets[syntax.name] = syntax.uid;
      }

      return targets;
    }


    std::map<std::string, std::string> ListEngines(const std::vector<std::string>& names)
    {
      std::map<std::string, std::string> engines;

      for (const std::string& name : names)
      {
        engines[name] = name;
      }

      return engines;
    }


    void ReadKey(CompareRequest& request, const std::string& key, const Json::Value& value)
    {
      if (key == "Targets")
      {
        request.targets = ReadList(key, value, ListTargets());
      }
      else if (key == "Engines")
      {
        request.engines = ReadList(key, value, ListEngines(request.engines));
      }
      else if (key == "MaximumInstances")
      {
        ReadInteger(request.maximumInstances, key, value, {1, CompareRequest::MAXIMUM_INSTANCES});
      }
      else if (key == "LossyQuality")
      {
        ReadInteger(request.lossyQuality, key, value, LOSSY_QUALITY_RANGE);
      }
      else if (key == "Priority")
      {
        ReadInteger(request.priority, key, value,
                    {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()});
      }
      else if (key == "Synchronous" || key == "Asynchronous")
      {
        // A request that waits for the end is refused rather than misread
        if (value != Json::Value(key == "Asynchronous"))
        {
          throw SettingError::ForValue(key, value,
                                       std::string(key == "Asynchronous" ? "true" : "false") +
                                           ", as a comparison always runs as a job");
        }
      }
      else if (key != "Resource")
      {
        throw SettingError::ForUnknownKey(key, value,
                                          {"Asynchronous", "Engines", "LossyQuality",
                                           "MaximumInstances", "Priority", "Resource",
                                           "Synchronous", "Targets"});
      }
    }

  }


  CompareRequest ReadCompareRequest(const std::string& body,
                                    const std::vector<std::string>& engines)
  {
    const Json::Value document = ParseJson(body.data(), body.size());

    if (!document.isObject())
    {
      throw SettingError::ForValue("", document, "an object");
    }

    const Json::Value& resource = document["Resource"];

    if (!IsOrthancIdentifier(resource))
    {
      throw SettingError::ForValue("Resource", resource,
                                   "Orthanc's identifier of an instance or a series");
    }

    CompareRequest request;
    request.resource = resource.asString();
    request.engines = engines;

    // What compression is about: lossless, and not merely another way of writing the data set
    for (const TransferSyntax& syntax : GetWritableSyntaxes())
    {
      if (!syntax.isLossy && syntax.isEncapsulated)
      {
        request.targets.emplace_back(syntax.uid);
      }
    }

    for (const std::string& key : document.getMemberNames())
    {
      ReadKey(request, key, document[key]);
    }

    return request;
  }


  std::vector<std::string> SpreadOut(const std::vector<std::string>& instances, std::size_t maximum)
  {
    if (instances.size() <= maximum)
    {
      return instances;
    }

    std::vector<std::string> chosen;

    for (std::size_t i = 0; i < maximum; i++)
    {
      chosen.push_back(instances[i * instances.size() / maximum]);
    }

    return chosen;
  }

}
