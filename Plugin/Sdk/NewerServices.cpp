// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/NewerServices.h"

#include "Sdk/Orthanc.h"

#include <cstddef>

namespace OrthancPerf
{
  namespace
  {
    // _OrthancPluginService, with the release in which it came
    enum class NewerService : std::int32_t
    {
      SetMetricsIntegerValue = 43,  // 1.12.1
      SetCurrentThreadName = 44,    // 1.12.2
      LogMessage = 45,              // 1.12.4
      ClearCurrentThreadName = 64,  // 1.13.0
      CreateJob2 = 9004             // 1.11.3
    };


    // _OrthancPluginSetMetricsIntegerValue
    struct IntegerMetric
    {
      const char* name;
      std::int64_t value;
      OrthancPluginMetricsType type;
    };


    // _OrthancPluginLogMessage
    struct Message
    {
      const char* message;
      const char* plugin;
      const char* file;
      std::uint32_t line;
      std::int32_t category;  // OrthancPluginLogCategory
      LogLevel level;
    };

    constexpr std::int32_t GENERIC_CATEGORY = 1;  // those of plugins are not for plugins


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


#if ORTHANC_PLUGINS_VERSION_IS_ABOVE(1, 12, 4)
    using NewerJobParameters = JobParameters<JobAnswer, OptionalJobAnswer>;

    static_assert(static_cast<int>(NewerService::SetMetricsIntegerValue) ==
                  _OrthancPluginService_SetMetricsIntegerValue);
    static_assert(static_cast<int>(NewerService::SetCurrentThreadName) ==
                  _OrthancPluginService_SetCurrentThreadName);
    static_assert(static_cast<int>(NewerService::LogMessage) == _OrthancPluginService_LogMessage);
    static_assert(static_cast<int>(NewerService::CreateJob2) == _OrthancPluginService_CreateJob2);
    static_assert(sizeof(IntegerMetric) == sizeof(_OrthancPluginSetMetricsIntegerValue));
    static_assert(offsetof(IntegerMetric, type) ==
                  offsetof(_OrthancPluginSetMetricsIntegerValue, type));
    static_assert(sizeof(Message) == sizeof(_OrthancPluginLogMessage));
    static_assert(offsetof(Message, level) == offsetof(_OrthancPluginLogMessage, level));
    static_assert(offsetof(Message, category) == offsetof(_OrthancPluginLogMessage, category));
    static_assert(GENERIC_CATEGORY == OrthancPluginLogCategory_Generic);
    static_assert(static_cast<int>(LogLevel::Warning) == OrthancPluginLogLevel_Warning);
    static_assert(sizeof(NewerJobParameters) == sizeof(_OrthancPluginCreateJob2));
    static_assert(offsetof(NewerJobParameters, reset) == offsetof(_OrthancPluginCreateJob2, reset));
#endif
#if ORTHANC_PLUGINS_VERSION_IS_ABOVE(1, 13, 0)
    static_assert(static_cast<int>(NewerService::ClearCurrentThreadName) ==
                  _OrthancPluginService_ClearCurrentThreadName);
#endif


    OrthancPluginErrorCode Invoke(OrthancPluginContext* context, NewerService service,
                                  const void* parameters)
    {
      return context->InvokeService(context, static_cast<_OrthancPluginService>(service),
                                    parameters);
    }


    bool IsAbove(OrthancPluginContext* context, int minor, int revision)
    {
      return OrthancPluginCheckVersionAdvanced(context, 1, minor, revision) == 1;
    }


    bool CanClearThreadName(OrthancPluginContext* context)
    {
      return IsAbove(context, 13, 0);
    }
  }


  bool SetIntegerMetric(OrthancPluginContext* context, const char* name, std::int64_t value)
  {
    const IntegerMetric metric = {name, value, OrthancPluginMetricsType_Default};
    return IsAbove(context, 12, 1) && Invoke(context, NewerService::SetMetricsIntegerValue,
                                             &metric) == OrthancPluginErrorCode_Success;
  }


  bool LogMessage(OrthancPluginContext* context, LogLevel level, const char* message,
                  const char* place, std::uint32_t line)
  {
    const Message parameters = {message, PLUGIN_NAME, place, line, GENERIC_CATEGORY, level};
    return IsAbove(context, 12, 4) &&
           Invoke(context, NewerService::LogMessage, &parameters) == OrthancPluginErrorCode_Success;
  }


  OrthancPluginJob* CreateJob(OrthancPluginContext* context, void* job, const char* type,
                              const JobCallbacks& callbacks)
  {
    OrthancPluginJob* target = nullptr;

    const auto create = [&](auto service, auto getContent, auto getSerialized)
    {
      const JobParameters<decltype(getContent), decltype(getSerialized)> parameters = {
          &target,    job,           callbacks.finalize, type,           callbacks.getProgress,
          getContent, getSerialized, callbacks.step,     callbacks.stop, callbacks.reset};
      context->InvokeService(context, static_cast<_OrthancPluginService>(service), &parameters);
    };

    if (IsAbove(context, 11, 3))
    {
      create(NewerService::CreateJob2, callbacks.getContent, callbacks.getSerialized);
    }
    else
    {
      create(_OrthancPluginService_CreateJob, callbacks.getContentText,
             callbacks.getSerializedText);
    }

    return target;
  }


  ThreadName::ThreadName(OrthancPluginContext* context, const char* name, Lifetime lifetime) :
    context_(context)
  {
    if (IsAbove(context_, 12, 2) &&
        (lifetime == Lifetime::OfOrthanc || CanClearThreadName(context_)))
    {
      Invoke(context_, NewerService::SetCurrentThreadName, name);
    }
  }


  ThreadName::~ThreadName()
  {
    if (CanClearThreadName(context_))
    {
      Invoke(context_, NewerService::ClearCurrentThreadName, nullptr);
    }
  }
}
