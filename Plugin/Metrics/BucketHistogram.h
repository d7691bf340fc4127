// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace OrthancPerf
{
  template <typename Sums, typename Others>
  void AddEach(Sums& sums, const Others& others)
  {
    for (std::size_t i = 0; i < others.size(); i++)
    {
      sums[i] += others[i];
    }
  }

  // A histogram as Prometheus has them: counts of values up to each bound, which is in rising
  // order, the sum of all, and the largest.
  //
  // A value without memory of its own; not thread-safe.
  template <const auto& BOUNDS>
  struct BucketHistogram
  {
    std::array<std::uint64_t, BOUNDS.size() + 1> counts = {};  // the last one: beyond all bounds
    std::uint64_t count = 0;
    double sum = 0;
    double maximum = 0;

    // A negative value counts as zero
    void Add(double value)
    {
      const double positive = std::max(value, 0.0);
      const auto bound = std::lower_bound(BOUNDS.begin(), BOUNDS.end(), positive);
      counts[static_cast<std::size_t>(bound - BOUNDS.begin())]++;
      count++;
      sum += positive;
      maximum = std::max(maximum, positive);
    }

    void operator+=(const BucketHistogram& other)
    {
      AddEach(counts, other.counts);
      count += other.count;
      sum += other.sum;
      maximum = std::max(maximum, other.maximum);
    }

    // Zero if there is none
    double GetMean() const
    {
      return count == 0 ? 0 : sum / static_cast<double>(count);
    }

    // The value below which this share (0 to 1) of all lies, as if those of a bucket were spread
    // over it evenly. Zero if there is none.
    double GetQuantile(double share) const
    {
      const double rank = share * static_cast<double>(count);
      double seen = 0;

      for (std::size_t i = 0; i < BOUNDS.size(); i++)
      {
        const auto here = static_cast<double>(counts[i]);

        if (here > 0 && seen + here >= rank)
        {
          const double begin = i == 0 ? 0 : BOUNDS[i - 1];
          return begin + (std::min(BOUNDS[i], maximum) - begin) * (rank - seen) / here;
        }

        seen += here;
      }

      return maximum;
    }
  };

  // Seconds. Parsing takes tens of microseconds to milliseconds, storing and the database
  // milliseconds to seconds, receiving a large multi-frame object over a WAN up to minutes. 20 ms
  // is where a stall begins; 35 to 50 ms and 180 to 250 ms hold the instances that met one delayed
  // ACK of Linux (40 ms) or of Windows (200 ms), and little else.
  inline constexpr std::array PHASE_BOUNDS = {
      0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.035,
      0.05,    0.1,      0.18,    0.25,   0.5,     1.0,    2.5,   5.0,    10.0,  30.0, 60.0};

  using PhaseHistogram = BucketHistogram<PHASE_BOUNDS>;
}
