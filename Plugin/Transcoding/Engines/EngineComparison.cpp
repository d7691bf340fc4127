// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineComparison.h"

#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* OTHER_REASONS = "other reasons";

    void CountReason(std::map<std::string, std::uint64_t>& reasons, const std::string& reason)
    {
      const bool hasRoom =
          reasons.count(reason) > 0 || reasons.size() < EngineTotals::MAXIMUM_REASONS;
      reasons[hasRoom ? reason : OTHER_REASONS]++;
    }


    // What pixels are compared in
    constexpr const char* UNCOMPRESSED = TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN;


    // Takes over what the pixels tell; false if these two can't be compared
    bool Compare(EngineMeasurement& measurement, const std::string& uncompressed,
                 const std::string& decoded)
    {
      const ImageDescription expected = DescribeImage(uncompressed.data(), uncompressed.size());
      const ImageDescription actual = DescribeImage(decoded.data(), decoded.size());
      const PixelComparison comparison = ComparePixels(expected, actual);
      const bool isSame = comparison.verdict == PixelComparison::Verdict::Same;

      measurement.pixels = comparison.verdict;
      measurement.error = isSame ? PixelError() : MeasureError(expected, actual);
      measurement.report.reason =
          IsLossy(measurement.report.target) && measurement.error ? "" : comparison.reason;
      return measurement.error || comparison.verdict != PixelComparison::Verdict::Incomparable;
    }


    // Decodes the engine's work, by the engine itself if it can, and compares it with what it was
    // made from
    void Verify(EngineMeasurement& measurement, const EngineDirectory& engines,
                const std::string& encoded, const std::string& uncompressed)
    {
      measurement.report.reason = "no engine decodes the result";

      std::vector<const ITranscodingEngine*> decoders = engines.FindAll(UNCOMPRESSED);
      std::stable_partition(decoders.begin(), decoders.end(),
                            [&measurement](const ITranscodingEngine* decoder)
                            { return measurement.report.engine == decoder->GetName(); });

      for (const ITranscodingEngine* const decoder : decoders)
      {
        const TimePoint start = Clock::now();
        const EngineResult decoded =
            decoder->Transcode(encoded.data(), encoded.size(), {UNCOMPRESSED});
        const Duration duration = Clock::now() - start;

        if (decoded.outcome != TranscodingOutcome::Transcoded)
        {
          measurement.report.reason = "not decoded: " + decoded.reason;
          continue;
        }

        measurement.decoder = decoder->GetName();
        measurement.decoding = duration;

        if (Compare(measurement, uncompressed, decoded.file))
        {
          break;
        }
      }
    }


    // The file in Explicit VR Little Endian, made by the first engine that can; the file itself if
    // it is in that syntax already
    EngineResult UncompressStored(const EngineDirectory& engines, const std::string& file)
    {
      const ImageDescription image = DescribeImage(file.data(), file.size());

      if (image.kind == PixelDataKind::None)
      {
        return EngineResult::MakeDeclined("no pixel data");
      }

      const std::string obstacle = FindObstacle(image, UNCOMPRESSED);

      if (!obstacle.empty() && !image.isDeflated)
      {
        return EngineResult::MakeDeclined(obstacle);
      }

      return image.transferSyntax.data() == std::string(UNCOMPRESSED)
                 ? EngineResult::MakeTranscoded(file)
                 : Uncompress(engines.FindAll(UNCOMPRESSED), file.data(), file.size());
    }


    // Lets an engine encode a file that is in Explicit VR Little Endian, decodes the result, and
    // compares the pixels. Holds up to three files in memory, beside what the engine takes.
    EngineMeasurement MeasureEngine(const EngineDirectory& engines, const std::string& engine,
                                    const TranscodingTarget& target,
                                    const std::string& uncompressed)
    {
      const ITranscodingEngine* const encoder = engines.Find(engine, target.transferSyntax);
      EngineMeasurement measurement;
      TranscodingReport& report = measurement.report;
      report.engine = engine;
      report.target = target.transferSyntax;

      if (encoder == nullptr)
      {
        report.outcome = TranscodingOutcome::Declined;
        report.reason = engines.Explain(engine, target.transferSyntax);
        return measurement;
      }

      const TimePoint start = Clock::now();
      EngineResult result = encoder->Transcode(uncompressed.data(), uncompressed.size(), target);
      report.duration = Clock::now() - start;
      report.outcome = result.outcome;
      report.reason = std::move(result.reason);
      report.sourceSize = uncompressed.size();
      report.targetSize = result.file.size();

      if (result.outcome == TranscodingOutcome::Transcoded)
      {
        Verify(measurement, engines, result.file, uncompressed);
      }

      return measurement;
    }
  }


  void EngineTotals::Add(const EngineMeasurement& measurement, std::size_t stored)
  {
    const TranscodingReport& report = measurement.report;

    if (!report.reason.empty())
    {
      CountReason(reasons, report.reason);
    }

    if (report.outcome != TranscodingOutcome::Transcoded)
    {
      (report.outcome == TranscodingOutcome::Declined ? declined : failed)++;
      return;
    }

    transcoded++;
    storedSize += stored;
    uncompressedSize += report.sourceSize;
    targetSize += report.targetSize;
    encoding += report.duration;

    if (!measurement.decoder.empty())
    {
      decoders.insert(measurement.decoder);
      decodedSize += report.sourceSize;
      decoding += measurement.decoding;
    }

    same += measurement.pixels == PixelComparison::Verdict::Same ? 1 : 0;
    different += measurement.pixels == PixelComparison::Verdict::Different ? 1 : 0;

    if (measurement.error)
    {
      measured++;
      errors += measurement.error->mean;
      largestError = std::max(largestError, measurement.error->maximum);
    }
  }


  EngineComparison::EngineComparison(const EngineDirectory& engines, ComparisonPlan plan,
                                     LoadFile load, ITranscodingObserver& observer) :
    engines_(engines),
    plan_(std::move(plan)),
    load_(std::move(load)),
    observer_(observer)
  {
    Reset();
  }


  void EngineComparison::Reset()
  {
    step_ = 0;
    uncompressed_.clear();
    totals_.clear();
    unreadable_.clear();

    for (const std::string& target : plan_.targets)
    {
      for (const std::string& engine : plan_.engines)
      {
        EngineTotals& totals = totals_.emplace_back();
        totals.engine = engine;
        totals.target = target;
      }
    }
  }


  double EngineComparison::GetProgress() const noexcept
  {
    return IsDone() ? 1.0 : static_cast<double>(step_) / static_cast<double>(plan_.CountSteps());
  }


  std::size_t EngineComparison::CountFinishedInstances() const noexcept
  {
    return IsDone() ? plan_.instances.size() : step_ / totals_.size();
  }


  void EngineComparison::Step()
  {
    if (IsDone())
    {
      return;
    }

    const std::size_t pair = step_ % totals_.size();

    if (pair == 0)
    {
      Load(plan_.instances[step_ / totals_.size()]);
    }

    if (uncompressed_.empty())
    {
      step_ += totals_.size();
      return;
    }

    EngineTotals& totals = totals_[pair];
    const TranscodingTarget target = {totals.target, plan_.lossyQuality};
    WarmUp(totals.engine, target);

    const EngineMeasurement measurement =
        MeasureEngine(engines_, totals.engine, target, uncompressed_);
    totals.Add(measurement, storedSize_);
    step_++;

    // If there is no such engine for this target, nothing was tried
    if (measurement.report.sourceSize > 0)
    {
      observer_.OnTranscoding(measurement.report);
    }

    if (step_ % totals_.size() == 0)
    {
      uncompressed_ = std::string();
    }
  }


  void EngineComparison::Load(const std::string& instance)
  {
    uncompressed_ = std::string();

    try
    {
      const std::string file = load_(instance);
      EngineResult result = UncompressStored(engines_, file);
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


  void EngineComparison::WarmUp(const std::string& engine, const TranscodingTarget& target)
  {
    const ITranscodingEngine* const found = engines_.Find(engine, target.transferSyntax);

    if (found != nullptr && warmedUp_.insert(engine).second)
    {
      found->Transcode(uncompressed_.data(), uncompressed_.size(), target);
    }
  }
}
