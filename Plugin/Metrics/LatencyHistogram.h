// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace OrthancPerf
{
  // The distribution of many durations in fixed memory. Each octave is split into eight equal
  // buckets, as in HdrHistogram, so a quantile is off by at most a sixteenth (6.25 %) of itself;
  // count, mean and maximum are exact. From 1 microsecond to 137 seconds; what is longer shows
  // as the maximum. A value; not thread-safe.
  class LatencyHistogram
  {
  public:
    // A negative duration counts as zero
    void Add(Duration duration);

    void Add(const LatencyHistogram& other);

    std::uint64_t GetCount() const
    {
      return count_;
    }

    Duration GetSum() const
    {
      return sum_;
    }

    Duration GetMaximum() const
    {
      return maximum_;
    }

    // Zero if there is none
    Duration GetMean() const;

    // The duration below which this share (0 to 1) of all lies. Zero if there is none.
    Duration GetQuantile(double share) const;

  private:
    // In units of 128 ns: eight linear buckets, then eight for each of 27 octaves, up to
    // 2^30 units
    static constexpr std::size_t BUCKET_COUNT = 224;

    static std::size_t GetBucket(Duration duration);
    static Duration GetMiddle(std::size_t bucket);

    std::array<std::uint32_t, BUCKET_COUNT> buckets_ = {};
    std::uint64_t count_ = 0;
    Duration sum_ = Duration::zero();
    Duration maximum_ = Duration::zero();
  };
}
