// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Comparison.h"

#include "Dicom/ReceivedFile.h"
#include "Dicom/TransferSyntax.h"
#include "Rest/RestJson.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/PixelComparison.h"
#include "Tuning/Json.h"
#include "Tuning/TuningSchema.h"

#include <algorithm>
#include <exception>
#include <regex>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What pixels are compared in
    constexpr const char* UNCOMPRESSED = TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN;

    // Nothing else comes into a path of the REST API. Orthanc's DicomInstanceHasher.
    bool IsOrthancIdentifier(const std::string& text)
    {
      static const std::regex GROUPS("([0-9a-f]{8}-){4}[0-9a-f]{8}");
      constexpr std::size_t LENGTH = 44;
      return text.size() == LENGTH && std::regex_match(text, GROUPS);
    }

    std::vector<std::string> ReadTargets(const Json::Value& value)
    {
      std::set<std::string> targets;

      for (const Json::Value& item : value.isArray() ? value : Json::Value())
      {
        targets.insert(LookupWritableSyntax(item.isString() ? item.asString() : "").value_or(""));
      }

      if (targets.empty() || targets.count("") > 0)
      {
        throw SettingError::ForValue("Targets", value,
                                     "a list of the transfer syntaxes in /perf/status, by UID or "
                                     "name");
      }

      return {targets.begin(), targets.end()};
    }

    // What compression is about: lossless, and not merely another way of writing the data set
    std::vector<std::string> ListDefaultTargets()
    {
      std::vector<std::string> targets;

      for (const TransferSyntax& syntax : GetWritableSyntaxes())
      {
        if (!syntax.isLossy && syntax.isEncapsulated)
        {
          targets.emplace_back(syntax.uid);
        }
      }

      return targets;
    }
  }

  ComparisonRequest ComparisonRequest::Read(const std::string& body)
  {
    const Json::Value document = ParseJson(body.data(), body.size());

    if (!document.isObject())
    {
      throw SettingError::ForValue("", document, "an object");
    }

    const Json::Value& resource = document["Resource"];
    ComparisonRequest request;
    request.resource = resource.isString() ? resource.asString() : "";
    request.targets = ListDefaultTargets();

    if (!IsOrthancIdentifier(request.resource))
    {
      throw SettingError::ForValue("Resource", resource,
                                   "Orthanc's identifier of an instance or a series");
    }

    for (const std::string& key : document.getMemberNames())
    {
      const Json::Value& value = document[key];

      if (key == "Targets")
      {
        request.targets = ReadTargets(value);
      }
      else if (key == "LossyQuality" && LOSSY_QUALITY_RANGE.Contains(value))
      {
        request.lossyQuality = value.asUInt();
      }
      else if (key == "LossyQuality")
      {
        throw SettingError::ForValue(key, value, LOSSY_QUALITY_RANGE.Describe());
      }
      else if (key != "Resource")
      {
        throw SettingError::ForUnknownKey(key, value, {"LossyQuality", "Resource", "Targets"});
      }
    }

    return request;
  }

  Comparison::Comparison(const EngineDirectory& engines, ComparisonRequest request,
                         const std::vector<std::string>& instances, LoadFile load) :
    engines_(engines),
    request_(std::move(request)),
    load_(std::move(load))
  {
    const std::size_t count = std::min(instances.size(), MAXIMUM_INSTANCES);

    for (std::size_t i = 0; i < count; i++)
    {
      instances_.push_back(instances[i * instances.size() / count]);
    }

    Reset();
  }

  void Comparison::Reset()
  {
    step_ = 0;
    row_ = 0;
    rows_.clear();

    for (const std::string& target : request_.targets)
    {
      for (const EngineVerdict& verdict : engines_.GetVerdicts())
      {
        Row& row = rows_.emplace_back();
        row.engine = verdict.engine;
        row.target = target;
      }
    }
  }

  bool Comparison::Step()
  {
    if (row_ == 0)
    {
      source_ = Load(instances_.at(step_));
    }

    Row& row = rows_.at(row_);
    const EngineResult result =
        source_.outcome == TranscodingOutcome::Transcoded ? Encode(row) : source_;
    std::string reason = result.reason;

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      row.transcoded++;
      reason = Decode(row, result.file);
    }
    else
    {
      (result.outcome == TranscodingOutcome::Declined ? row.declined : row.failed)++;
    }

    row.reason = reason.empty() ? row.reason : reason;
    row_ = (row_ + 1) % rows_.size();

    if (row_ == 0)
    {
      step_++;
      source_ = EngineResult();  // Orthanc keeps jobs that are over
    }

    return step_ < instances_.size();
  }

  // Uncompressed by the first engine that can
  EngineResult Comparison::Load(const std::string& instance) const
  {
    std::string file;

    try
    {
      file = load_(instance);
    }
    catch (const std::exception&)
    {
      return EngineResult::MakeDeclined("not in the store any more");
    }

    const ImageDescription image = DescribeImage(file.data(), file.size());
    const std::string obstacle =
        image.kind == PixelDataKind::None ? "no pixel data" : FindObstacle(image, UNCOMPRESSED);
    return !obstacle.empty() ? EngineResult::MakeDeclined(obstacle)
           : image.transferSyntax == UNCOMPRESSED
               ? EngineResult::MakeTranscoded(std::move(file))
               : Uncompress(engines_.FindAll(UNCOMPRESSED), file.data(), file.size());
  }

  EngineResult Comparison::Encode(Row& row)
  {
    const ITranscodingEngine* const engine = engines_.Find(row.engine, row.target);

    if (engine == nullptr)
    {
      return EngineResult::MakeDeclined(engines_.Explain(row.engine, row.target));
    }

    const TranscodingTarget target = {row.target, request_.lossyQuality};
    const ImageDescription image = DescribeImage(source_.file.data(), source_.file.size());

    if (warmedUp_.insert(row.engine).second)
    {
      AskEngine(*engine, image, source_.file, target);
    }

    const TimePoint start = Clock::now();
    EngineResult result = AskEngine(*engine, image, source_.file, target);

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      row.encoding += Clock::now() - start;
      row.uncompressedSize += static_cast<double>(source_.file.size());
      row.targetSize += static_cast<double>(result.file.size());
    }

    return result;
  }

  // By the engine itself if it can. Returns why the pixels are not the same; empty: they are.
  std::string Comparison::Decode(Row& row, const std::string& encoded) const
  {
    std::vector<const ITranscodingEngine*> decoders = engines_.FindAll(UNCOMPRESSED);
    std::stable_partition(decoders.begin(), decoders.end(),
                          [&row](const ITranscodingEngine* decoder)
                          { return row.engine == decoder->GetName(); });
    const TimePoint start = Clock::now();
    const EngineResult decoded = Uncompress(decoders, encoded.data(), encoded.size());

    if (decoded.outcome != TranscodingOutcome::Transcoded)
    {
      return "not decoded: " + decoded.reason;
    }

    row.decodedSize += static_cast<double>(source_.file.size());
    row.decoding += Clock::now() - start;
    return Compare(row, decoded.file);
  }

  std::string Comparison::Compare(Row& row, const std::string& decoded) const
  {
    const ImageDescription expected = DescribeImage(source_.file.data(), source_.file.size());
    const ImageDescription actual = DescribeImage(decoded.data(), decoded.size());
    const std::string difference = FindDifference(expected, actual);
    const bool isSame = difference.empty();
    const auto error = isSame ? PixelError() : MeasureError(expected, actual);

    row.same += isSame ? 1 : 0;
    row.different += !isSame && IsComparable(expected) && IsComparable(actual) ? 1 : 0;

    if (error)
    {
      row.measured++;
      row.errors += error->mean;
      row.largestError = std::max(row.largestError, error->maximum);
    }

    return IsLossy(row.target) && error ? "" : difference;
  }

  float Comparison::GetProgress() const
  {
    return static_cast<float>(step_) / static_cast<float>(instances_.size());
  }

  Json::Value Comparison::GetContent() const
  {
    return MakeObject({{"Resource", request_.resource},
                       {"Instances", ToJson(std::uint64_t(instances_.size()))},
                       {"FinishedInstances", ToJson(std::uint64_t(step_))},
                       {"Results", ListJson(rows_, Describe)}});
  }

  Json::Value Comparison::Describe(const Row& row)
  {
    const bool isEncoded = row.transcoded > 0;
    return MakeObject(
        {{"Engine", row.engine},
         {"TransferSyntax", row.target},
         {"Transcoded", ToJson(row.transcoded)},
         {"Declined", ToJson(row.declined)},
         {"Failed", ToJson(row.failed)},
         {"Reason", IfAny(row.reason)},
         {"Ratio", OnlyIf(isEncoded, row.uncompressedSize / row.targetSize)},
         {"EncodeBytesPerSecond",
          OnlyIf(isEncoded, row.uncompressedSize / ToSeconds(row.encoding))},
         {"DecodeBytesPerSecond",
          OnlyIf(row.decodedSize > 0, row.decodedSize / ToSeconds(row.decoding))},
         {"Lossless", OnlyIf(row.different > 0 || (isEncoded && row.same == row.transcoded),
                             row.different == 0)},
         {"MeanError", OnlyIf(row.measured > 0, row.errors / static_cast<double>(row.measured))},
         {"MaximumError", OnlyIf(row.measured > 0, row.largestError)}});
  }
}
