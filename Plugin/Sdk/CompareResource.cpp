// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/CompareResource.h"

#include "Dicom/ReceivedFile.h"
#include "Rest/ComparisonJob.h"
#include "Tuning/ParseJson.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What GET /jobs/{id} calls the job
    constexpr const char* TYPE = "PerfTranscodingComparison";

    // What Orthanc holds of a job: one for each, freed by OnFinalize
    struct JobHandle
    {
      Orthanc orthanc;
      std::unique_ptr<ComparisonJob> job;
      std::string content;  // as it was last asked for, by Orthanc before 1.11.3
    };


    JobHandle& GetHandle(void* job)
    {
      return *static_cast<JobHandle*>(job);
    }


    void OnFinalize(void* job)
    {
      const std::unique_ptr<JobHandle> handle(static_cast<JobHandle*>(job));
    }


    float OnGetProgress(void* job)
    {
      return GetHandle(job).job->GetProgress();
    }


    OrthancPluginJobStepStatus OnStep(void* job)
    {
      JobHandle& handle = GetHandle(job);

      try
      {
        return handle.job->Step() ? OrthancPluginJobStepStatus_Continue
                                  : OrthancPluginJobStepStatus_Success;
      }
      catch (const std::exception& error)
      {
        handle.orthanc.LogError(std::string("the comparison of engines failed: ") + error.what());
        return OrthancPluginJobStepStatus_Failure;
      }
    }


    // Between two steps nothing is held that would have to be given back
    OrthancPluginErrorCode OnStop(void*, OrthancPluginJobStopReason)
    {
      return OrthancPluginErrorCode_Success;
    }


    OrthancPluginErrorCode OnReset(void* job)
    {
      try
      {
        GetHandle(job).job->Reset();
        return OrthancPluginErrorCode_Success;
      }
      catch (const std::exception&)
      {
        return OrthancPluginErrorCode_InternalError;
      }
    }


    OrthancPluginErrorCode OnGetContent(OrthancPluginMemoryBuffer* target, void* job)
    {
      try
      {
        JobHandle& handle = GetHandle(job);
        handle.orthanc.CopyTo(*target, ToText(handle.job->GetContent()));
        return OrthancPluginErrorCode_Success;
      }
      catch (const std::exception&)
      {
        return OrthancPluginErrorCode_InternalError;
      }
    }


    const char* OnGetContentText(void* job)
    {
      try
      {
        JobHandle& handle = GetHandle(job);
        handle.content = ToText(handle.job->GetContent());
        return handle.content.c_str();
      }
      catch (const std::exception&)
      {
        return nullptr;  // an empty object
      }
    }


    std::int32_t OnGetSerialized(OrthancPluginMemoryBuffer*, void*)
    {
      return 0;  // not to be kept over a restart
    }


    const char* OnGetSerializedText(void*)
    {
      return nullptr;  // likewise
    }


    // _OrthancPluginCreateJob2, and _OrthancPluginCreateJob with its two older callbacks
    template <typename GetContent, typename GetSerialized>
    struct JobParameters
    {
      OrthancPluginJob** target;
      void* job;
      OrthancPluginJobFinalize finalize;
      const char* type;
      OrthancPluginJobGetProgress getProgress;
      GetContent getContent;
      GetSerialized getSerialized;
      OrthancPluginJobStep step;
      OrthancPluginJobStop stop;
      OrthancPluginJobReset reset;
    };

    constexpr std::int32_t CREATE_JOB_2 = 9004;  // from Orthanc 1.11.3 on

#if ORTHANC_PLUGINS_VERSION_IS_ABOVE(1, 11, 3)
    using NewerParameters = JobParameters<decltype(&OnGetContent), decltype(&OnGetSerialized)>;
    static_assert(CREATE_JOB_2 == _OrthancPluginService_CreateJob2);
    static_assert(sizeof(NewerParameters) == sizeof(_OrthancPluginCreateJob2));
    static_assert(offsetof(NewerParameters, reset) == offsetof(_OrthancPluginCreateJob2, reset));
