// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace OrthancPerf
{
  // A function of the library whose malloc(3) is in use; null: it has none of that name
  void* FindOfMalloc(const char* name);


  // What malloc(3) has given out, and what it keeps for later, in bytes. Asks it seldom: mallinfo2
  // walks through all free chunks with their arena's lock held, for which threads that ingest may
  // wait. Measured with glibc 2.36, fragmented arenas on a busy machine of two cores: 1.3 ms for
  // 10,000 free chunks, 56 ms for 100,000, 330 to 440 ms for 1,000,000, in one arena or eight.
  //
  // One for the process; any thread may call it.
  class HeapWatch
  {
  public:
    // What malloc says of itself (mallinfo(3)), and how long it took to say so
    struct Answer
    {
      std::uint64_t used = 0;
      std::uint64_t free = 0;  // in its arenas; what it has given back to the kernel counts as well
      Duration taken = Duration::zero();
    };

    struct Figures
    {
      std::uint64_t used = 0;
      std::uint64_t kept = 0;
      TimePoint askedAt;
    };

    using Ask = std::function<std::optional<Answer>()>;

    // A process that has not had so much for so long keeps nothing worth a question
    static constexpr std::uint64_t MUCH = std::uint64_t{256} << 20;
    static constexpr std::chrono::minutes LASTING{1};

    // Between two questions; and so many times what the last answer took, or threads that ingest
    // might wait for more than a thousandth of the time
    static constexpr std::chrono::seconds PERIOD{30};
    static constexpr int REST = 1000;

    // By itself, it asks the C library
    explicit HeapWatch(Ask ask = &AskMalloc);

    // "anonymous": what the process has now that is no file's. Nothing: it has not been much for
    // long enough, or malloc is none that can be asked. As of the last question; of what was kept
    // then, what has gone since is left out.
    std::optional<Figures> Look(std::uint64_t anonymous, TimePoint now);

  private:
    static std::optional<Answer> AskMalloc();

    bool IsMuchForLong(std::uint64_t anonymous, TimePoint now);
    bool IsDue(TimePoint now) const;
    std::uint64_t GetKept() const;

    const Ask ask_;
    std::mutex mutex_;
    std::optional<TimePoint> muchSince_;
    std::optional<TimePoint> askedAt_;
    std::optional<Answer> answer_;
    std::uint64_t least_ = 0;  // of what was anonymous, since then
  };
}
