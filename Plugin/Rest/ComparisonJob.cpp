// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/ComparisonJob.h"

#include "Rest/RestJson.h"
#include "Tuning/WritableSyntax.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    Json::Value DescribeReasons(const std::map<std::string, std::uint64_t>& reasons)
    {
      Json::Value json = Json::objectValue;
      for (const auto& [reason, count] : reasons)
      {
        json[reason] = ToJson(count);
      }
      return json;
    }


    double GetRate(std::uint64_t bytes, Duration duration)
    {
      return static_cast<double>(bytes) / ToSeconds(duration);
    }


    void DescribeEncoding(Json::Value& json, const EngineTotals& totals)
    {
      json["StoredSize"] = ToJson(totals.storedSize);
      json["UncompressedSize"] = ToJson(totals.uncompressedSize);
      json["TargetSize"] = ToJson(totals.targetSize);
      json["Ratio"] =
          static_cast<double>(totals.uncompressedSize) / static_cast<double>(totals.targetSize);
      json["EncodeTime"] = ToJson(totals.encoding);
      json["EncodeBytesPerSecond"] = GetRate(totals.uncompressedSize, totals.encoding);
    }


    void DescribeDecoding(Json::Value& json, const EngineTotals& totals)
    {
      json["Decoders"] =
          ListJson(totals.decoders, [](const std::string& decoder) { return decoder; });
      json["DecodeTime"] = ToJson(totals.decoding);
      json["DecodeBytesPerSecond"] = GetRate(totals.decodedSize, totals.decoding);
    }


    void DescribePixels(Json::Value& json, const EngineTotals& totals)
    {
      const std::uint64_t compared = totals.same + totals.different;
      json["Compared"] = ToJson(compared);

      if (compared > 0)
      {
        json["Lossless"] = totals.different == 0;
      }

      if (totals.measured > 0)
      {
        json["MeanError"] = totals.errors / static_cast<double>(totals.measured);
        json["MaximumError"] = totals.largestError;
      }
    }
  }


  Json::Value ToJson(const EngineTotals& totals)
  {
    const WritableSyntax* const syntax = FindWritableSyntax(totals.target);
    Json::Value json;
    json["Engine"] = totals.engine;
    json["TransferSyntax"] = totals.target;
    json["Name"] = syntax == nullptr ? totals.target : syntax->name;
    json["Transcoded"] = ToJson(totals.transcoded);
    json["Declined"] = ToJson(totals.declined);
    json["Failed"] = ToJson(totals.failed);
    json["Reasons"] = DescribeReasons(totals.reasons);

    if (totals.transcoded > 0)
    {
      DescribeEncoding(json, totals);
      DescribePixels(json, totals);
    }

    if (!totals.decoders.empty())
    {
      DescribeDecoding(json, totals);
    }

    return json;
  }


  ComparisonJob::ComparisonJob(std::string resource, const EngineDirectory& engines,
                               ComparisonPlan plan, EngineComparison::LoadFile load,
                               ITranscodingObserver& observer) :
    resource_(std::move(resource)),
    comparison_(engines, std::move(plan), std::move(load), observer)
  {
    Publish();
  }


  bool ComparisonJob::Step()
  {
    comparison_.Step();
    Publish();
    return !comparison_.IsDone();
  }


  void ComparisonJob::Reset()
  {
    comparison_.Reset();
    Publish();
  }


  float ComparisonJob::GetProgress() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return progress_;
  }


  Json::Value ComparisonJob::GetContent() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return content_;
  }


  void ComparisonJob::Publish()
  {
    Json::Value content;
    content["Resource"] = resource_;
    content["LossyQuality"] = comparison_.GetPlan().lossyQuality;
    content["Instances"] =
        ToJson(static_cast<std::uint64_t>(comparison_.GetPlan().instances.size()));
    content["FinishedInstances"] =
        ToJson(static_cast<std::uint64_t>(comparison_.CountFinishedInstances()));
    content["Unreadable"] = DescribeReasons(comparison_.GetUnreadable());
    content["Results"] = ListJson(comparison_.GetTotals(),
                                  [](const EngineTotals& totals) { return ToJson(totals); });

    const std::lock_guard<std::mutex> lock(mutex_);
    progress_ = static_cast<float>(comparison_.GetProgress());
    content_ = std::move(content);
  }
}
