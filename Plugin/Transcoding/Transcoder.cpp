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
      // "engines" are those of the task. All outlive this object.
      InstanceTranscoding(EngineDirectory& engines, ITranscodingObserver* observer,
                          const TranscodingTask& task) :
        engines_(engines),
        observer_(observer),
        task_(task),
        settings_(task.settings),
        file_(task.source)
      {
      }

      // Leaves alone what need not be transcoded, and what would stay the same instance, which the
      // store has. Of lossy compression comes another one, known only when it is done.
      Transcoding TranscodeIncoming(const IsDuplicate& isDuplicate)
      {
        const std::string& target = settings_.transferSyntax;

        if (target.empty())
        {
          return {};
        }

        if (*file_.problem != '\0')
        {
          // DCMTK's leniency may accept this one, and Orthanc stores it; the others it refuses
          const bool mayBeStored = file_.dataSet.result == ReadResult::Malformed && file_.hasPrefix;
          return mayBeStored ? Leave(Outcome::Declined, "", target, file_.problem)
                             : MakeUndone(Outcome::Unneeded, target, file_.problem);
        }

        std::string reason = FindReasonToLeaveAlone(file_.image, target);

        if (reason.empty() && !settings_.ofCompressed &&
            (file_.image.isDeflated || IsEncapsulated(file_.image.transferSyntax)))
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

          if (isDuplicate(file_.identity))
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
        if (std::find(targets.begin(), targets.end(), file_.image.transferSyntax) != targets.end())
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
        transcoding.report.sourceSize = file_.bytes.size();
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
        const EngineChoice choice = settings_.engine;

        if (!obstacle.empty())
        {
          return Leave(Outcome::Declined, "", target, obstacle);
        }

        return choice == EngineChoice::Automatic ? TryInTurn(target)
                                                 : TryNamedEngine(ToLabel(choice), target);
      }

      std::string FindObstacleOfFile(const std::string& target) const
      {
        if (*file_.problem != '\0')
        {
          return file_.problem;
        }

        if (!file_.hasPrefix || file_.image.transferSyntax.empty())
        {
          return "without preamble or Transfer Syntax UID, so that programs guess how it is "
                 "encoded";
        }

        std::string obstacle = FindObstacle(file_.image, target);

        if (obstacle.empty() && !file_.identity.IsKnown())
        {
          obstacle = "with an identifier in another form than DICOM wants, which programs read in "
                     "several ways";
        }

        return obstacle.empty() && task_.isIncoming ? FindLossOfPicture(file_.image, target)
                                                    : obstacle;
      }

      Transcoding TryNamedEngine(const std::string& name, const std::string& target)
      {
        const ITranscodingEngine* const engine = engines_.Find(name, target);
        return engine == nullptr
                   ? Leave(Outcome::Declined, name, target, engines_.Explain(name, target))
                   : TryEngine(*engine, target);
      }

      Transcoding TryInTurn(const std::string& target)
      {
        const auto engines = engines_.ListForAuto(target, Clock::now());

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
            engines_.PutLast(engine->GetName(), target, Clock::now());
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
        const std::string obstacle = FindObstacleOfEngine(file_.image, target, engine.GetName());
        EngineResult result =
            obstacle.empty() ? engine.Transcode(file_.bytes.data(), file_.bytes.size(),
                                                {target, settings_.lossyQuality, task_.deadline})
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

      EngineDirectory& engines_;
      ITranscodingObserver* const observer_;
      TranscodingTask task_;
      const IngestTranscoding& settings_;
      const ReceivedFile& file_;
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
      return work(InstanceTranscoding(engines_, observer_, {engines_, *settings, file, deadline}));
    }
    catch (const std::exception&)  // std::bad_alloc
    {
      Transcoding failed;
      failed.report.outcome = TranscodingOutcome::Failed;
      failed.report.sourceSize = size;
      failed.report.reason = "No memory";  // short enough to need none
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
