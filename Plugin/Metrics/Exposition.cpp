// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/Exposition.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Up to here, every integer is a double: 2^53 (IEEE 754 binary64)
    constexpr double LARGEST_EXACT_INTEGER = 9007199254740992.0;

    Json::Value ToJsonNumber(double value)
    {
      if (std::isnan(value))
      {
        return "NaN";
      }

      if (std::isinf(value))
      {
        return value > 0 ? "+Inf" : "-Inf";
      }

      if (std::trunc(value) == value && std::abs(value) <= LARGEST_EXACT_INTEGER)
      {
        return static_cast<Json::Int64>(value);
      }

      return value;
    }

    Json::Value ToJsonCount(std::uint64_t count)
    {
      return static_cast<Json::UInt64>(count);
    }

    const char* ToJsonType(prometheus::MetricType type)
    {
      switch (type)
      {
        case prometheus::MetricType::Counter:
          return "counter";
        case prometheus::MetricType::Gauge:
          return "gauge";
        case prometheus::MetricType::Histogram:
          return "histogram";
        default:
          return "untyped";  // the plugin has none
      }
    }

    double GetValue(const prometheus::ClientMetric& metric, prometheus::MetricType type)
    {
      switch (type)
      {
        case prometheus::MetricType::Counter:
          return metric.counter.value;
        case prometheus::MetricType::Gauge:
          return metric.gauge.value;
        default:
          return metric.untyped.value;
      }
    }

    void AddHistogram(Json::Value& json, const prometheus::ClientMetric::Histogram& histogram)
    {
      json["Count"] = ToJsonCount(histogram.sample_count);
      json["Sum"] = ToJsonNumber(histogram.sample_sum);
      Json::Value& buckets = json["Buckets"] = Json::arrayValue;

      for (const prometheus::ClientMetric::Bucket& bucket : histogram.bucket)
      {
        Json::Value& item = buckets.append(Json::objectValue);
        item["UpperBound"] = ToJsonNumber(bucket.upper_bound);
        item["Count"] = ToJsonCount(bucket.cumulative_count);
      }
    }

    Json::Value ToJsonMetric(const prometheus::ClientMetric& metric, prometheus::MetricType type)
    {
      Json::Value json(Json::objectValue);
      Json::Value& labels = json["Labels"] = Json::objectValue;

      for (const prometheus::ClientMetric::Label& label : metric.label)
      {
        labels[label.name] = label.value;
      }

      if (type == prometheus::MetricType::Histogram)
      {
        AddHistogram(json, metric.histogram);
      }
      else
      {
        json["Value"] = ToJsonNumber(GetValue(metric, type));
      }

      return json;
    }

    Json::Value ToJsonFamily(const prometheus::MetricFamily& family)
    {
      Json::Value json(Json::objectValue);
      json["Name"] = family.name;
      json["Help"] = family.help;
      json["Type"] = ToJsonType(family.type);
      Json::Value& metrics = json["Metrics"] = Json::arrayValue;

      for (const prometheus::ClientMetric& metric : family.metric)
      {
        metrics.append(ToJsonMetric(metric, family.type));
      }

      return json;
    }
  }

  Exposition::Exposition(std::vector<const IMetricSource*> sources) : sources_(std::move(sources))
  {
  }

  std::string Exposition::ToText() const
  {
    auto texts = Collect<std::string>([](const prometheus::MetricFamily& family)
                                      { return prometheus::TextSerializer().Serialize({family}); });
    std::size_t size = 0;

    for (const auto& [name, text] : texts)
    {
      size += text.size();
    }

    std::string all;
    all.reserve(size);

    for (auto& [name, text] : texts)
    {
      all += text;
      text = std::string();
    }

    return all;
  }

  Json::Value Exposition::ToJson() const
  {
    Json::Value json(Json::arrayValue);

    for (auto& [name, family] : Collect<Json::Value>(ToJsonFamily))
    {
      json.append(std::move(family));
    }

    return json;
  }

  // A family without any metric yet is left out
  template <typename Written, typename Write>
  std::map<std::string, Written> Exposition::Collect(Write write) const
  {
    std::map<std::string, Written> all;

    for (const IMetricSource* source : sources_)
    {
      source->Collect(
          [&](prometheus::MetricFamily family)
          {
            if (!family.metric.empty())
            {
              std::sort(family.metric.begin(), family.metric.end(),
                        [](const auto& a, const auto& b) { return a.label < b.label; });
              all.emplace(family.name, write(family));
            }
          });
    }

    return all;
  }
}