#endif


    // Null: Orthanc made none
    template <typename GetContent, typename GetSerialized>
    OrthancPluginJob* CreateJob(JobHandle& handle, std::int32_t service, GetContent getContent,
                                GetSerialized getSerialized)
    {
      OrthancPluginContext* const context = handle.orthanc.GetContext();
      OrthancPluginJob* target = nullptr;
      const JobParameters<GetContent, GetSerialized> parameters = {
          &target,    &handle,       OnFinalize, TYPE,   OnGetProgress,
          getContent, getSerialized, OnStep,     OnStop, OnReset};
      context->InvokeService(context, static_cast<_OrthancPluginService>(service), &parameters);
      return target;
    }


    // The job's identifier. A job does not outlive a restart of Orthanc. Throws SdkError; Orthanc
    // may carry the job out all the same then.
    std::string Submit(const Orthanc& orthanc, std::unique_ptr<ComparisonJob> job, int priority)
    {
      OrthancPluginContext* const context = orthanc.GetContext();
      auto handle = std::make_unique<JobHandle>(JobHandle{orthanc, std::move(job), ""});
      OrthancPluginJob* const created =
          orthanc.IsAtLeast(11, 3)
              ? CreateJob(*handle, CREATE_JOB_2, &OnGetContent, &OnGetSerialized)
              : CreateJob(*handle, _OrthancPluginService_CreateJob, &OnGetContentText,
                          &OnGetSerializedText);

      if (created == nullptr)
      {
        throw SdkError("CreateJob", OrthancPluginErrorCode_InternalError);
      }

      // From here on, whoever frees the job calls OnFinalize
      static_cast<void>(handle.release());
      char* const id = OrthancPluginSubmitJob(context, created, priority);

      if (id == nullptr)
      {
        // Not to be freed: Orthanc has taken the job before anything of this can fail
        // (JobsRegistry, SubmitInternal), as when a plugin fails that is told of it
        throw SdkError("SubmitJob", OrthancPluginErrorCode_InternalError);
      }

      std::string copy(id);
      OrthancPluginFreeString(context, id);
      return copy;
    }


    // To be done, or paused: it may go on
    bool IsUnfinished(const Orthanc& orthanc, const std::string& jobId)
    {
      const auto job = orthanc.FindInRestApi("/jobs/" + jobId);
      const std::string state = job ? (*job)["State"].asString() : "";
      return state == "Pending" || state == "Running" || state == "Paused" || state == "Retry";
    }


    // Of a series, or the instance itself
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


    void CheckPixels(const Orthanc& orthanc, const std::string& instance,
                     const std::string& resource)
    {
      const std::string file = orthanc.GetInstanceFile(instance);

      if (DescribeImage(file.data(), file.size()).kind == PixelDataKind::None)
      {
        throw SettingError("\"Resource\" has no pixel data: there is nothing to compare",
                           "Resource", resource, "an instance or a series with pixel data");
      }
    }


    std::vector<std::string> ListEngines(const EngineDirectory& engines)
    {
      std::vector<std::string> names;

      for (const EngineVerdict& verdict : engines.GetVerdicts())
      {
        names.push_back(verdict.engine);
      }

      return names;
    }


    Json::Value DescribeJob(const std::string& id)
    {
      Json::Value json;
      json["ID"] = id;
      json["Path"] = "/jobs/" + id;
      return json;
    }


    struct LatestJob
    {
      std::mutex mutex;
      std::string id;
    };
  }


  void RegisterCompareResource(RestRouter& router, const Orthanc& orthanc,
                               const EngineDirectory& engines,
                               const std::function<void()>& waitForEngines,
                               ITranscodingObserver& observer)
  {
    const auto latest = std::make_shared<LatestJob>();
    const auto post = [=, &orthanc, &engines, &observer](const RestRequest& request)
    {
      waitForEngines();
      const CompareRequest wanted = ReadCompareRequest(request.body, ListEngines(engines));

      // Of requests at once, one file is in memory at a time
      const std::lock_guard<std::mutex> lock(latest->mutex);

      if (!latest->id.empty() && IsUnfinished(orthanc, latest->id))
      {
        throw RestError(409,
                        "Another comparison is under way: wait for it, or cancel it by POST "
                        "/jobs/" +
                            latest->id + "/cancel",
                        DescribeJob(latest->id));
      }

      const std::vector<std::string> instances =
          SpreadOut(ListInstances(orthanc, wanted.resource), wanted.maximumInstances);
      CheckPixels(orthanc, instances.front(), wanted.resource);
      const auto load = [&orthanc](const std::string& instance)
      {
        return orthanc.GetInstanceFile(instance);
      };
      latest->id = Submit(
          orthanc, std::make_unique<ComparisonJob>(engines, wanted, instances, load, observer),
          wanted.priority);
      return AnswerJson(DescribeJob(latest->id));
    };

    router.Register("/perf/transcoding/compare", HttpMethod::Post,
                    "Compare the engines on a stored instance or series, as a job", post);
  }
}
