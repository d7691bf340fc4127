// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/ComparisonJob.h"

#include "Dicom/ReceivedFile.h"
#include "Dicom/TransferSyntax.h"
#include "Rest/RestJson.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/PixelComparison.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What pixels are compared in
    constexpr const char* UNCOMPRESSED = TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN;


    double GetRate(std::uint64_t bytes, Duration duration)
    {
      return static_cast<double>(bytes) / ToSeconds(duration);
    }
  }


  ComparisonJob::ComparisonJob(const EngineDirectory& engines, CompareRequest request,
                               std::vector<std::string> instances, LoadFile load,
                               ITranscodingObserver& observer) :
    engines_(engines),
    request_(std::move(request)),
    instances_(std::move(instances)),
    load_(std::move(load)),
    observer_(observer)
  {
    Reset();
  }


  void ComparisonJob::Reset()
  {
    step_ = 0;
    pair_ = 0;
    uncompressed_.clear();
    totals_.clear();
    unreadable_.clear();

    for (const std::string& target : request_.targets)
    {
      for (const std::string& engine : request_.engines)
      {
        Totals& totals = totals_.emplace_back();
        totals.engine = engine;
        totals.target = target;
      }
    }
  }


  bool ComparisonJob::Step()
  {
    if (pair_ == 0)
    {
      Load(instances_.at(step_));
    }

    if (!uncompressed_.empty())
    {
      Encode(totals_.at(pair_));
    }

    pair_ = (pair_ + 1) % totals_.size();

    if (pair_ == 0)
    {
      step_++;
      uncompressed_ = std::string();  // Orthanc keeps jobs that are over
    }

    return step_ < instances_.size();
  }


  void ComparisonJob::Load(const std::string& instance)
  {
    uncompressed_.clear();

    try
    {
      const std::string file = load_(instance);
      EngineResult result = Uncompress(file);
      storedSize_ = file.size();

      if (result.outcome == TranscodingOutcome::Transcoded)
      {
        uncompressed_ = std::move(result.file);
      }
      else
      {
        CountReason(unreadable_, result.reason);
      }
    }
    catch (const std::exception&)
    {
      CountReason(unreadable_, "not in the store any more");
    }
  }


  // By the first engine that can
  EngineResult ComparisonJob::Uncompress(const std::string& file) const
  {
    const ImageDescription image = DescribeImage(file.data(), file.size());

    if (image.kind == PixelDataKind::None)
    {
      return EngineResult::MakeDeclined("no pixel data");
    }

    const std::string obstacle = FindObstacle(image, UNCOMPRESSED);

    if (!obstacle.empty())
    {
      return EngineResult::MakeDeclined(obstacle);
    }

    return image.transferSyntax == UNCOMPRESSED
               ? EngineResult::MakeTranscoded(file)
               : OrthancPerf::Uncompress(engines_.FindAll(UNCOMPRESSED), file.data(), file.size());
  }


  void ComparisonJob::Encode(Totals& totals)
  {
    const ITranscodingEngine* const engine = engines_.Find(totals.engine, totals.target);

    if (engine == nullptr)
    {
      totals.declined++;
      CountReason(totals.reasons, engines_.Explain(totals.engine, totals.target));
      return;
    }

    const TranscodingTarget target = {totals.target, request_.lossyQuality};
    const ImageDescription image = DescribeImage(uncompressed_.data(), uncompressed_.size());

    if (warmedUp_.insert(totals.engine).second)
    {
      AskEngine(*engine, image, uncompressed_, target);
    }

    const TimePoint start = Clock::now();
    const EngineResult result = AskEngine(*engine, image, uncompressed_, target);

    TranscodingReport report;
    report.duration = Clock::now() - start;
    report.outcome = result.outcome;
    report.engine = totals.engine;
    report.target = totals.target;
    report.reason = result.reason;
    report.sourceSize = uncompressed_.size();
    report.targetSize = result.file.size();
    observer_.OnTranscoding(report);
    std::string reason = result.reason;

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      totals.transcoded++;
      totals.storedSize += storedSize_;
      totals.uncompressedSize += report.sourceSize;
      totals.targetSize += report.targetSize;
      totals.encoding += report.duration;
      reason = Decode(totals, result.file);
    }
    else
    {
      (result.outcome == TranscodingOutcome::Declined ? totals.declined : totals.failed)++;
    }

    CountReason(totals.reasons, reason);
  }


  // By the engine itself if it can. Returns why the pixels are not the same; empty: they are.
  std::string ComparisonJob::Decode(Totals& totals, const std::string& encoded) const
  {
    std::vector<const ITranscodingEngine*> decoders = engines_.FindAll(UNCOMPRESSED);
    std::stable_partition(decoders.begin(), decoders.end(),
                          [&totals](const ITranscodingEngine* decoder)
                          { return totals.engine == decoder->GetName(); });
    std::string reason = "no engine decodes the result";

    for (const ITranscodingEngine* const decoder : decoders)
    {
      const TimePoint start = Clock::now();
      const EngineResult decoded =
          decoder->Transcode(encoded.data(), encoded.size(), {UNCOMPRESSED});
      const Duration duration = Clock::now() - start;

      if (decoded.outcome == TranscodingOutcome::Transcoded)
      {
        totals.decoders.insert(decoder->GetName());
        totals.decodedSize += uncompressed_.size();
        totals.decoding += duration;
        return Compare(totals, decoded.file);
      }

      reason = "not decoded: " + decoded.reason;
    }

    return reason;
  }


  std::string ComparisonJob::Compare(Totals& totals, const std::string& decoded) const
  {
    const ImageDescription expected = DescribeImage(uncompressed_.data(), uncompressed_.size());
    const ImageDescription actual = DescribeImage(decoded.data(), decoded.size());
    const std::string difference = FindDifference(expected, actual);
    const bool isSame = difference.empty();
    const auto error = isSame ? PixelError() : MeasureError(expected, actual);

    totals.same += isSame ? 1 : 0;
    totals.different += !isSame && IsComparable(expected) && IsComparable(actual) ? 1 : 0;

    if (error)
    {
      totals.measured++;
      totals.errors += error->mean;
      totals.largestError = std::max(totals.largestError, error->maximum);
    }

    return IsLossy(totals.target) && error ? "" : difference;
  }


  void ComparisonJob::CountReason(Reasons& reasons, const std::string& reason)
  {
    if (!reason.empty())
    {
      const bool hasRoom = reasons.count(reason) > 0 || reasons.size() < MAXIMUM_REASONS;
      reasons[hasRoom ? reason : "other reasons"]++;
    }
  }


  float ComparisonJob::GetProgress() const
  {
    return static_cast<float>(step_) / static_cast<float>(instances_.size());
  }


  Json::Value ComparisonJob::GetContent() const
  {
    Json::Value content;
    content["Resource"] = request_.resource;
    content["LossyQuality"] = request_.lossyQuality;
    content["Instances"] = ToJson(std::uint64_t(instances_.size()));
    content["FinishedInstances"] = ToJson(std::uint64_t(step_));
    content["Unreadable"] = Describe(unreadable_);
    content["Results"] = ListJson(totals_, [](const Totals& totals) { return Describe(totals); });
    return content;
  }


  Json::Value ComparisonJob::Describe(const Reasons& reasons)
  {
    Json::Value json = Json::objectValue;

    for (const auto& [reason, count] : reasons)
    {
      json[reason] = ToJson(count);
    }

    return json;
  }


  Json::Value ComparisonJob::Describe(const Totals& totals)
  {
    Json::Value json;
    json["Engine"] = totals.engine;
    json["TransferSyntax"] = totals.target;
    json["Name"] = GetSyntaxName(totals.target);
    json["Transcoded"] = ToJson(totals.transcoded);
    json["Declined"] = ToJson(totals.declined);
    json["Failed"] = ToJson(totals.failed);
    json["Reasons"] = Describe(totals.reasons);

    if (totals.transcoded > 0)
    {
      json["StoredSize"] = ToJson(totals.storedSize);
      json["UncompressedSize"] = ToJson(totals.uncompressedSize);
      json["TargetSize"] = ToJson(totals.targetSize);
      json["Ratio"] =
          static_cast<double>(totals.uncompressedSize) / static_cast<double>(totals.targetSize);
      json["EncodeTime"] = ToJson(totals.encoding);
      json["EncodeBytesPerSecond"] = GetRate(totals.uncompressedSize, totals.encoding);
      json["Compared"] = ToJson(totals.same + totals.different);
    }

    if (totals.same + totals.different > 0)
    {
      json["Lossless"] = totals.different == 0;
    }

    if (totals.measured > 0)
    {
      json["MeanError"] = totals.errors / static_cast<double>(totals.measured);
      json["MaximumError"] = totals.largestError;
    }

    if (!totals.decoders.empty())
    {
      json["Decoders"] =
          ListJson(totals.decoders, [](const std::string& decoder) { return decoder; });
      json["DecodeTime"] = ToJson(totals.decoding);
      json["DecodeBytesPerSecond"] = GetRate(totals.decodedSize, totals.decoding);
    }

    return json;
  }
}
