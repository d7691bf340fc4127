// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/CompareRequest.h"

#include "Tuning/ParseJson.h"
#include "Tuning/SettingError.h"
#include "Tuning/TuningSchema.h"
#include "Tuning/UnknownKeys.h"
#include "Tuning/WritableSyntax.h"

#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace OrthancPerf
{
  namespace
  {
    using Choose = std::function<std::optional<std::string>(const std::string&)>;

    // Five groups of eight hexadecimal digits (Orthanc's DicomInstanceHasher): nothing else comes
    // into a path of the REST API
    bool IsOrthancIdentifier(const std::string& text)
    {
      constexpr std::size_t GROUP = 9;
      constexpr std::size_t LENGTH = 5 * GROUP - 1;

      if (text.size() != LENGTH)
      {
        return false;
      }

      for (std::size_t i = 0; i < text.size(); i++)
      {
        const bool isDash = i % GROUP == GROUP - 1;
        const bool isDigit = std::string("0123456789abcdef").find(text[i]) != std::string::npos;

        if (isDash ? text[i] != '-' : !isDigit)
        {
          return false;
        }
      }

      return true;
    }


    std::string DescribeSyntaxes()
    {
      std::vector<std::string> names;
      for (const WritableSyntax& syntax : GetWritableSyntaxes())
      {
        names.push_back(std::string(syntax.uid) + " (" + syntax.name + ")");
      }
      return boost::algorithm::join(names, ", ");
    }


    // What compression is about: lossless, and not merely another way of writing the data set
    std::vector<std::string> GetDefaultTargets()
    {
      std::vector<std::string> targets;
      for (const WritableSyntax& syntax : GetWritableSyntaxes())
      {
        if (!syntax.isLossy && syntax.isEncapsulated)
        {
          targets.emplace_back(syntax.uid);
        }
      }
      return targets;
    }


    std::string ReadResource(const Json::Value& value)
    {
      if (!value.isString() || !IsOrthancIdentifier(value.asString()))
      {
        throw SettingError::ForValue("Resource", value,
                                     "Orthanc's identifier of an instance or a series");
      }

      return value.asString();
    }


    // A list that is not empty, without what is in it twice
    std::vector<std::string> ReadList(const std::string& key, const Json::Value& value,
                                      const Choose& choose, const std::string& allowed)
    {
      std::vector<std::string> list;

      if (!value.isArray() || value.empty())
      {
        throw SettingError::ForValue(key, value, "a list of " + allowed);
      }

      for (const Json::Value& item : value)
      {
        const std::optional<std::string> chosen =
            item.isString() ? choose(item.asString()) : std::nullopt;

        if (!chosen)
        {
          throw SettingError::ForValue(key, item, allowed);
        }

        if (std::find(list.begin(), list.end(), *chosen) == list.end())
        {
          list.push_back(*chosen);
        }
      }

      return list;
    }


    template <typename Integer>
    Integer ReadInteger(const std::string& key, const Json::Value& value, const IntegerRange& range)
    {
      if (!range.Contains(value))
      {
        throw SettingError::ForValue(key, value, range.Describe());
      }

      return static_cast<Integer>(value.asInt64());
    }


    // The comparison is always a job: a request that waits for it is refused rather than misread
    void CheckThatNobodyWaits(const std::string& key, const Json::Value& value, bool allowed)
    {
      if (!value.isBool() || value.asBool() != allowed)
      {
        throw SettingError::ForValue(key, value,
                                     std::string(allowed ? "true" : "false") +
                                         ", as a comparison always runs as a job");
      }
    }


    void ReadKey(const std::string& key, const Json::Value& value,
                 const std::vector<std::string>& engines, CompareRequest& request)
    {
      const auto chooseEngine = [&engines](const std::string& name)
      {
        const bool isKnown = std::find(engines.begin(), engines.end(), name) != engines.end();
        return isKnown ? std::optional<std::string>(name) : std::nullopt;
      };

      if (key == "Resource")
      {
        request.resource = ReadResource(value);
      }
      else if (key == "Targets")
      {
        request.targets = ReadList(key, value, LookupWritableSyntax, DescribeSyntaxes());
      }
      else if (key == "Engines")
      {
        request.engines = ReadList(key, value, chooseEngine, boost::algorithm::join(engines, ", "));
      }
      else if (key == "MaximumInstances")
      {
        request.maximumInstances =
            ReadInteger<std::size_t>(key, value, {1, CompareRequest::MAXIMUM_INSTANCES});
      }
      else if (key == "LossyQuality")
      {
        request.lossyQuality = ReadInteger<unsigned int>(key, value, LOSSY_QUALITY_RANGE);
      }
      else if (key == "Priority")
      {
        request.priority = ReadInteger<int>(
            key, value, {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()});
      }
      else if (key == "Synchronous" || key == "Asynchronous")
      {
        CheckThatNobodyWaits(key, value, key == "Asynchronous");
      }
      else
      {
        ReportUnknownKey({"Asynchronous", "Engines", "LossyQuality", "MaximumInstances", "Priority",
                          "Resource", "Synchronous", "Targets"},
                         "", key, value);
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

    CompareRequest request;
    request.targets = GetDefaultTargets();
    request.engines = engines;
    ReadResource(document["Resource"]);

    for (const std::string& key : document.getMemberNames())
    {
      ReadKey(key, document[key], engines, request);
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
