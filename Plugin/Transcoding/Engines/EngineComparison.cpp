// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineComparison.h"

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
        EngineTotals totals;
        totals.engine = engine;
        totals.target = target;
        totals_.push_back(std::move(totals));
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
