// SPDX-License-Identifier: GPL-3.0-or-later
#include "PluginContext.h"

#include "Admission/MemoryLimit.h"
#include "Advisor/Rule.h"
#include "Network/GatheredFile.h"
#include "Tuning/Json.h"
#include "Tuning/TuningReader.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::chrono::milliseconds HOUSEKEEPING_PERIOD(500);

    // The queue of events has to hold what comes meanwhile
    constexpr std::chrono::milliseconds DRAINING_PERIOD(50);

    // So that a finding has the time at which it came, though nobody asks for advice
    constexpr std::chrono::seconds ADVISING_PERIOD(5);

    // How often it is asked whether it is time to read the store
    constexpr std::chrono::seconds STORE_PERIOD(1);

    // Modalities come and go over REST
    constexpr std::chrono::seconds MODALITIES_PERIOD(5);

    constexpr std::chrono::seconds PATIENCE_FOR_JOBS(1);

    // For a question to Orthanc that is under way as it stops
    constexpr std::chrono::seconds PATIENCE_WITH_QUESTIONS(2);

    // Of Orthanc's database. Plugins choose a number of 1024 or more
    // (OrthancPluginSetGlobalProperty).
    constexpr std::int32_t TUNING_PROPERTY = 27042;

    // A response may be written in several pieces: its end is certain after a while only
    constexpr std::chrono::milliseconds QUIET(50);

    std::string ReadWhole(const char* path)
    {
      std::ifstream file(path, std::ios::binary);
      return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    TuningPersistence MakePersistence(const Orthanc& orthanc)
    {
      return {[&orthanc] { return orthanc.GetGlobalProperty(TUNING_PROPERTY); },
              [&orthanc](const std::string& text)
              {
                orthanc.SetGlobalProperty(TUNING_PROPERTY, text);
              }};
    }
  }

  PluginContext::PluginContext(OrthancPluginContext* context,
                               const Json::Value& orthancConfiguration,
                               const PerfConfiguration& configuration,
                               OrthancPluginTranscoderCallback transcode,
                               OrthancPluginIncomingHttpRequestFilter2 filterUpload) :
    orthanc(context),
    server(orthancConfiguration, FindConfigurationFolder(ReadWhole("/proc/self/cmdline"))),
    transcode_(transcode),
    filterUpload_(filterUpload),
    recentInstances_(configuration.recentInstances),
    recentRequests_(configuration.recentInstances),
    peers_(configuration.maximumPeers, [this] { return connections.ListOpen(Clock::now()); }),
    evidence_(peers_, server.dicomThreads),
    journal_({&traffic_, &peers_, &recentInstances_, &recentRequests_, &history_, &evidence_}),
    probe_({server.dicomPort, server.httpPort}, connections, {},
           DcmtkEnvironment::Parse(std::getenv("TCP_NODELAY"), std::getenv("TCP_BUFFER_LENGTH"))),
    tracker(journal_, connections),
    transcoding(
        orthanc, tracker, [this] { return ListJobTypes(); }, orthancConfiguration,
        configuration.socketProbe, [this](const std::string& warning) { Warn(warning); }),
    configuredTuning_(configuration.tuningDocument),
    tuning_(
        configuration.tuning,
        configuration.persistTuning ? std::make_optional(MakePersistence(orthanc)) : std::nullopt,
        [this](const Tuning& tuning) { OnTuningChanged(tuning); },
        // What is in force already is none of a change's faults
        [this](const Tuning& current, const Tuning& proposed)
        {
          if (!(proposed.ingestTranscoding == current.ingestTranscoding))
          {
            transcoding.Check(proposed.ingestTranscoding);
          }
        },
        [this](const std::string& line) { orthanc.LogWarning(line); }),
    advisorSources_(orthanc, orthancConfiguration, server, transcoding.GetEngines(), tracker,
                    connections.served),
    advisor_([this] { return GatherEvidence(); }, MakeAllRules()),
    health_(MakeHealthParts(orthanc, server, advisorSources_,
                            [this](BackgroundThread::Work work)
                            { Post(checking_, "WatchingHealth", std::move(work)); }))
  {
    SetDestinations(server.destinations);

    if (!isTranscoderRegistered_)
    {
      state.SetHook("Transcoder", false, "\"IngestTranscoding.OrthancTranscoding\" is false");
    }

    for (const std::string& warning : configuration.warnings)
    {
      Warn(warning);
    }

    RegisterRoutes(configuration);
    tuning_.Announce();

    if (configuration.socketProbe && !probe_.Install())
    {
      WarnOfProbe();
    }
  }

  void PluginContext::Start(const std::string& transcodingProblem)
  {
    LoadTuning();
    isStarted_ = true;
    RegisterUploadFilter();
    transcoding.Start(transcodingProblem);

    if (!probe_.Refresh())
    {
      WarnOfProbe();
    }

    if (probe_.IsInstalled())
    {
      answers_.Install();
    }

    Repeat(working_, "Draining", DRAINING_PERIOD, [this] { connections.events.Drain(journal_); });
    Repeat(working_, "Housekeeping", HOUSEKEEPING_PERIOD,
           [this]
           {
             Settle(QUIET);
             Look();
             transcoding.Tidy();
           });
    Repeat(working_, "Advising", ADVISING_PERIOD, [this] { advisor_.Advise(); });
    Repeat(asking_, "ReadingStore", STORE_PERIOD, [this] { ReadStore(); });
    Repeat(asking_, "ReadingModalities", MODALITIES_PERIOD, [this] { ReadModalities(); });

    // Last, as Orthanc asks its database for this, which may fail just now: then the advisor's
    // sources ask again
    advisorSources_.ReadServed();
  }

  void PluginContext::Post(BackgroundThread& thread, const char* callback,
                           BackgroundThread::Work work)
  {
    thread.Post([this, callback, work = std::move(work)] { Guard(callback, work); });
  }

  void PluginContext::Repeat(BackgroundThread& thread, const char* callback, Duration pause,
                             BackgroundThread::Work work)
  {
    thread.Repeat(pause, [this, callback, work = std::move(work)] { Guard(callback, work); });
  }

  // Orthanc calls this with a lock held (1.10.1: changeCallbackMutex_) that a job which begins or
  // ends may wait for, with the locks held that a question to Orthanc waits for. So a question that
  // is not answered soon gets on once this has returned, and is waited for by the destructor.
  void PluginContext::Stop()
  {
    // First, as Orthanc ends its servers once all messages are over
    probe_.admission.Stop();
    transcoding.Stop();
    asking_.StopRepeating(PATIENCE_WITH_QUESTIONS);
    checking_.StopRepeating(PATIENCE_WITH_QUESTIONS);
  }

  void PluginContext::OnCallbackFailure(const char* callback, const char* reason) noexcept
  {
    try
    {
      if (state.AddFailure(callback))
      {
        orthanc.LogError(std::string("the callback \"") + callback + "\" failed: " + reason +
                         "; Orthanc continues without it. /perf/status counts further failures "
                         "of this callback, which are not logged");
      }
    }
    catch (const std::exception&)
    {
      // There is no memory left to say so
    }
  }

  void PluginContext::Warn(const std::string& warning)
  {
    orthanc.LogWarning(warning);
    state.AddWarning(warning);
  }

  void PluginContext::OnTuningChanged(const Tuning& tuning) noexcept
  {
    Guard("TuningChanged",
          [this, &tuning]
          {
            evidence_.OnTuningChanged(tuning);
            answers_.SetLevels(tuning.answers);  // first, as none of these can fail
            GatheredFile::SetFolder(tuning.storage.writeAtOnce ? server.storageDirectory.c_str()
                                                               : nullptr);
            LimitMemory(tuning.memory);
            probe_.SetSettings(tuning.dicomSockets);
            transcoding.SetSettings(tuning.ingestTranscoding);

            for (const std::string& problem : probe_.GetTrial().problems)
            {
              orthanc.LogWarning("DicomSockets." + problem);
            }

            if (tuning.ingestTranscoding.orthancTranscoding)
            {
              RegisterTranscoder();
            }
          });
  }

  void PluginContext::WarnOfProbe()
  {
    Warn("the socket probe cannot be installed: " + probe_.GetProblem() +
         "; DICOM sockets take their options from the listening socket, without TcpQuickAck. The "
         "phases that need the probe are absent");
  }

  std::optional<std::set<std::string>> PluginContext::ListJobTypes()
  {
    return AskElsewhere<std::set<std::string>>(
        [this](BackgroundThread::Work work) { Post(working_, "WatchingJobs", std::move(work)); },
        [this] { return orthanc.ListJobTypes(); }, PATIENCE_FOR_JOBS);
  }

  void PluginContext::LoadTuning()
  {
    const std::vector<std::string> warnings = tuning_.Load().warnings;
    isTuningReported_ = tuning_.IsLoaded();

    if (std::exchange(isTuningAsked_, true) && !isTuningReported_)
    {
      return;  // said already
    }

    for (const std::string& warning : warnings)
    {
      Warn(warning);
    }

    const Json::Value overridden =
        DiffJson(ToJson(ApplyTuning(Tuning(), configuredTuning_)), ToJson(*tuning_.Get()));

    if (isTuningReported_ && !overridden.empty())
    {
      orthanc.LogWarning("changes saved over REST override the configuration: " +
                         ToText(overridden) + "; DELETE /perf/tuning returns to the configuration");
    }
  }

  void PluginContext::ReadStore()
  {
    advisorSources_.ReadStore();

    // Orthanc holds a lock of all plugins while it asks for this: only once its database has
    // answered. A change over REST may have loaded it before, without a report.
    if (advisorSources_.GetServed() && !isTuningReported_)
    {
      LoadTuning();
    }
  }

  // Orthanc answers from its memory, but with a lock that a change of its modalities holds while
  // the database writes it
  void PluginContext::ReadModalities()
  {
    try
    {
      const Json::Value modalities = orthanc.GetFromRestApi("/modalities?expand");
      SetDestinations(ReadDestinations(modalities, orthanc.GetFromRestApi("/peers?expand")));
    }
    catch (const SdkError&)
    {
      // What was known stays known; Orthanc's own log has the reason
    }
  }

  void PluginContext::SetDestinations(const std::vector<Destination>& destinations)
  {
    std::vector<std::string> titles;
    std::transform(destinations.begin(), destinations.end(), std::back_inserter(titles),
                   [](const Destination& destination) { return destination.title; });
    peers_.SetModalities(titles);
    connections.events.SetDestinations(destinations);
  }

  void PluginContext::LimitMemory(const MemoryTuning& settings)
  {
    probe_.admission.Set(settings.ingestBudget.Resolve(ReadMemoryLimit()), settings.ingestWait);
    RegisterUploadFilter();
  }

  // Behind the filters that are registered at the start. Not before there is a budget: Orthanc
  // (1.10.1 to 1.13.0) lets no request in while a filter is registered and another plugin's is
  // still at work, such as one that asks a web service.
  void PluginContext::RegisterUploadFilter()
  {
    if (isStarted_ && probe_.admission.IsActive())
    {
      std::call_once(isUploadFilterRegistered_,
                     [this] {
                       OrthancPluginRegisterIncomingHttpRequestFilter2(orthanc.GetContext(),
                                                                       filterUpload_);
                     });
    }
  }

  // Not before somebody wants it: with a transcoder that declines everything, Orthanc would still
  // write anew what it has parsed, for the transcoder to read, and take other ways when it can't
  // decode a frame (ServerContext::DecodeDicomFrame in 1.12.7; ServerTranscoder::DecodeFrame in
  // 1.13.0, which then answers with another error). It knows no way to take a transcoder back.
  //
  // Orthanc registers it with its plugin lock held, and waits there until no transcoder or decoder
  // of a plugin is at work (decoderTranscoderMutex_). That ends, unless one of them calls a service
  // that takes the plugin lock (InvokeProtectedService in 1.10.1 and 1.12.7): most of those
  // register callbacks, and none is of use to a transcoder. Ours calls none, and none was met
  // beside orthanc-gdcm.
  void PluginContext::RegisterTranscoder()
  {
    if (!isTranscoderRegistered_)
    {
      OrthancPluginRegisterTranscoderCallback(orthanc.GetContext(), transcode_);
      isTranscoderRegistered_ = true;
      state.SetHook("Transcoder", true);
    }
  }

  void PluginContext::Settle(Duration quiet) noexcept
  {
    Guard("Housekeeping",
          [this, quiet]
          {
            connections.events.Drain(journal_);
            tracker.Settle(Clock::now(), quiet);
          });
  }
}
