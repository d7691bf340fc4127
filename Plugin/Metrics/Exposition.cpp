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

    using Texts = std::vector<std::string>;

    // The head of a family is that of its first part
    void AddAsText(const prometheus::MetricFamily& part, Texts& texts)
    {
      std::string text = prometheus::TextSerializer().Serialize({part});
      std::size_t head = 0;

      while (!texts.empty() && text.compare(head, 2, "# ") == 0)
      {
        head = text.find('\n', head) + 1;
      }

      text.erase(0, head);
      texts.push_back(std::move(text));
    }

    void AddAsJson(const prometheus::MetricFamily& family, Json::Value& json)
    {
      json["Name"] = family.name;
      json["Help"] = family.help;
      json["Type"] = ToJsonType(family.type);
      Json::Value& metrics = json["Metrics"];

      for (const prometheus::ClientMetric& metric : family.metric)
      {
        metrics.append(ToJsonMetric(metric, family.type));
      }
    }
  }

  Exposition::Exposition(std::vector<const IMetricSource*> sources) : sources_(std::move(sources))
  {
  }

  std::string Exposition::ToText() const
  {
    const std::lock_guard lock(writing_);
    std::map<std::string, Texts> families = Collect<Texts>(AddAsText);
    std::size_t size = 0;

    for (const auto& [name, texts] : families)
    {
      for (const std::string& text : texts)
      {
        size += text.size();
      }
    }

    std::string all;
    all.reserve(size);

    for (auto& [name, texts] : families)
    {
      for (const std::string& text : texts)
      {
        all += text;
      }

      texts = Texts();
    }

    return all;
  }

  Json::Value Exposition::ToJson() const
  {
    const std::lock_guard lock(writing_);
    Json::Value json(Json::arrayValue);

    for (auto& [name, family] : Collect<Json::Value>(AddAsJson))
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
              write(family, all[family.name]);
            }
          });
    }

    return all;
  }
}
