// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace OrthancPerf
{
  // The types of Orthanc's jobs that are under way, such as "MergeStudy". The background thread
  // asks Orthanc once for all callers, which must not wait for the lock of Orthanc's jobs
  // themselves: Orthanc may hold it while it waits for such a caller. It does so where a job is
  // deleted while its threads are still at work (JobsRegistry, 1.10.1 to 1.13.0).
  //
  // Owned by the plugin's context; any thread may call it.
  class JobWatch
  {
  public:
    using Types = std::set<std::string>;
    using Ask = std::function<Types()>;
    using Post = std::function<void(std::function<void()>)>;

    // "ask" may throw std::exception. "post" has another thread call a function, which may throw
    // what "ask" throws.
    JobWatch(Ask ask, Post post);

    // As of a moment after this was called. Nothing: Orthanc does not say so in this time, or
    // cannot be asked.
    std::optional<Types> GetTypes(Duration patience);

  private:
    void AskOnce();

    const Ask ask_;
    const Post post_;
    std::mutex mutex_;
    std::condition_variable answered_;
    std::uint64_t countWanted_ = 0;
    std::uint64_t countAnswered_ = 0;  // those who wanted to know before Orthanc was asked last
    std::optional<Types> types_;
  };
}
