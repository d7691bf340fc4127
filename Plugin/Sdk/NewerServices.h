// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <orthanc/OrthancCPlugin.h>

#include <cstdint>

namespace OrthancPerf
{
  // Services of Orthanc that came after 1.10.1, the oldest header that the plugin is compiled with:
  // called where the running Orthanc has them, whatever the header knows. Each one's number and
  // parameters are those of OrthancCPlugin.h as of the release that is named; Orthanc never changes
  // them (the SDK is a binary interface), and where a newer header is there, the compiler compares.
  //
  // Left out, as the plugin would gain nothing: the functions that take the plugin's name
  // (SetRootUri2, SetDescription2, ExtendOrthancExplorer2: the older ones ask the library for it),
  // and GetConnectionRemoteAet and its like (1.12.10), which are about queries only. The called AET
  // and the address of an instance (1.13.1, not released yet) have been among its metadata since
  // before 1.10.1.

  // From Orthanc 1.12.1 on. The older SetMetricsValue knows floats only, which count to 16,777,216.
  // False: it is not there.
  bool SetIntegerMetric(OrthancPluginContext* context, const char* name, std::int64_t value);


  enum class LogLevel : std::int32_t  // OrthancPluginLogLevel
  {
    Error = 0,
    Warning = 1
  };

  // From Orthanc 1.12.4 on: the line names the plugin, and the place in it, for which Orthanc wants
  // a file and takes any text. False: it is not there.
  bool LogMessage(OrthancPluginContext* context, LogLevel level, const char* message,
                  const char* place, std::uint32_t line);


  // Of OrthancPluginCreateJob2: they answer with buffers that Orthanc frees
  using JobAnswer = OrthancPluginErrorCode (*)(OrthancPluginMemoryBuffer* target, void* job);
  using OptionalJobAnswer = std::int32_t (*)(OrthancPluginMemoryBuffer* target, void* job);

  struct JobCallbacks
  {
    OrthancPluginJobFinalize finalize;
    OrthancPluginJobGetProgress getProgress;
    JobAnswer getContent;
    OptionalJobAnswer getSerialized;
    OrthancPluginJobStep step;
    OrthancPluginJobStop stop;
    OrthancPluginJobReset reset;

    // The same for Orthanc before 1.11.3: texts that stay as they are until the next call
    OrthancPluginJobGetContent getContentText;
    OrthancPluginJobGetSerialized getSerializedText;
  };

  // From Orthanc 1.11.3 on CreateJob2, or else CreateJob. Null: Orthanc made none.
  OrthancPluginJob* CreateJob(OrthancPluginContext* context, void* job, const char* type,
                              const JobCallbacks& callbacks);


  // The name of this thread in Orthanc's log, for as long as the object lives, from Orthanc 1.12.2
  // on. For threads of the plugin's own.
  class ThreadName
  {
  public:
    // A name that is not cleared (ClearCurrentThreadName, from Orthanc 1.13.0 on) stays, and may
    // become that of another thread, to which the system gives the number of the one that ended
    enum class Lifetime
    {
      OfOrthanc,  // the thread ends when Orthanc stops
      Short       // no name is given that could not be cleared
    };

    // At most 16 characters
    ThreadName(OrthancPluginContext* context, const char* name, Lifetime lifetime);
    ThreadName(const ThreadName&) = delete;
    ThreadName& operator=(const ThreadName&) = delete;
    ~ThreadName();

  private:
    OrthancPluginContext* const context_;
  };
}
