// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/Exposition.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // The head of a family is that of its first part
    void AddPart(const prometheus::MetricFamily& part, std::vector<std::string>& texts)
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
  }

  Exposition::Exposition(std::vector<const IMetricSource*> sources) : sources_(std::move(sources))
  {
  }

  std::string Exposition::ToText() const
  {
    const std::lock_guard lock(writing_);
    std::map<std::string, Texts> families = Collect();
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

  // A family without any metric yet is left out
  std::map<std::string, Exposition::Texts> Exposition::Collect() const
  {
    std::map<std::string, Texts> all;

    for (const IMetricSource* source : sources_)
    {
      source->Collect(
          [&](prometheus::MetricFamily family)
          {
            if (!family.metric.empty())
            {
              std::sort(family.metric.begin(), family.metric.end(),
                        [](const auto& a, const auto& b) { return a.label < b.label; });
              AddPart(family, all[family.name]);
            }
          });
    }

    return all;
  }
}
