// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/InstanceTranscoding.h"

#include "Ingest/Clock.h"
#include "Transcoding/LossyDerivation.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/Verification.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using Outcome = TranscodingOutcome;

    constexpr const char* NO_FILE_META =
        "without preamble or Transfer Syntax UID, so that programs guess how it is encoded";
    constexpr const char* NOT_IDENTIFIED =
        "with an identifier in another form than DICOM wants, which programs read in several ways";
    constexpr const char* STORED_ALREADY = "stored already, and OverwriteInstances is off";


    // Who asks for an uncompressed target does not do so for its size
    bool IsLosslessCompression(const std::string& target)
    {
      return !IsLossy(target) &&
             (IsEncapsulated(target) || target == TransferSyntaxUid::DEFLATED_LITTLE_ENDIAN);
    }


    // The first and "next", which was tried in its stead, as one
    void Append(Transcoding& all, Transcoding next)
    {
      TranscodingReport& report = next.report;
      report.duration += all.report.duration;
      report.verification += all.report.verification;

      if (!report.IsDone() && !all.report.engine.empty())
      {
        report.reason = all.report.reason + "; " + report.engine + ": " + report.reason;

        if (all.report.outcome == Outcome::Failed)
        {
          report.outcome = Outcome::Failed;
        }
      }
      else if (!report.IsDone())
      {
        report.reason = report.engine + ": " + report.reason;
      }

      all = std::move(next);
    }
  }


  InstanceTranscoding::InstanceTranscoding(const TranscodingSurroundings& surroundings,
                                           const ReceivedFile& file) :
    surroundings_(surroundings),
    received_(file)
  {
  }


  Transcoding InstanceTranscoding::MakeUndone(Outcome outcome, const std::string& target,
                                              const std::string& reason) const
  {
    Transcoding transcoding;
    transcoding.report.outcome = outcome;
    transcoding.report.target = target;
    transcoding.report.reason = reason;
    transcoding.report.sourceSize = received_.bytes.size();
    return transcoding;
  }


  // No engine is tried
  Transcoding InstanceTranscoding::Leave(Outcome outcome, const std::string& engine,
                                         const std::string& target, const std::string& reason)
  {
    Transcoding transcoding = MakeUndone(outcome, target, reason);
    transcoding.report.engine = engine;

    if (surroundings_.observer != nullptr)
    {
      surroundings_.observer->OnTranscoding(transcoding.report);
    }

    return transcoding;
  }


  std::string InstanceTranscoding::FindReasonToLeaveAlone(const std::string& target) const
  {
    const ImageDescription& image = GetFile().image;
    const bool isCompressed = image.isDeflated || IsEncapsulated(image.transferSyntax);
    const std::string reason = OrthancPerf::FindReasonToLeaveAlone(image, target);
    return reason.empty() && isCompressed && !surroundings_.settings.ofCompressed
               ? "compressed already"
               : reason;
  }


  Transcoding InstanceTranscoding::TranscodeIncoming(const std::string& target,
                                                     const IsDuplicate& isDuplicate)
  {
    if (*received_.problem != '\0')
    {
      // DCMTK's leniency may accept this one, and Orthanc stores it; the others it refuses
      const bool mayBeStored =
          received_.dataSet.result == ReadResult::Malformed && received_.hasPrefix;
      return mayBeStored ? Leave(Outcome::Declined, "", target, received_.problem)
                         : MakeUndone(Outcome::Unneeded, target, received_.problem);
    }

    isIncoming_ = true;

    // Deflated files have to be inflated to see whether they have pixels
    std::string reason = FindReasonToLeaveAlone(target);

    if (reason.empty() && received_.image.isDeflated && InflateReceived())
    {
      ImageDescription inflated = inflated_->image;
      inflated.transferSyntax.clear();
      reason = OrthancPerf::FindReasonToLeaveAlone(inflated, target);
    }

    if (!reason.empty())
    {
      return MakeUndone(Outcome::Unneeded, target, reason);
    }

    if (isDuplicate && !IsLossy(target))
    {
      const TimePoint asked = Clock::now();

      if (isDuplicate(GetFile().identity))
      {
        return Leave(Outcome::Duplicate, "", target, STORED_ALREADY);
      }

      surroundings_.deadline += Clock::now() - asked;  // a busy database takes no time of engines
    }

    return TranscodeTo(target);
  }


  Transcoding InstanceTranscoding::TranscodeToOneOf(const std::vector<std::string>& targets)
  {
    if (std::find(targets.begin(), targets.end(), received_.image.transferSyntax) != targets.end())
    {
      return MakeUndone(Outcome::Unneeded, "", "in one of the targets already");
    }

    Transcoding last =
        MakeUndone(Outcome::Declined, "", "none of the transfer syntaxes can be written");

    for (const std::string& target : targets)
    {
      if (FindWritableSyntax(target) == nullptr || IsLossy(target))
      {
        continue;
      }

      last = TranscodeTo(target);

      // What could not be inflated for one of them can't be for the next, either
      if (last.report.outcome == Outcome::Transcoded || last.report.isOutOfTime ||
          !problem_.empty())
      {
        break;
      }
    }

    return last;
  }


  Transcoding InstanceTranscoding::TranscodeTo(const std::string& target)
  {
    if (*received_.problem != '\0')
    {
      return Leave(Outcome::Declined, "", target, received_.problem);
    }

    if (received_.image.isDeflated && !inflated_.has_value() && !InflateReceived())
    {
      return Leave(Outcome::Declined, "", target, "deflated, and not inflated: " + problem_);
    }

    const std::string obstacle = FindObstacle(target);
    return obstacle.empty() ? TryEngines(target) : Leave(Outcome::Declined, "", target, obstacle);
  }


  std::string InstanceTranscoding::FindObstacle(const std::string& target) const
  {
    if (!received_.hasPrefix || received_.image.transferSyntax.empty())
    {
      return NO_FILE_META;
    }

    std::string obstacle = OrthancPerf::FindObstacle(GetFile().image, target);

    if (obstacle.empty() && !GetFile().identity.IsKnown())
    {
      obstacle = NOT_IDENTIFIED;
    }

    return obstacle.empty() && isIncoming_ ? FindLossOfPicture(GetFile().image, target) : obstacle;
  }


  // The file in Explicit VR Little Endian, or why there is none
  EngineResult InstanceTranscoding::Inflate(std::string_view deflated) const
  {
    constexpr const char* INFLATED = TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN;
    EngineResult result = Uncompress(surroundings_.engines.FindAll(INFLATED), deflated.data(),
                                     deflated.size(), surroundings_.deadline);

    if (result.outcome != Outcome::Transcoded)
    {
      return result;
    }

    const std::string flaw =
        FindFlaw(ReceivedFile(result.file), INFLATED, GetFile().identity.GetSopInstanceUid());
    return flaw.empty() ? result : EngineResult::MakeDeclined(flaw);
  }


  bool InstanceTranscoding::InflateReceived()
  {
    if (!problem_.empty())
    {
      return false;
    }

    EngineResult result = Inflate(received_.bytes);

    if (result.outcome != Outcome::Transcoded)
    {
      problem_ = result.reason;
      return false;
    }

    inflatedBytes_ = std::move(result.file);
    inflated_.emplace(inflatedBytes_);
    return true;
  }


  // What engines are to read. The inflated file is in this target already.
  const ReceivedFile& InstanceTranscoding::GetSource(const std::string& target) const noexcept
  {
    return target == TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN ? received_ : GetFile();
  }


  Transcoding InstanceTranscoding::TryEngines(const std::string& target)
  {
    // No engine is to blame, if inflating has taken all of it
    if (Clock::now() >= surroundings_.deadline)
    {
      Transcoding late = Leave(Outcome::Failed, "", target, "the time for this instance was over");
      late.report.isOutOfTime = true;
      return late;
    }

    const EngineChoice choice = surroundings_.settings.engine;
    return choice == EngineChoice::Automatic ? TryInTurn(target)
                                             : TryNamedEngine(ToLabel(choice), target);
  }


  Transcoding InstanceTranscoding::TryNamedEngine(const std::string& name,
                                                  const std::string& target)
  {
    const ITranscodingEngine* const engine = surroundings_.engines.Find(name, target);

    if (engine == nullptr)
    {
      return Leave(Outcome::Declined, name, target, surroundings_.engines.Explain(name, target));
    }

    return TryEngine(*engine, target);
  }


  Transcoding InstanceTranscoding::TryInTurn(const std::string& target)
  {
    const auto engines = surroundings_.engines.ListForAuto(target, Clock::now());

    if (engines.empty())
    {
      return Leave(Outcome::Declined, "", target, "no engine writes this transfer syntax");
    }

    Transcoding all;

    for (const ITranscodingEngine* const engine : engines)
    {
      Transcoding attempt = TryEngine(*engine, target);

      if (attempt.report.outcome == Outcome::Failed)
      {
        surroundings_.engines.PutLast(engine->GetName(), target, Clock::now());
      }

      Append(all, std::move(attempt));

      // What an engine could not do in time, the next one will hardly do in no time
      if (all.report.IsDone() || all.report.isOutOfTime)
      {
        break;
      }
    }

    return all;
  }


  Transcoding InstanceTranscoding::TryEngine(const ITranscodingEngine& engine,
                                             const std::string& target)
  {
    const std::string_view source = GetSource(target).bytes;
    const TimePoint start = Clock::now();
    const std::string obstacle = FindObstacleOfEngine(GetFile().image, target, engine.GetName());
    EngineResult result = obstacle.empty()
                              ? engine.Transcode(source.data(), source.size(),
                                                 {target, surroundings_.settings.lossyQuality,
                                                  surroundings_.deadline})
                              : EngineResult::MakeDeclined(obstacle);

    Transcoding transcoding = MakeUndone(result.outcome, target, result.reason);
    transcoding.report.duration = Clock::now() - start;
    transcoding.report.engine = engine.GetName();
    transcoding.file = std::move(result.file);

    if (transcoding.report.outcome == Outcome::Transcoded)
    {
      transcoding.report.reason = Examine(engine, target, transcoding);
      transcoding.report.targetSize = transcoding.file.size();
    }

    if (transcoding.report.outcome != Outcome::Transcoded || !transcoding.report.reason.empty())
    {
      Outcome& outcome = transcoding.report.outcome;
      outcome = outcome == Outcome::Declined ? Outcome::Declined : Outcome::Failed;
      transcoding.report.isOutOfTime =
          !transcoding.report.IsDone() && Clock::now() >= surroundings_.deadline;
      transcoding.report.targetSize = 0;
      transcoding.file.clear();
    }

    if (surroundings_.observer != nullptr)
    {
      surroundings_.observer->OnTranscoding(transcoding.report);
    }

    return transcoding;
  }


  // Makes the file ready to replace the original, or says why it can't
  std::string InstanceTranscoding::Examine(const ITranscodingEngine& engine,
                                           const std::string& target,
                                           Transcoding& transcoding) const
  {
    const ReceivedFile file(transcoding.file);
    transcoding.identity = file.identity;
    std::string flaw = FindFlaw(file, target, GetFile().identity.GetSopInstanceUid());

    if (flaw.empty() && isIncoming_ && IsLosslessCompression(target) &&
        file.bytes.size() > received_.bytes.size())
    {
      transcoding.report.outcome = Outcome::Declined;
      transcoding.report.isLarger = true;
      return "larger than what came";
    }

    if (flaw.empty())
    {
      flaw = FindChange(file);

      if (!flaw.empty())
      {
        transcoding.report.outcome = Outcome::Declined;
        return flaw;
      }
    }

    if (flaw.empty() && surroundings_.settings.verify)
    {
      const TimePoint start = Clock::now();
      flaw = Verify(engine, target, file);
      transcoding.report.verification = Clock::now() - start;
    }

    if (flaw.empty() && IsLossy(target))
    {
      flaw = Derive(target, file, transcoding);
    }

    return flaw;
  }


  // For Orthanc, it would be another instance, or show something else
  std::string InstanceTranscoding::FindChange(const ReceivedFile& file) const
  {
    if (file.image.isDeflated)
    {
      const EngineResult result = Inflate(file.bytes);
      return result.outcome == Outcome::Transcoded
                 ? FindChange(ReceivedFile(result.file))
                 : "deflated, and not inflated again: " + result.reason;
    }

    if (!file.IsComplete() || !file.identity.HasSameIdentifiers(GetFile().identity))
    {
      return "Orthanc would have other identifiers for it";
    }

    return isIncoming_ ? FindLossOfPicture(GetFile().image, file.image) : "";
  }


  std::string InstanceTranscoding::Verify(const ITranscodingEngine& engine,
                                          const std::string& target, const ReceivedFile& file) const
  {
    const auto isEncoder = [&engine](const ITranscodingEngine* other)
    {
      return other == &engine;
    };

    std::vector<const ITranscodingEngine*> ofSource =
        surroundings_.engines.FindAll(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);
    std::vector<const ITranscodingEngine*> ofResult = ofSource;
    std::stable_partition(ofSource.begin(), ofSource.end(), isEncoder);
    std::stable_partition(ofResult.begin(), ofResult.end(), std::not_fn(isEncoder));

    // Of what came, even where that was inflated for the encoder: who did it may have done it wrong
    const auto quality =
        IsLossy(target) ? std::make_optional(surroundings_.settings.lossyQuality) : std::nullopt;
    const std::string problem =
        FindDamage({received_, file, quality, surroundings_.deadline}, ofSource, ofResult);
    return problem.empty() ? "" : "verification failed: " + problem;
  }


  std::string InstanceTranscoding::Derive(const std::string& target, const ReceivedFile& file,
                                          Transcoding& transcoding) const
  {
    try
    {
      const ReceivedFile& source = GetSource(target);
      const unsigned int quality = surroundings_.settings.lossyQuality;
      const LossyDerivation derivation = {target, quality,
                                          MakeDerivedUid(source.image, target, quality)};
      transcoding.file = DescribeLossyDerivation(file, source, derivation);
      const ReceivedFile derived(transcoding.file);
      transcoding.identity = derived.identity;
      return FindFlaw(derived, target, derivation.sopInstanceUid);
    }
    catch (const std::exception& error)
    {
      return std::string("can't describe the lossy derivation: ") + error.what();
    }
  }
}
