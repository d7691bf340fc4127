// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/Job.h"

#include "Sdk/NewerServices.h"
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


    constexpr JobCallbacks CALLBACKS = {OnFinalize,      OnGetProgress,    OnGetContent,
                                        OnGetSerialized, OnStep,           OnStop,
                                        OnReset,         OnGetContentText, OnGetSerializedText};
  }


  std::string SubmitJob(const Orthanc& orthanc, const std::string& type, std::unique_ptr<IJob> job,
                        int priority)
  {
    OrthancPluginContext* const context = orthanc.GetContext();
    auto handle = std::make_unique<JobHandle>(JobHandle{orthanc, type, std::move(job), ""});
    OrthancPluginJob* const created = CreateJob(context, handle.get(), type.c_str(), CALLBACKS);

    if (created == nullptr)
    {
      throw SdkError("CreateJob", OrthancPluginErrorCode_InternalError);
    }

    // From here on, whoever frees the job calls OnFinalize
    static_cast<void>(handle.release());
    char* const id = OrthancPluginSubmitJob(context, created, priority);

    if (id == nullptr)
    {
      // Not to be freed: Orthanc has taken the job before anything of this can fail (JobsRegistry,
      // SubmitInternal), as when a plugin fails that is told of it
      throw SdkError("SubmitJob", OrthancPluginErrorCode_InternalError);
    }

    std::string copy(id);
    OrthancPluginFreeString(context, id);
    return copy;
  }
}
