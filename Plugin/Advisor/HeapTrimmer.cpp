// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HeapTrimmer.h"

#include "Advisor/HeapWatch.h"

#include <cstddef>
#include <utility>

namespace OrthancPerf
{
  HeapTrimmer::HeapTrimmer(Trim trim) : trim_(std::move(trim))
  {
  }


  void HeapTrimmer::SetPeriod(std::chrono::seconds period) noexcept
  {
    period_ = period;
  }


  void HeapTrimmer::Look(TimePoint now)
  {
    const std::chrono::seconds period = period_;

    if (trim_ && period.count() != 0 && (!trimmedAt_ || now - *trimmedAt_ >= period))
    {
      trimmedAt_ = now;
      trim_();
    }
  }


  HeapTrimmer::Trim HeapTrimmer::FindTrim()
  {
    void* const function = FindOfMalloc("malloc_trim");

    if (function == nullptr)
    {
      return {};
    }

    return [trim = reinterpret_cast<int (*)(std::size_t)>(function)]
    {
      trim(0);
    };
  }
}
