// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/Job.h"

#include "Tuning/ParseJson.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What Orthanc holds of a job: one for each, freed by OnFinalize
    struct JobHandle
    {
      Orthanc orthanc;
      std::string type;
      std::unique_ptr<IJob> job;
      std::string content;  // as it was last asked for
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
      return std::clamp(GetHandle(job).job->GetProgress(), 0.0F, 1.0F);
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
        handle.orthanc.LogError("the job \"" + handle.type + "\" failed: " + error.what());
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


#if ORTHANC_PLUGINS_VERSION_IS_ABOVE(1, 11, 3)
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


    std::int32_t OnGetSerialized(OrthancPluginMemoryBuffer*, void*)
    {
      return 0;  // not to be kept over a restart
    }


    OrthancPluginJob* Create(OrthancPluginContext* context, JobHandle* handle)
    {
      return OrthancPluginCreateJob2(context, handle, OnFinalize, handle->type.c_str(),
                                     OnGetProgress, OnGetContent, OnGetSerialized, OnStep, OnStop,
                                     OnReset);
    }
#else
    const char* OnGetContent(void* job)
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


    const char* OnGetSerialized(void*)
    {
      return nullptr;  // not to be kept over a restart
    }


    OrthancPluginJob* Create(OrthancPluginContext* context, JobHandle* handle)
    {
      return OrthancPluginCreateJob(context, handle, OnFinalize, handle->type.c_str(),
                                    OnGetProgress, OnGetContent, OnGetSerialized, OnStep, OnStop,
                                    OnReset);
    }
#endif
  }


  std::string SubmitJob(const Orthanc& orthanc, const std::string& type, std::unique_ptr<IJob> job,
                        int priority)
  {
    OrthancPluginContext* const context = orthanc.GetContext();
    auto handle = std::make_unique<JobHandle>(JobHandle{orthanc, type, std::move(job), ""});
    OrthancPluginJob* const created = Create(context, handle.get());

    if (created == nullptr)
    {
      throw SdkError("CreateJob", OrthancPluginErrorCode_InternalError);
    }

    // From here on, whoever frees the job calls OnFinalize
    static_cast<void>(handle.release());
    char* const id = OrthancPluginSubmitJob(context, created, priority);

    if (id == nullptr)
    {
      OrthancPluginFreeJob(context, created);
      throw SdkError("SubmitJob", OrthancPluginErrorCode_InternalError);
    }

    std::string copy(id);
    OrthancPluginFreeString(context, id);
    return copy;
  }
}
