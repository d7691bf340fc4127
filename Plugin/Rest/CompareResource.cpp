// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/CompareResource.h"

#include "Dicom/ReceivedFile.h"
#include "Rest/ComparisonJob.h"
#include "Tuning/ParseJson.h"
#include "Tuning/SettingError.h"
#include "Tuning/TuningSchema.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <regex>
#include <utility>

#include <boost/algorithm/string/join.hpp>

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


    // A list that is not empty, without what is in it twice. "choose": what a text stands for.
    template <typename Choose>
    std::vector<std::string> ReadList(const std::string& key, const Json::Value& value,
                                      const Choose& choose, const std::vector<std::string>& allowed)
    {
      const std::string texts = boost::algorithm::join(allowed, ", ");
      std::vector<std::string> list;

      if (!value.isArray() || value.empty())
      {
        throw SettingError::ForValue(key, value, "a list of " + texts);
      }

      for (const Json::Value& item : value)
      {
        const std::optional<std::string> chosen =
            item.isString() ? choose(item.asString()) : std::nullopt;

        if (!chosen)
        {
          throw SettingError::ForValue(key, item, texts);
        }

        if (std::find(list.begin(), list.end(), *chosen) == list.end())
        {
          list.push_back(*chosen);
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


    std::vector<std::string> ReadTargets(const std::string& key, const Json::Value& value)
    {
      std::vector<std::string> allowed;

      for (const WritableSyntax& syntax : GetWritableSyntaxes())
      {
        allowed.push_back(std::string(syntax.uid) + " (" + syntax.name + ")");
      }

      return ReadList(key, value, LookupWritableSyntax, allowed);
    }


    std::vector<std::string> ReadEngines(const std::string& key, const Json::Value& value,
                                         const std::vector<std::string>& engines)
    {
      const auto choose = [&engines](const std::string& name)
      {
        const bool isKnown = std::find(engines.begin(), engines.end(), name) != engines.end();
        return isKnown ? std::make_optional(name) : std::nullopt;
      };

      return ReadList(key, value, choose, engines);
    }


    void ReadKey(CompareRequest& request, const std::string& key, const Json::Value& value)
    {
      if (key == "Targets")
      {
        request.targets = ReadTargets(key, value);
      }
      else if (key == "Engines")
      {
        request.engines = ReadEngines(key, value, request.engines);
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
        throw SettingError::ForUnknown("key", key, Describe(value),
                                       {"Asynchronous", "Engines", "LossyQuality",
                                        "MaximumInstances", "Priority", "Resource", "Synchronous",
                                        "Targets"});
      }
    }


    // Starts comparisons, one at a time
    class ComparisonStarter
    {
    public:
      ComparisonStarter(const EngineDirectory& engines, IComparisonHost& host,
                        ITranscodingObserver& observer) :
        engines_(engines),
        host_(host),
        observer_(observer)
      {
      }

      RestAnswer Start(const std::string& body)
      {
        host_.WaitForEngines();
        const CompareRequest request = Read(body);

        // Of requests at once, one file is in memory at a time
        const std::lock_guard<std::mutex> lock(mutex_);
        CheckThatNoneIsUnderWay();
        const std::vector<std::string> instances = ChooseInstances(request);
        latest_ = host_.Submit(MakeJob(request, instances), request.priority);

        return AnswerJson(DescribeLatest());
      }

    private:
      Json::Value DescribeLatest() const
      {
        Json::Value json;
        json["ID"] = latest_;
        json["Path"] = "/jobs/" + latest_;
        return json;
      }

      CompareRequest Read(const std::string& body) const
      {
        std::vector<std::string> names;
        for (const EngineVerdict& verdict : engines_.GetVerdicts())
        {
          names.push_back(verdict.engine);
        }

        return ReadCompareRequest(body, names);
      }

      std::vector<std::string> ChooseInstances(const CompareRequest& request) const
      {
        const auto all = host_.FindInstances(request.resource);

        if (!all || all->empty())
        {
          throw RestError(404, "There is no instance and no series " + request.resource);
        }

        std::vector<std::string> chosen = SpreadOut(*all, request.maximumInstances);
        const std::string first = host_.LoadFile(chosen.front());

        if (DescribeImage(first.data(), first.size()).kind == PixelDataKind::None)
        {
          throw SettingError("\"Resource\" has no pixel data: there is nothing to compare",
                             "Resource", request.resource,
                             "an instance or a series with pixel data");
        }

        return chosen;
      }

      void CheckThatNoneIsUnderWay() const
      {
        if (!latest_.empty() && host_.IsUnfinished(latest_))
        {
          throw RestError(409,
                          "Another comparison is under way: wait for it, or cancel it by POST "
                          "/jobs/" +
                              latest_ + "/cancel",
                          DescribeLatest());
        }
      }

      std::unique_ptr<IJob> MakeJob(const CompareRequest& request,
                                    const std::vector<std::string>& instances) const
      {
        ComparisonPlan plan;
        plan.resource = request.resource;
        plan.instances = instances;
        plan.targets = request.targets;
        plan.engines = request.engines;
        plan.lossyQuality = request.lossyQuality;

        const IComparisonHost& host = host_;
        return std::make_unique<ComparisonJob>(
            engines_, std::move(plan),
            [&host](const std::string& instance) { return host.LoadFile(instance); }, observer_);
      }

      const EngineDirectory& engines_;
      IComparisonHost& host_;
      ITranscodingObserver& observer_;
      std::mutex mutex_;
      std::string latest_;  // the identifier of the job that was started last
    };
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
    for (const WritableSyntax& syntax : GetWritableSyntaxes())
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


  void RegisterCompareResource(RestRouter& router, const EngineDirectory& engines,
                               IComparisonHost& host, ITranscodingObserver& observer)
  {
    const auto starter = std::make_shared<ComparisonStarter>(engines, host, observer);
    const auto post = [starter](const RestRequest& request)
    {
      return starter->Start(request.body);
    };

    router.Register("/perf/transcoding/compare", HttpMethod::Post,
                    "Compare the engines on a stored instance or series, as a job", post);
  }
}
