// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/LatencyHistogram.h"

#include <algorithm>
#include <cmath>

namespace OrthancPerf
{
  namespace
  {
    constexpr int UNIT_BITS = 7;  // 128 ns
    constexpr int STEP_BITS = 3;  // eight buckets an octave
    constexpr std::uint64_t STEPS = 1U << STEP_BITS;
  }

  void LatencyHistogram::Add(Duration duration)
  {
    const Duration positive = std::max(duration, Duration::zero());
    buckets_[GetBucket(positive)]++;
    count_++;
    sum_ += positive;
    maximum_ = std::max(maximum_, positive);
  }

  void LatencyHistogram::Add(const LatencyHistogram& other)
  {
    if (other.count_ == 0)
    {
      return;
    }

    for (std::size_t i = 0; i < BUCKET_COUNT; i++)
    {
      buckets_[i] += other.buckets_[i];
    }

    count_ += other.count_;
    sum_ += other.sum_;
    maximum_ = std::max(maximum_, other.maximum_);
  }

  Duration LatencyHistogram::GetMean() const
  {
    return count_ == 0 ? Duration::zero() : sum_ / static_cast<Duration::rep>(count_);
  }

  Duration LatencyHistogram::GetQuantile(double share) const
  {
    const double wanted = std::ceil(share * static_cast<double>(count_));
    const std::uint64_t rank = static_cast<std::uint64_t>(std::max(wanted, 1.0));
    std::uint64_t seen = 0;

    if (rank >= count_)
    {
      return maximum_;
    }

    for (std::size_t i = 0; i + 1 < BUCKET_COUNT; i++)
    {
      seen += buckets_[i];

      if (seen >= rank)
      {
        return std::min(GetMiddle(i), maximum_);
      }
    }

    return maximum_;  // in the last bucket, which has no upper end, or there is none
  }

  std::size_t LatencyHistogram::GetBucket(Duration duration)
  {
    const std::uint64_t units = static_cast<std::uint64_t>(duration.count()) >> UNIT_BITS;

    if (units < STEPS)
    {
      return units;
    }

    const int octave = std::ilogb(static_cast<double>(units)) - STEP_BITS;
    const std::uint64_t step = (units >> octave) - STEPS;
    const std::uint64_t bucket = (static_cast<std::uint64_t>(octave) + 1) * STEPS + step;
    return std::min<std::uint64_t>(bucket, BUCKET_COUNT - 1);
  }

  Duration LatencyHistogram::GetMiddle(std::size_t bucket)
  {
    const std::uint64_t octave = bucket < STEPS ? 0 : bucket / STEPS - 1;
    const std::uint64_t step = bucket < STEPS ? bucket : bucket % STEPS + STEPS;
    const std::uint64_t width = std::uint64_t{1} << (octave + UNIT_BITS);
    return Duration(step * width + width / 2);
  }
}
