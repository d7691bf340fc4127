// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/CompareResource.h"

#include "Dicom/ImageDescription.h"
#include "Rest/CompareRequest.h"
#include "Rest/ComparisonJob.h"
#include "Tuning/SettingError.h"

#include <mutex>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
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

        Json::Value answer;
        answer["ID"] = latest_;
        answer["Path"] = "/jobs/" + latest_;
        return AnswerJson(answer);
      }

    private:
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
          Json::Value body;
          body["Error"] = "Another comparison is under way: wait for it, or cancel it by POST "
                          "/jobs/" +
                          latest_ + "/cancel";
          body["ID"] = latest_;
          body["Path"] = "/jobs/" + latest_;
          throw RestError::WithBody(409, body);
        }
      }

      std::unique_ptr<IJob> MakeJob(const CompareRequest& request,
                                    const std::vector<std::string>& instances) const
      {
        ComparisonPlan plan;
        plan.instances = instances;
        plan.targets = request.targets;
        plan.engines = request.engines;
        plan.lossyQuality = request.lossyQuality;

        const IComparisonHost& host = host_;
        return std::make_unique<ComparisonJob>(
            request.resource, engines_, std::move(plan),
            [&host](const std::string& instance) { return host.LoadFile(instance); }, observer_);
      }

      const EngineDirectory& engines_;
      IComparisonHost& host_;
      ITranscodingObserver& observer_;
      std::mutex mutex_;
      std::string latest_;  // the identifier of the job that was started last
    };
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
