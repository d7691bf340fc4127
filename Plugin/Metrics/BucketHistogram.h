// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace OrthancPerf
{
  // A histogram as Prometheus has them: counts of values up to each bound, which is in rising
  // order, and the sum of all.
  //
  //   constexpr std::array BOUNDS = {0.01, 0.1, 1.0};
  //   BucketHistogram<BOUNDS> seconds;
  //   seconds.Add(0.05);
  //
  // A value without memory of its own; not thread-safe.
  template <const auto& BOUNDS>
  struct BucketHistogram
  {
    std::array<std::uint64_t, BOUNDS.size() + 1> counts = {};  // the last one: beyond all bounds
    std::uint64_t count = 0;
    double sum = 0;

    // A negative value counts as zero
    void Add(double value)
    {
      const double positive = std::max(value, 0.0);
      const auto bound = std::lower_bound(BOUNDS.begin(), BOUNDS.end(), positive);
      counts[static_cast<std::size_t>(bound - BOUNDS.begin())]++;
      count++;
      sum += positive;
    }

    static constexpr const auto& GetBounds()
    {
      return BOUNDS;
    }
  };
}
