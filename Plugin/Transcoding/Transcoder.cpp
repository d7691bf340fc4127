// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Transcoder.h"

#include "Dicom/TransferSyntax.h"
#include "Transcoding/Native/NativeEngine.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/ResultCheck.h"
#include "Transcoding/Worker/WorkerEngine.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using Outcome = TranscodingOutcome;

    // One instance on its way to another transfer syntax: engines are tried until one has done it,
    // and what they give is examined before it may replace the original. Lives on the stack of one
    // thread.
    class InstanceTranscoding
    {
    public:
      // The observer outlives this object, as what the task refers to does
      InstanceTranscoding(ITranscodingObserver* observer, const TranscodingTask& task) :
        observer_(observer),
        task_(task)
      {
      }

      // Leaves alone what need not be transcoded, and what would stay the same instance, which the
      // store has. Of lossy compression comes another one, known only when it is done.
      Transcoding TranscodeIncoming(const IsDuplicate& isDuplicate)
      {
        const std::string& target = task_.settings.transferSyntax;

        if (target.empty())
        {
          return {};
        }

        if (*task_.source.problem != '\0')
        {
          // DCMTK's leniency may accept this one, and Orthanc stores it; the others it refuses
          const bool mayBeStored =
              task_.source.dataSet.result == ReadResult::Malformed && task_.source.hasPrefix;
          return mayBeStored ? Leave(Outcome::Declined, "", target, task_.source.problem)
                             : MakeUndone(Outcome::Unneeded, target, task_.source.problem);
        }

        std::string reason = FindReasonToLeaveAlone(task_.source.image, target);

        if (reason.empty() && !task_.settings.ofCompressed &&
            (task_.source.image.isDeflated || IsEncapsulated(task_.source.image.transferSyntax)))
        {
          reason = "compressed already";
        }

        if (!reason.empty())
        {
          return MakeUndone(Outcome::Unneeded, target, reason);
        }

        if (isDuplicate && !IsLossy(target))
        {
          const TimePoint asked = Clock::now();

          if (isDuplicate(task_.source.identity))
          {
            return Leave(Outcome::Duplicate, "", target,
                         "stored already, and OverwriteInstances is off");
          }

          task_.deadline += Clock::now() - asked;  // a busy database takes no time of engines
        }

        task_.isIncoming = true;
        return TranscodeTo(target);
      }

      // Someone wants the first of these that can be had without loss; it may be in one of them
      // already
      Transcoding TranscodeToOneOf(const std::vector<std::string>& targets)
      {
        if (std::find(targets.begin(), targets.end(), task_.source.image.transferSyntax) !=
            targets.end())
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

          if (last.report.outcome == Outcome::Transcoded || last.report.isOutOfTime)
          {
            break;
          }
        }

        return last;
      }

    private:
      Transcoding MakeUndone(Outcome outcome, const std::string& target,
                             const std::string& reason) const
      {
        Transcoding transcoding;
        transcoding.report.outcome = outcome;
        transcoding.report.target = target;
        transcoding.report.reason = reason;
        transcoding.report.sourceSize = task_.source.bytes.size();
        return transcoding;
      }

      Transcoding Report(Transcoding transcoding) const
      {
        if (observer_ != nullptr)
        {
          observer_->OnTranscoding(transcoding.report);
        }

        return transcoding;
      }

      // No engine is tried
      Transcoding Leave(Outcome outcome, const std::string& engine, const std::string& target,
                        const std::string& reason) const
      {
        Transcoding transcoding = MakeUndone(outcome, target, reason);
        transcoding.report.engine = engine;
        return Report(std::move(transcoding));
      }

      Transcoding TranscodeTo(const std::string& target)
      {
        const std::string obstacle = FindObstacleOfFile(target);
        const EngineChoice choice = task_.settings.engine;

        if (!obstacle.empty())
        {
          return Leave(Outcome::Declined, "", target, obstacle);
        }

        return choice == EngineChoice::Automatic ? TryInTurn(target)
                                                 : TryNamedEngine(ToLabel(choice), target);
      }

      std::string FindObstacleOfFile(const std::string& target) const
      {
        if (*task_.source.problem != '\0')
        {
          return task_.source.problem;
        }

        if (!task_.source.hasPrefix || task_.source.image.transferSyntax.empty())
        {
          return "without preamble or Transfer Syntax UID, so that programs guess how it is "
                 "encoded";
        }

        std::string obstacle = FindObstacle(task_.source.image, target);

        if (obstacle.empty() && !task_.source.identity.IsKnown())
        {
          obstacle = "with an identifier in another form than DICOM wants, which programs read in "
                     "several ways";
        }

        return obstacle.empty() && task_.isIncoming ? FindLossOfPicture(task_.source.image, target)
                                                    : obstacle;
      }

      Transcoding TryNamedEngine(const std::string& name, const std::string& target)
      {
        const ITranscodingEngine* const engine = task_.engines.Find(name, target);
        return engine == nullptr
                   ? Leave(Outcome::Declined, name, target, task_.engines.Explain(name, target))
                   : TryEngine(*engine, target);
      }

      Transcoding TryInTurn(const std::string& target)
      {
        const auto engines = task_.engines.ListForAuto(target, Clock::now());

        if (engines.empty())
        {
          return Leave(Outcome::Declined, "", target, "no engine writes this transfer syntax");
        }

        Transcoding all;

        for (const ITranscodingEngine* const engine : engines)
        {
          Transcoding next = TryEngine(*engine, target);
          TranscodingReport& report = next.report;

          if (report.outcome == Outcome::Failed)
          {
            task_.engines.PutLast(engine->GetName(), target, Clock::now());
          }

          // All attempts as one
          report.duration += all.report.duration;
          report.verification += all.report.verification;

          if (!report.IsDone())
          {
            const std::string before = all.report.engine.empty() ? "" : all.report.reason + "; ";
            report.reason = before + report.engine + ": " + report.reason;
            report.outcome =
                all.report.outcome == Outcome::Failed ? Outcome::Failed : report.outcome;
          }

          all = std::move(next);

          // What an engine could not do in time, the next one will hardly do in no time
          if (all.report.IsDone() || all.report.isOutOfTime)
          {
            break;
          }
        }

        return all;
      }

      Transcoding TryEngine(const ITranscodingEngine& engine, const std::string& target) const
      {
        const TimePoint start = Clock::now();
        const std::string obstacle =
            FindObstacleOfEngine(task_.source.image, target, engine.GetName());
        EngineResult result =
            obstacle.empty()
                ? engine.Transcode(task_.source.bytes.data(), task_.source.bytes.size(),
                                   {target, task_.settings.lossyQuality, task_.deadline})
                : EngineResult::MakeDeclined(obstacle);

        Transcoding transcoding = MakeUndone(result.outcome, target, result.reason);
        TranscodingReport& report = transcoding.report;
        report.duration = Clock::now() - start;
        report.engine = engine.GetName();
        transcoding.file = std::move(result.file);

        if (report.outcome == Outcome::Transcoded)
        {
          report.reason = CheckResult(task_, engine, target, transcoding);
          report.targetSize = transcoding.file.size();
        }

        if (report.outcome != Outcome::Transcoded || !report.reason.empty())
        {
          report.outcome =
              report.outcome == Outcome::Declined ? Outcome::Declined : Outcome::Failed;
          report.isOutOfTime = !report.IsDone() && Clock::now() >= task_.deadline;
          report.targetSize = 0;
          transcoding.file.clear();
        }

        return Report(std::move(transcoding));
      }

      ITranscodingObserver* const observer_;
      TranscodingTask task_;
    };
  }

  Engines MakeEngines(const std::filesystem::path& folder)
  {
    auto dcmtk = std::make_unique<WorkerEngine>("dcmtk", folder / "OrthancPerfDcmtk", 0);
    auto gdcm = std::make_unique<WorkerEngine>("gdcm", folder / "OrthancPerfGdcm", 0);
    Engines engines;
    engines.push_back(std::make_unique<NativeEngine>(
        std::vector<const ITranscodingEngine*>{dcmtk.get(), gdcm.get()}));
    engines.push_back(std::move(dcmtk));
    engines.push_back(std::move(gdcm));
    return engines;
  }

  Transcoder::Transcoder(EngineDirectory& engines, ITranscodingObserver* observer,
                         std::chrono::milliseconds patience) :
    engines_(engines),
    observer_(observer),
    patience_(patience),
    settings_(std::make_shared<const IngestTranscoding>())
  {
  }

  void Transcoder::SetSettings(const IngestTranscoding& settings)
  {
    auto copy = std::make_shared<const IngestTranscoding>(settings);
    const std::lock_guard<std::mutex> lock(mutex_);
    settings_.swap(copy);
  }

  std::shared_ptr<const IngestTranscoding> Transcoder::GetSettings() const noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return settings_;
  }

  template <typename Work>
  Transcoding Transcoder::Run(const ReceivedFile& file, const Work& work) noexcept
  {
    const std::size_t size = file.bytes.size();
    const auto settings = GetSettings();
    const TimePoint deadline = Clock::now() + patience_ + std::chrono::seconds(size >> 20);

    try
    {
      return work(InstanceTranscoding(observer_, {engines_, *settings, file, deadline}));
    }
    catch (const std::exception&)  // std::bad_alloc
    {
      Transcoding failed;
      failed.report.outcome = TranscodingOutcome::Failed;
      failed.report.sourceSize = size;
      failed.report.reason = "No memory";  // short enough to need none

      if (observer_ != nullptr)
      {
        observer_->OnTranscoding(failed.report);
      }

      return failed;
    }
  }

  Transcoding Transcoder::TranscodeIncoming(const ReceivedFile& file,
                                            const IsDuplicate& isDuplicate) noexcept
  {
    return Run(file, [&](InstanceTranscoding instance)
               { return instance.TranscodeIncoming(isDuplicate); });
  }

  Transcoding Transcoder::TranscodeTo(const ReceivedFile& file,
                                      const std::vector<std::string>& syntaxes) noexcept
  {
    return Run(file,
               [&](InstanceTranscoding instance) { return instance.TranscodeToOneOf(syntaxes); });
  }
}
