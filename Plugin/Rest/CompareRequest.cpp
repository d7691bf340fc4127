// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/CompareRequest.h"

#include "Tuning/ParseJson.h"
#include "Tuning/SettingError.h"
#include "Tuning/SettingKey.h"
#include "Tuning/UnknownKeys.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
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
      return JoinNames(names);
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
    std::vector<std::string> ReadList(const char* key, const Json::Value& value,
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


    std::int64_t ReadInteger(const char* key, const Json::Value& value, const IntegerRange& range)
    {
      if (!range.Contains(value))
      {
        throw SettingError::ForValue(key, value, range.Describe());
      }

      return value.asInt64();
    }


    // The comparison is always a job: a request that waits for it is refused rather than misread
    void CheckThatNobodyWaits(const char* key, const Json::Value& value, bool allowed)
    {
      if (!value.isBool() || value.asBool() != allowed)
      {
        throw SettingError::ForValue(key, value,
                                     std::string(allowed ? "true" : "false") +
                                         ", as a comparison always runs as a job");
      }
    }


    using Reader = std::function<void(const Json::Value&, CompareRequest&)>;

    std::map<std::string, Reader> MakeReaders(const std::vector<std::string>& engines)
    {
      const Choose chooseEngine = [engines](const std::string& name)
      {
        const bool isKnown = std::find(engines.begin(), engines.end(), name) != engines.end();
        return isKnown ? std::optional<std::string>(name) : std::nullopt;
      };

      std::map<std::string, Reader> readers;
      readers["Resource"] = [](const Json::Value& value, CompareRequest& request)
      {
        request.resource = ReadResource(value);
      };
      readers["Targets"] = [](const Json::Value& value, CompareRequest& request)
      {
        request.targets = ReadList("Targets", value, LookupWritableSyntax, DescribeSyntaxes());
      };
      readers["Engines"] =
          [engines, chooseEngine](const Json::Value& value, CompareRequest& request)
      {
        request.engines = ReadList("Engines", value, chooseEngine, JoinNames(engines));
      };
      readers["MaximumInstances"] = [](const Json::Value& value, CompareRequest& request)
      {
        const IntegerRange range = {1, CompareRequest::MAXIMUM_INSTANCES};
        request.maximumInstances =
            static_cast<std::size_t>(ReadInteger("MaximumInstances", value, range));
      };
      readers["LossyQuality"] = [](const Json::Value& value, CompareRequest& request)
      {
        request.lossyQuality =
            static_cast<unsigned int>(ReadInteger("LossyQuality", value, {1, 100}));
      };
      readers["Priority"] = [](const Json::Value& value, CompareRequest& request)
      {
        const IntegerRange range = {std::numeric_limits<int>::min(),
                                    std::numeric_limits<int>::max()};
        request.priority = static_cast<int>(ReadInteger("Priority", value, range));
      };
      readers["Synchronous"] = [](const Json::Value& value, CompareRequest&)
      {
        CheckThatNobodyWaits("Synchronous", value, false);
      };
      readers["Asynchronous"] = [](const Json::Value& value, CompareRequest&)
      {
        CheckThatNobodyWaits("Asynchronous", value, true);
      };
      return readers;
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

    const std::map<std::string, Reader> readers = MakeReaders(engines);
    std::vector<std::string> known;
    known.reserve(readers.size());
    for (const auto& reader : readers)
    {
      known.push_back(reader.first);
    }

    CompareRequest request;
    request.targets = GetDefaultTargets();
    request.engines = engines;
    ReadResource(document["Resource"]);

    for (const std::string& name : document.getMemberNames())
    {
      const auto reader = readers.find(name);

      if (reader == readers.end())
      {
        ReportUnknownKey(known, "", name, document[name]);
      }
      else
      {
        reader->second(document[name], request);
      }
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
