// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/RunWorker.h"

#include "Transcoding/Worker/WorkerChannel.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <malloc.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    enum ExitCode
    {
      DONE = 0,
      NOT_STARTED_BY_PLUGIN = 64,  // sysexits.h: EX_USAGE
      BROKEN_CONVERSATION = 66
    };

    volatile pid_t parent = 0;

    // The kernel sends the signal of PR_SET_PDEATHSIG when the *thread* has ended that started this
    // process; only if its whole process has, getppid(2) changes. Otherwise SIGTERM comes from
    // systemd or the like, to all processes of Orthanc at once, and Orthanc finishes its work.
    void OnTermination(int)
    {
      if (getppid() != parent)
      {
        _exit(0);
      }
    }

    // It goes when the plugin's process goes, and outlives the signals that a terminal or systemd
    // sends to all of Orthanc: the plugin ends it when it is done
    void FollowParent()
    {
      parent = getppid();

      struct sigaction action = {};
      action.sa_handler = OnTermination;
      action.sa_flags = SA_RESTART;
      sigemptyset(&action.sa_mask);
      sigaction(SIGTERM, &action, nullptr);
      prctl(PR_SET_PDEATHSIG, SIGTERM);

      action.sa_handler = SIG_IGN;

      for (const int ignored : {SIGINT, SIGHUP, SIGQUIT})
      {
        sigaction(ignored, &action, nullptr);
      }
    }

    void SetSoftLimit(int resource, rlim_t value)
    {
      struct rlimit limit = {};

      if (getrlimit(resource, &limit) == 0)
      {
        limit.rlim_cur = std::min(value, limit.rlim_max);
        setrlimit(resource, &limit);
      }
    }

    // From one request to the next: pages that are given back and got again cost a codec about 10
    // %. What is kept goes with the process, after a minute without work.
    void KeepMemory()
    {
      constexpr int KEPT = 32 * 1024 * 1024;
      mallopt(M_MMAP_THRESHOLD, KEPT);
      mallopt(M_TRIM_THRESHOLD, KEPT);
    }

    // The first to go when memory is short
    void OfferToMemoryKiller()
    {
      constexpr char SCORE[] = "1000";  // proc(5), oom_score_adj: the first one
      const FileDescriptor file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
      static_cast<void>(write(file.Get(), SCORE, sizeof(SCORE) - 1) > 0);
    }

    // Core files would hold patient data
    void WriteNoCore()
    {
      SetSoftLimit(RLIMIT_CORE, 0);
#if !defined(PERF_SANITIZED)
      prctl(PR_SET_DUMPABLE, 0);  // a pipe as core pattern (core(5)) knows no limit
#endif
    }

    // The process is killed when the time is over, in case nobody else is there to do it, and gets
    // no more address space. Sanitizers need a very large one.
    void Limit(const WorkerRequest& request)
    {
      // More than the plugin's own limit: it is the one that knows what to say
      constexpr std::uint64_t GRACE_SECONDS = 10;

      alarm(static_cast<unsigned int>(request.maximumSeconds + GRACE_SECONDS));
#if !defined(PERF_SANITIZED)
      SetSoftLimit(RLIMIT_AS, request.maximumMemory);
#endif
    }

    EngineResult Run(const ITranscodingEngine& engine, const WorkerRequest& request)
    {
      // The file that the plugin has put into the shared memory, as bytes of this process
      const std::size_t size = request.sourceSize;
      void* const source =
          size == 0 ? nullptr
                    : mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, WORKER_MEMORY, 0);

      if (source == MAP_FAILED)
      {
        throw std::system_error(errno, std::generic_category(), "mmap");
      }

      EngineResult result =
          engine.Transcode(source, size, {GetText(request.transferSyntax), request.lossyQuality});
      munmap(source, size);
      return result.file.size() <= request.maximumResult
                 ? std::move(result)
                 : EngineResult::MakeFailed("the result would be larger than " +
                                            std::to_string(request.maximumResult) + " bytes");
    }

    WorkerResponse Answer(const ITranscodingEngine& engine, const WorkerRequest& request,
                          WorkerChannel& channel)
    {
      Limit(request);
      const EngineResult result = EngineResult::Of(
          [&]
          {
            EngineResult made = Run(engine, request);
            channel.WriteMemory(made.file.data(), made.file.size());
            return made;
          });

      WorkerResponse response;
      response.outcome = static_cast<std::uint32_t>(result.outcome);
      response.resultSize = result.file.size();
      SetText(response.reason, result.reason);
      alarm(0);
      return response;
    }
  }

  int RunWorker(const ITranscodingEngine& engine)
  {
    WorkerChannel channel((FileDescriptor(WORKER_SOCKET)), (FileDescriptor(WORKER_MEMORY)));
    WorkerHello hello;
    SetText(hello.version, PERF_VERSION);
    KeepMemory();
    FollowParent();
    OfferToMemoryKiller();
    WriteNoCore();

    if (!channel.Send(hello))
    {
      std::cerr << "This program belongs to the performance plugin for Orthanc "
                   "(libOrthancPerf.so), which starts it when it is needed.\n";
      return NOT_STARTED_BY_PLUGIN;
    }

    WorkerRequest request;

    // The end, and a minute without work, are the ways in which this ends in order
    while (channel.Receive(request, WORKER_IDLE_LIMIT) == WorkerChannel::Receipt::Received)
    {
      if (!channel.Send(Answer(engine, request, channel)))
      {
        return BROKEN_CONVERSATION;
      }
    }

    return DONE;
  }
}
