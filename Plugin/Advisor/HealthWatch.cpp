// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HealthWatch.h"

#include "Redirection/FileDescriptor.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // A CT image has half a megabyte, a mammogram some 30: with less, the disk is as good as full
    constexpr std::uint64_t ROOM = std::uint64_t{16} << 20;

    int OpenFile(const std::string& folder)
    {
      const int unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

      if (unnamed >= 0)
      {
        return unnamed;
      }

      std::string path = folder + "/.orthanc-perf-XXXXXX";
      const int named = mkostemp(path.data(), O_CLOEXEC);

      if (named >= 0)
      {
        unlink(path.c_str());
      }

      return named;
    }

    // Asked for, not taken: an image might come that needs it. A file system that does not know how
    // large it is has room.
    bool HasRoom(int descriptor)
    {
      struct statvfs disk = {};

      if (fstatvfs(descriptor, &disk) != 0 || disk.f_blocks == 0)
      {
        return true;
      }

      const fsblkcnt_t blocks = geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
      errno = ENOSPC;
      return std::uint64_t{blocks} * disk.f_frsize >= ROOM;
    }

    bool CanWrite(int descriptor)
    {
      const std::array<char, 4096> block = {};
      errno = ENOSPC;  // a write that is cut short says nothing
      return write(descriptor, block.data(), block.size()) == static_cast<ssize_t>(block.size()) &&
             fsync(descriptor) == 0;
    }
  }

  struct HealthWatch::State
  {
    Part part;
    std::optional<TimePoint> askedAt = {};   // and not answered yet
    std::optional<TimePoint> missedAt = {};  // by the first look that waited for it in vain
    std::optional<TimePoint> answeredAt = {};
    std::string problem = {};  // by the latest answer

    // Whoever is unwell is asked sooner, but not as often as strangers look
    bool IsDue(TimePoint now) const
    {
      constexpr Duration SOON = std::chrono::seconds(1);
      const Duration period = problem.empty() ? part.period : std::min(SOON, part.period);
      return !askedAt && (!answeredAt || now - *answeredAt >= period);
    }

    // The problem of a part that has yet to answer; empty: it may still be merely slow
    std::string FindProblem(TimePoint lookedAt, TimePoint now, Duration longest) const
    {
      const bool isRecent = answeredAt && now - *answeredAt < part.period + longest;
      const bool isSecondLook = missedAt && *missedAt < lookedAt;

      if (now - *askedAt >= longest || (isSecondLook && !isRecent && problem.empty()))
      {
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(now - *askedAt);
        return "no answer for " + std::to_string(seconds.count()) + " s";
      }

      return problem;
    }
  };

  struct HealthWatch::States
  {
    std::mutex mutex;
    std::condition_variable answered;
    std::vector<State> all;  // as many as there are parts, always
  };

  HealthWatch::HealthWatch(const std::vector<Part>& parts, Duration longest) :
    longest_(longest),
    states_(std::make_shared<States>())
  {
    for (const Part& part : parts)
    {
      states_->all.push_back({part});
    }
  }

  HealthWatch::Health HealthWatch::Look(Duration patience)
  {
    std::unique_lock<std::mutex> lock(states_->mutex);
    const TimePoint begin = Clock::now();

    for (State& state : states_->all)
    {
      if (state.IsDue(begin))
      {
        state.askedAt = begin;
        lock.unlock();
        Ask(state);
        lock.lock();
      }
    }

    states_->answered.wait_for(lock, patience,
                               [this]
                               {
                                 return std::none_of(states_->all.begin(), states_->all.end(),
                                                     [](const State& state)
                                                     { return state.askedAt.has_value(); });
                               });

    const TimePoint now = Clock::now();
    Health health;

    for (State& state : states_->all)
    {
      const std::string problem =
          state.askedAt ? state.FindProblem(begin, now, longest_) : state.problem;

      if (!problem.empty())
      {
        health.problems[state.part.name] = problem;
      }
      else if (state.askedAt)
      {
        health.waiting.push_back(state.part.name);
      }

      if (state.askedAt && !state.missedAt)
      {
        state.missedAt = now;
      }
    }

    return health;
  }

  void HealthWatch::Ask(State& state)
  {
    const auto answer = [states = states_, &state](std::string problem)
    {
      const std::lock_guard<std::mutex> lock(states->mutex);
      state.askedAt.reset();
      state.missedAt.reset();
      state.answeredAt = Clock::now();
      state.problem = std::move(problem);
      states->answered.notify_all();
    };

    try
    {
      const Check check = state.part.findCheck();
      const auto work = [answer, check]
      {
        std::string problem = "no memory left";  // needs none; without an answer nobody asks again

        try
        {
          problem = check ? check() : "";
        }
        catch (const std::bad_alloc&)
        {
        }

        answer(std::move(problem));
      };
      check ? state.part.post(work) : work();
    }
    catch (const std::exception& error)
    {
      answer(error.what());
    }
  }

  std::string TryToStore(const std::string& folder)
  {
    const FileDescriptor file(OpenFile(folder));
    const bool isWell = file.Get() >= 0 && HasRoom(file.Get()) && CanWrite(file.Get());
    return isWell ? "" : std::generic_category().message(errno);
  }
}
