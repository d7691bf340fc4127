// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/ProcessSetup.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    // More than the plugin's own limit: it is the one that knows what to say
    constexpr std::uint64_t GRACE_SECONDS = 10;

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

    void OfferToMemoryKiller()
    {
      constexpr char SCORE[] = "1000";  // proc(5), oom_score_adj: the first one
      const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

      if (file >= 0)
      {
        static_cast<void>(write(file, SCORE, sizeof(SCORE) - 1) > 0);
        close(file);
      }
    }
  }


  void BecomeWorker()
  {
    KeepMemory();
    FollowParent();
    OfferToMemoryKiller();
    SetSoftLimit(RLIMIT_CORE, 0);
#if !defined(PERF_SANITIZED)
    prctl(PR_SET_DUMPABLE, 0);  // a pipe as core pattern (core(5)) knows no limit
#endif
  }


  void LimitRequest(std::uint64_t seconds, std::uint64_t memory)
  {
    alarm(static_cast<unsigned int>(seconds + GRACE_SECONDS));
#if !defined(PERF_SANITIZED)
    SetSoftLimit(RLIMIT_AS, memory);
#else
    static_cast<void>(memory);
#endif
  }


  void UnlimitTime()
  {
    alarm(0);
  }
}
