// SPDX-License-Identifier: GPL-3.0-or-later
#include "TranscodingContext.h"

#include "Dicom/TransferSyntax.h"
#include "Redirection/ModuleFolder.h"
#include "Sdk/RestCallback.h"
#include "Tuning/Json.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Of an Orthanc that stops: its servers end once all messages are answered
    constexpr std::chrono::seconds PATIENCE_WITH_ENGINES(2);

    // Of questions for duplicates
    constexpr std::chrono::seconds LONGEST_PAUSE(1);

    std::string GetOwnProblem(const Json::Value& orthancConfiguration)
    {
      const Json::Value& own = orthancConfiguration["IngestTranscoding"];
      return own.isString() && !own.asString().empty()
                 ? "Orthanc's own \"IngestTranscoding\" is configured, and has the last word: "
                   "instances are stored as " +
                       own.asString() + ", by the engine chosen here"
                 : "";
    }

    // Whether Orthanc refuses an instance that it has: its default. A boolean; from 1.13.0 on also
    // a text. "IfChanged" compares the file that is to be stored, which has to be made for that.
    bool KeepsWhatItHas(const Json::Value& orthancConfiguration)
    {
      const Json::Value& overwrites = orthancConfiguration["OverwriteInstances"];
      return overwrites.isString() ? overwrites.asString() == "Never"
                                   : !overwrites.isBool() || !overwrites.asBool();
    }

    TranscodingRecord Describe(const TranscodingReport& report)
    {
      TranscodingRecord transcoding;
      transcoding.engine = report.engine;
      transcoding.target = report.target;
      transcoding.outcome = ToLabel(report.outcome);
      transcoding.reason = report.reason.substr(0, MAXIMUM_TRANSCODING_REASON);
      transcoding.isVerified = report.verification.count() > 0;
      transcoding.size = report.targetSize;
      return transcoding;
    }
  }

  TranscodingContext::TranscodingContext(const Orthanc& orthanc, InstanceTracker& tracker,
                                         ListJobTypes listJobTypes,
                                         const Json::Value& orthancConfiguration, bool mayRedirect,
                                         Warn warn) :
    orthanc_(orthanc),
    tracker_(tracker),
    listJobTypes_(std::move(listJobTypes)),
    warn_(std::move(warn)),
    problem_(GetOwnProblem(orthancConfiguration)),
    failures_([this](const std::string& line)
              { orthanc_.LogWarning(line + "; further failures of this kind are counted only"); }),
    isDuplicate_(KeepsWhatItHas(orthancConfiguration)
                     ? [this](const InstanceIdentity& instance) { return IsStored(instance); }
                     : IsDuplicate()),
    engines_(MakeEngines(GetModuleFolder())),
    transcoder_(engines_, this)
  {
    FindLock(mayRedirect);
    selfTest_ = std::async(std::launch::async, [this] { engines_.TestAll(); }).share();
  }

  void TranscodingContext::Start(const std::string& problem)
  {
    if (problem_.empty())
    {
      problem_ = problem;
    }

    isStarted_ = true;
    report_ = std::async(std::launch::async, [this] { ReportEngines(); });
  }

  TranscodingContext::~TranscodingContext()
  {
    engines_.Stop();  // or the self-test might take a while
  }

  void TranscodingContext::Tidy() noexcept
  {
    const TimePoint hanging = Clock::now() - PATIENCE_WITH_ENGINES;
    engines_.Tidy(stoppedAt_.load() <= hanging ? hanging : TimePoint::min());
  }

  void TranscodingContext::SetSettings(const IngestTranscoding& settings)
  {
    const bool isNewTarget = settings.transferSyntax != transcoder_.GetSettings()->transferSyntax;
    const bool wasInEffect = GetProblem().empty();
    metrics_.Expect(settings);

    const std::lock_guard<std::mutex> lock(reporting_);
    transcoder_.SetSettings(settings);

    if (isReported_ && (isNewTarget || !wasInEffect))
    {
      ReportEffect(settings);
    }
  }

  void TranscodingContext::Check(const IngestTranscoding& settings) const
  {
    selfTest_.wait();
    engines_.Check(settings);
  }

  bool TranscodingContext::TranscodeReceived(Origin origin, const ReceivedFile& file,
                                             OrthancPluginMemoryBuffer64& replacement)
  {
    if (!isStarted_ || !problem_.empty() || transcoder_.GetSettings()->transferSyntax.empty())
    {
      return false;
    }

    const PluginLock::Release release(lock_);

    if (IsOfJob(origin))
    {
      return false;
    }

    tracker_.OnTranscoderBegin(Clock::now());
    selfTest_.wait();
    Transcoding transcoding = transcoder_.TranscodeIncoming(file, isDuplicate_);
    return HandOver(transcoding, replacement);
  }

  bool TranscodingContext::TranscodeFor(const void* data, std::size_t size,
                                        const std::vector<std::string>& syntaxes,
                                        OrthancPluginMemoryBuffer& target)
  {
    if (!transcoder_.GetSettings()->orthancTranscoding)
    {
      return false;
    }

    tracker_.OnTranscoderBegin(Clock::now());
    selfTest_.wait();
    Transcoding transcoding = transcoder_.TranscodeTo(ReceivedFile(data, size), syntaxes);

    if (transcoding.report.outcome == TranscodingOutcome::Unneeded)
    {
      transcoding.file.assign(static_cast<const char*>(data), size);
    }

    return HandOver(transcoding, target);
  }

  TranscodingSources TranscodingContext::GetSources() const
  {
    return {engines_, failures_, lock_, [this] { return IsTested(); },
            [this]
            {
              return GetProblem();
            }};
  }

  std::string TranscodingContext::GetProblem() const
  {
    if (!isStarted_)
    {
      return "Orthanc has not started yet";
    }

    return problem_.empty() && IsTested() ? FindMissingEngine(*transcoder_.GetSettings())
                                          : problem_;
  }

  // What the engines there are cannot do of what the settings ask for; empty: nothing. When the
  // engines have been tested.
  std::string TranscodingContext::FindMissingEngine(const IngestTranscoding& settings) const
  {
    const std::vector<EngineVerdict> verdicts = engines_.GetVerdicts();

    if (std::none_of(verdicts.begin(), verdicts.end(),
                     [](const EngineVerdict& verdict) { return verdict.isAvailable; }))
    {
      return "no transcoding engine is available: " + verdicts.front().reason;
    }

    try
    {
      engines_.Check(settings);
      return "";
    }
    catch (const SettingError& error)
    {
      return error.what();
    }
  }

  // Whether the index has it. New instances must not pay for that, however far away the database
  // is. So after "not there", or a failure, nothing is asked for a hundred times as long as the
  // answer took.
  bool TranscodingContext::IsStored(const InstanceIdentity& instance) noexcept
  {
    const TimePoint begin = Clock::now();

    if (begin < noQuestionBefore_.load())
    {
      return false;
    }

    try
    {
      const std::string id = instance.GetInstanceId();

      if (id.empty() || orthanc_.FindInRestApi("/instances/" + id + "/attachments/dicom/size"))
      {
        return !id.empty();
      }
    }
    catch (const std::exception&)
    {
      // Nobody can tell
    }

    const TimePoint end = Clock::now();
    noQuestionBefore_ = end + std::min<Duration>(100 * (end - begin), LONGEST_PAUSE);
    return false;
  }

  bool TranscodingContext::IsTested() const
  {
    return selfTest_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  void TranscodingContext::OnTranscoding(const TranscodingReport& report) noexcept
  {
    metrics_.OnTranscoding(report);
    failures_.OnTranscoding(report);
  }

  // What Orthanc itself makes of stored instances is not received. For a replacement, it would
  // forget of which instance it was made (ServerContext::Store, 1.10.1 to 1.13.0: metadata are not
  // copied), and another SOP Instance UID would be none that its job knows. Where nobody can tell,
  // it is left alone.
  bool TranscodingContext::IsOfJob(Origin origin)
  {
    if (origin == Origin::DicomProtocol || origin == Origin::WebDav || ServesHttp() ||
        tracker_.IsOfMessage())
    {
      return false;
    }

    // Those of Lua scripts also send, for long
    const std::optional<std::set<std::string>> types = listJobTypes_();
    return !types || types->count("ResourceModification") != 0 || types->count("MergeStudy") != 0 ||
           types->count("SplitStudy") != 0 ||
           (origin == Origin::Lua && types->count("SequenceOfOperations") != 0);
  }

  void TranscodingContext::FindLock(bool mayRedirect)
  {
    if (!mayRedirect)
    {
      lock_.SetProblem("\"SocketProbe\" is false");
    }
    // Of the services that take the lock (OrthancPlugins::InvokeProtectedService), the one that
    // does the least
    else if (!lock_.Find([this]
                         { OrthancPluginGetCommandLineArgumentsCount(orthanc_.GetContext()); }))
    {
      warn_("received instances are transcoded one at a time, as Orthanc's plugin lock was not "
            "found: " +
            lock_.GetProblem());
    }
  }

  // Once the engines are tested: what the log has to say of the settings
  void TranscodingContext::ReportEffect(const IngestTranscoding& settings) const
  {
    const std::string problem = problem_.empty() ? FindMissingEngine(settings) : problem_;

    if (!problem.empty() && !settings.transferSyntax.empty())
    {
      warn_((problem_.empty() ? "instances are stored as received: "
                              : "IngestTranscoding.TransferSyntax has no effect: ") +
            problem);
    }
    else if (problem.empty() && IsLossy(settings.transferSyntax))
    {
      orthanc_.LogWarning("received instances are compressed with loss from now on (" +
                          GetSyntaxName(settings.transferSyntax) + ", quality " +
                          std::to_string(settings.lossyQuality) +
                          "): the received pixels are not kept. Each image becomes a new instance, "
                          "whose UID other objects and storage commitment do not know");
    }
  }

  void TranscodingContext::ReportEngines()
  {
    selfTest_.wait();

    // What it has found then may be that they were stopped
    if (stoppedAt_.load() != TimePoint::max())
    {
      return;
    }

    for (const EngineVerdict& verdict : engines_.GetVerdicts())
    {
      if (!verdict.isAvailable)
      {
        orthanc_.LogWarning("the engine \"" + verdict.engine +
                            "\" is not available: " + verdict.reason);
      }

      for (const SyntaxVerdict& syntax : verdict.syntaxes)
      {
        if (verdict.isAvailable && syntax.state == SyntaxVerdict::State::SwitchedOff)
        {
          orthanc_.LogWarning("the engine \"" + verdict.engine + "\" does not transcode to " +
                              GetSyntaxName(syntax.transferSyntax) + " here: " + syntax.reason);
        }
      }
    }

    const std::lock_guard<std::mutex> lock(reporting_);
    isReported_ = true;
    ReportEffect(*transcoder_.GetSettings());
  }

  // Whether Orthanc has the file: it may have no memory for it, or none for one of 4 GB. Adds the
  // transcoding to the timeline of the instance on this thread, if there is one.
  template <typename Buffer>
  bool TranscodingContext::HandOver(Transcoding& transcoding, Buffer& target)
  {
    try
    {
      if (!transcoding.file.empty())
      {
        orthanc_.CopyTo(target, transcoding.file);
      }
    }
    catch (const SdkError& error)
    {
      transcoding.Fail(std::string("Orthanc does not take the result: ") + error.what());
      failures_.OnTranscoding(transcoding.report);
    }

    failures_.OnEnd(transcoding.report);

    if (transcoding.report.outcome != TranscodingOutcome::Unneeded)
    {
      const auto identity =
          transcoding.file.empty() ? std::nullopt : std::make_optional(transcoding.identity);
      tracker_.OnTranscoderEnd(Clock::now(), Describe(transcoding.report), identity);
    }

    return !transcoding.file.empty();
  }
}
