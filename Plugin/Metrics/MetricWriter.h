// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Enumeration.h"
#include "Metrics/BucketHistogram.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>

namespace OrthancPerf
{
  enum class MetricType
  {
    Counter,
    Gauge,
    Histogram
  };

  template <>
  inline constexpr std::array LABELS<MetricType> = {"counter", "gauge", "histogram"};

  // Writes families in Prometheus' text format 0.0.4:
  // https://prometheus.io/docs/instrumenting/exposition_formats/. Not thread-safe.
  class MetricWriter
  {
  public:
    using Labels = std::map<std::string, std::string>;

    MetricWriter();

    // The series that follow are of this family; without any, nothing is written
    void Begin(const std::string& name, MetricType type, const std::string& help);

    // Nothing: no such series
    void Add(const Labels& labels, std::optional<double> value);

    // Without values: no such series
    template <const auto& BOUNDS>
    void Add(const Labels& labels, const BucketHistogram<BOUNDS>& histogram)
    {
      std::uint64_t count = 0;

      for (std::size_t i = 0; i < histogram.counts.size() && histogram.count > 0; i++)
      {
        count += histogram.counts[i];
        WriteLine("_bucket", labels, static_cast<double>(count),
                  i == BOUNDS.size() ? std::numeric_limits<double>::infinity() : BOUNDS[i]);
      }

      if (histogram.count > 0)
      {
        WriteLine("_sum", labels, histogram.sum);
        WriteLine("_count", labels, static_cast<double>(histogram.count));
      }
    }

    std::string GetText() const
    {
      return text_.str();
    }

  private:
    void WriteLine(const char* suffix, const Labels& labels, double value,
                   std::optional<double> bound = std::nullopt);

    std::ostringstream text_;
    std::string name_;
    std::string head_;  // of the family, until it is written
  };
}
