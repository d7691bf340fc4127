// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Transcoder.h"

#include "Ingest/Clock.h"
#include "Ingest/DicomFile.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using Outcome = TranscodingReport::Outcome;

    Transcoding MakeReport(Outcome outcome, const std::string& target, std::size_t sourceSize,
                           const std::string& reason)
    {
      Transcoding transcoding;
      transcoding.report.outcome = outcome;
      transcoding.report.target = target;
      transcoding.report.sourceSize = sourceSize;
      transcoding.report.reason = reason;
      return transcoding;
    }


    Outcome ToOutcome(TranscodingOutcome outcome)
    {
      switch (outcome)
      {
        case TranscodingOutcome::Transcoded:
          return Outcome::Transcoded;

        case TranscodingOutcome::Declined:
          return Outcome::Declined;

        default:
          return Outcome::Failed;
      }
    }
  }


  const char* ToLabel(TranscodingReport::Outcome outcome)
  {
    switch (outcome)
    {
      case TranscodingReport::Outcome::Transcoded:
        return "transcoded";

      case TranscodingReport::Outcome::Unneeded:
        return "unneeded";

      case TranscodingReport::Outcome::Declined:
        return "declined";

      default:
        return "failed";
    }
  }


  Transcoder::Transcoder(EngineDirectory& engines, ITranscodingObserver* observer) :
    engines_(engines),
    observer_(observer),
    settings_(std::make_shared<const IngestTranscoding>())
  {
  }


  void Transcoder::SetSettings(const IngestTranscoding& settings)
  {
    auto copy = std::make_shared<const IngestTranscoding>(settings);
    const std::lock_guard<std::mutex> lock(mutex_);
    settings_ = std::move(copy);
  }


  bool Transcoder::IsIngestTranscoding() const noexcept
  {
    return !GetSettings()->transferSyntax.empty();
  }


  std::shared_ptr<const IngestTranscoding> Transcoder::GetSettings() const noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return settings_;
  }


  Transcoding Transcoder::TranscodeIncoming(const void* data, std::size_t size) noexcept
  {
    const auto settings = GetSettings();
    return settings->transferSyntax.empty()
               ? MakeReport(Outcome::Unneeded, "", size, "")
               : Transcode(data, size, settings->transferSyntax, *settings);
  }


  Transcoding Transcoder::TranscodeTo(const void* data, std::size_t size,
                                      const std::vector<std::string>& syntaxes,
                                      bool allowNewSopInstanceUid) noexcept
  {
    const auto settings = GetSettings();
    Transcoding last =
        MakeReport(Outcome::Declined, "", size, "no transfer syntax that is written");

    for (const std::string& syntax : syntaxes)
    {
      const WritableSyntax* const writable = FindWritableSyntax(syntax);

      if (writable != nullptr && (allowNewSopInstanceUid || !writable->isLossy))
      {
        last = Transcode(data, size, syntax, *settings);

        if (last.report.outcome == Outcome::Transcoded || last.report.outcome == Outcome::Unneeded)
        {
          break;
        }
      }
    }

    return last;
  }


  Transcoding Transcoder::Transcode(const void* data, std::size_t size, const std::string& target,
                                    const IngestTranscoding& settings)
  {
    if (target == CheckDicomFile(data, size).transferSyntaxUid.data())
    {
      return MakeReport(Outcome::Unneeded, target, size, "in the target already");
    }

    Transcoding last =
        MakeReport(Outcome::Declined, target, size, "no engine writes this transfer syntax");

    for (const ITranscodingEngine* const engine : FindEngines(target, settings.engine))
    {
      const TimePoint start = Clock::now();
      EngineResult result = engine->Transcode(data, size, {target, settings.lossyQuality});

      last = MakeReport(ToOutcome(result.outcome), target, size, result.reason);
      last.report.engine = engine->GetName();
      last.report.duration = Clock::now() - start;
      last.report.targetSize = result.file.size();
      last.file = std::move(result.file);

      if (observer_ != nullptr)
      {
        observer_->OnTranscoding(last.report);
      }

      if (last.report.outcome == Outcome::Transcoded)
      {
        break;
      }
    }

    return last;
  }


  std::vector<const ITranscodingEngine*> Transcoder::FindEngines(const std::string& target,
                                                                 EngineChoice choice) const
  {
    if (choice == EngineChoice::Automatic)
    {
      return engines_.FindAll(target);
    }

    const ITranscodingEngine* const engine = engines_.Find(ToLabel(choice), target);
    return engine == nullptr ? std::vector<const ITranscodingEngine*>() : std::vector{engine};
  }
}
