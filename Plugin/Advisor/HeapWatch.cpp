// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HeapWatch.h"

#include <algorithm>
#include <cstddef>
#include <dlfcn.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // mallinfo2 came with glibc 2.33: mallinfo(3)
    struct MallocInfo
    {
      std::size_t arena;
      std::size_t ordblks;
      std::size_t smblks;
      std::size_t hblks;
      std::size_t hblkhd;  // given out, with a mapping of its own
      std::size_t usmblks;
      std::size_t fsmblks;
      std::size_t uordblks;  // given out of the arenas
      std::size_t fordblks;  // free in them
      std::size_t keepcost;
    };


    const void* FindModule(const void* address)
    {
      Dl_info info = {};
      return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
    }
  }


  // Any library that brings a malloc of its own is found before the C library
  void* FindOfMalloc(const char* name)
  {
    void* const function = dlsym(RTLD_DEFAULT, name);
    const void* const module = FindModule(function);
    return module != nullptr && module == FindModule(dlsym(RTLD_DEFAULT, "malloc")) ? function
                                                                                    : nullptr;
  }


  HeapWatch::HeapWatch(Ask ask) : ask_(std::move(ask))
  {
  }


  std::optional<HeapWatch::Figures> HeapWatch::Look(std::uint64_t anonymous, TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    least_ = std::min(least_, anonymous);

    if (!IsMuchForLong(anonymous, now))
    {
      return std::nullopt;
    }

    if (IsDue(now))
    {
      answer_ = ask_();
      askedAt_ = now;
      least_ = anonymous;
    }

    return answer_ ? std::optional<Figures>({answer_->used, GetKept(), *askedAt_}) : std::nullopt;
  }


  // Nothing where malloc is another library's (jemalloc), of which glibc knows nothing
  std::optional<HeapWatch::Answer> HeapWatch::AskMalloc()
  {
    void* const function = FindOfMalloc("mallinfo2");

    if (function == nullptr)
    {
      return std::nullopt;
    }

    const TimePoint begin = Clock::now();
    const MallocInfo info = reinterpret_cast<MallocInfo (*)()>(function)();
    return Answer{info.uordblks + info.hblkhd, info.fordblks, Clock::now() - begin};
  }


  bool HeapWatch::IsMuchForLong(std::uint64_t anonymous, TimePoint now)
  {
    if (anonymous < MUCH)
    {
      muchSince_.reset();
      return false;
    }

    if (!muchSince_)
    {
      muchSince_ = now;
    }

    return now - *muchSince_ >= LASTING;
  }


  bool HeapWatch::IsDue(TimePoint now) const
  {
    return !askedAt_ ||
           now - *askedAt_ >= std::max<Duration>(PERIOD, answer_ ? answer_->taken * REST : PERIOD);
  }


  // Anonymous memory is not malloc's alone: a Java machine and Python map theirs by themselves,
  // and each thread has its stack
  std::uint64_t HeapWatch::GetKept() const
  {
    const std::uint64_t rest = least_ - std::min(least_, answer_->used);
    return std::min(rest, answer_->free);
  }
}
