// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/CompareResource.h"

#include "Rest/Comparison.h"
#include "Rest/RestJson.h"
#include "Tuning/Json.h"

#include <array>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What Orthanc holds of a job: one for each
    struct JobHandle
    {
      Orthanc orthanc;
      Comparison comparison;
      std::string content = "{}";  // as it was last asked for
    };

    JobHandle& GetHandle(void* job)
    {
      return *static_cast<JobHandle*>(job);
    }

    // What "body" returns, or else this: no exception leaves a callback
    template <typename Result, typename Body>
    Result Try(void* job, Result otherwise, const Body& body) noexcept
    {
      try
      {
        return body(GetHandle(job).comparison);
      }
      catch (const std::exception& error)
      {
        std::array<char, 200> line = {};  // no string: memory may be short
        static_cast<void>(std::snprintf(
            line.data(), line.size(), "Perf: the comparison of engines failed: %s", error.what()));
        OrthancPluginLogError(GetHandle(job).orthanc.GetContext(), line.data());
        return otherwise;
      }
    }

    OrthancPluginJobStepStatus DoStep(void* job)
    {
      return Try(job, OrthancPluginJobStepStatus_Failure,
                 [](Comparison& comparison)
                 {
                   return comparison.Step() ? OrthancPluginJobStepStatus_Continue
                                            : OrthancPluginJobStepStatus_Success;
                 });
    }

    OrthancPluginErrorCode BeginAnew(void* job)
    {
      return Try(job, OrthancPluginErrorCode_InternalError,
                 [](Comparison& comparison)
                 {
                   comparison.Reset();
                   return OrthancPluginErrorCode_Success;
                 });
    }

    const char* GetContent(void* job)
    {
      std::string& content = GetHandle(job).content;
      return Try(job, content.c_str(),
                 [&content](Comparison& comparison)
                 {
                   content = ToText(comparison.GetContent());
                   return content.c_str();
                 });
    }

    // The job's identifier. Throws SdkError; Orthanc may carry the job out all the same then. This
    // service is in all releases; from 1.11.3 on, Orthanc's log says that there is a newer one.
    std::string Submit(const Orthanc& orthanc, Comparison comparison)
    {
      OrthancPluginContext* const context = orthanc.GetContext();
      auto handle = std::make_unique<JobHandle>(JobHandle{orthanc, std::move(comparison)});
      OrthancPluginJob* job = nullptr;
      const _OrthancPluginCreateJob parameters = {
          &job, handle.get(),
          [](void* job) { const std::unique_ptr<JobHandle> last(&GetHandle(job)); },
          "PerfTranscodingComparison",
          [](void* job) { return GetHandle(job).comparison.GetProgress(); }, &GetContent,
          [](void*) -> const char* { return nullptr; },  // not to be kept over a restart
          &DoStep,
          // Between two steps nothing is held that would have to be given back
          [](void*, OrthancPluginJobStopReason) { return OrthancPluginErrorCode_Success; },
          &BeginAnew};
      context->InvokeService(context, _OrthancPluginService_CreateJob, &parameters);

      if (job == nullptr)
      {
        throw SdkError("CreateJob", OrthancPluginErrorCode_InternalError);
      }

      // From here on, whoever frees the job finalizes it. After SubmitJob, Orthanc does, even if it
      // failed (JobsRegistry, SubmitInternal), as when a plugin fails that is told of it.
      static_cast<void>(handle.release());
      const std::optional<std::string> id = orthanc.Take(OrthancPluginSubmitJob(context, job, 0));

      if (!id)
      {
        throw SdkError("SubmitJob", OrthancPluginErrorCode_InternalError);
      }

      return *id;
    }

    // To be done, or paused: it may go on
    bool IsUnfinished(const Orthanc& orthanc, const std::string& jobId)
    {
      const auto job = orthanc.FindInRestApi("/jobs/" + jobId);
      const std::string state = job ? (*job)["State"].asString() : "";
      return state == "Pending" || state == "Running" || state == "Paused" || state == "Retry";
    }

    std::vector<std::string> ListInstances(const Orthanc& orthanc, const std::string& resource)
    {
      std::vector<std::string> instances;

      if (const auto series = orthanc.FindInRestApi("/series/" + resource))
      {
        for (const Json::Value& instance : (*series)["Instances"])
        {
          instances.push_back(instance.asString());
        }
      }
      else if (orthanc.FindInRestApi("/instances/" + resource))
      {
        instances.push_back(resource);
      }

      if (instances.empty())
      {
        throw RestError(404, "There is no instance and no series " + resource);
      }

      return instances;
    }

    Json::Value DescribeJob(const std::string& id)
    {
      return MakeObject({{"ID", id}, {"Path", "/jobs/" + id}});
    }

    struct LatestJob
    {
      std::mutex mutex;
      std::string id;
    };
  }

  void RegisterCompareResource(RestRouter& router, const Orthanc& orthanc,
                               const EngineDirectory& engines,
                               const std::function<void()>& waitForEngines)
  {
    const auto latest = std::make_shared<LatestJob>();
    const auto post = [=, &orthanc, &engines](const RestRequest& request)
    {
      waitForEngines();
      const ComparisonRequest wanted = ComparisonRequest::Read(request.body);
      const std::lock_guard<std::mutex> lock(latest->mutex);

      if (!latest->id.empty() && IsUnfinished(orthanc, latest->id))
      {
        throw RestError(409,
                        "Another comparison is under way: wait for it, or cancel it by POST "
                        "/jobs/" +
                            latest->id + "/cancel",
                        DescribeJob(latest->id));
      }

      const auto load = [&orthanc](const std::string& instance)
      {
        return orthanc.GetInstanceFile(instance);
      };
      latest->id =
          Submit(orthanc, {engines, wanted, ListInstances(orthanc, wanted.resource), load});
      return AnswerJson(DescribeJob(latest->id));
    };

    router.Register("/perf/transcoding/compare", HttpMethod::Post,
                    "Compare the transcoding engines on a stored instance or series", post);
  }
}
