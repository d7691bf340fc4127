// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Admission/MemoryLimit.h"
#include "Dicom/TransferSyntax.h"
#include "Rest/RestJson.h"
#include "Tuning/TuningSchema.h"

namespace OrthancPerf
{
  namespace
  {
    Json::Value Describe(const PhaseHistogram& seconds)
    {
      return MakeObject({{"Count", ToJson(seconds.count)},
                         {"Total", seconds.sum},
                         {"Mean", seconds.GetMean()},
                         {"P50", seconds.GetQuantile(0.5)},
                         {"P90", seconds.GetQuantile(0.9)},
                         {"P99", seconds.GetQuantile(0.99)},
                         {"Maximum", seconds.maximum}});
    }

    Json::Value Describe(const TrafficSummary& traffic, const TrafficRates& rates)
    {
      Json::Value json = ToJson(traffic, rates);
      json["Phases"] = ListPhases(
          [&traffic](Phase phase)
          {
            const PhaseHistogram& seconds = traffic.latencies.at(static_cast<std::size_t>(phase));
            return seconds.count > 0 ? std::make_optional(Describe(seconds)) : std::nullopt;
          });

      if (traffic.duration.count > 0)
      {
        json["Duration"] = Describe(traffic.duration);
      }

      return json;
    }

    Json::Value Describe(const WindowSummary& window)
    {
      Json::Value json =
          MakeObject({{"Length", ToJson(window.length)}, {"Covered", ToJson(window.covered)}});

      for (std::size_t i = 0; i < TRAFFIC_COUNT; i++)
      {
        json[TRAFFIC_KEYS[i]] = Describe(window.directions[i], window.GetRates(i));
      }

      return json;
    }

    Json::Value DescribeIngest(const InstanceTracker& tracker)
    {
      Json::Value json;
      for (const Origin origin : GetAllOrigins())
      {
        json["InFlight"][ToLabel(origin)] =
            ToJson(static_cast<std::uint64_t>(tracker.CountInFlight(origin)));
      }

      return json;
    }

    // Everything that needs a part that is not there
    Json::Value DescribeNotInEffect(const StatusSources& sources)
    {
      const std::shared_ptr<const Tuning> tuning = sources.tuning.Get();
      const std::string& congestionControl = tuning->dicomSockets.congestionControl;
      const bool hasProbe = sources.probe.IsInstalled();
      Json::Value keys = Json::arrayValue;

      for (const auto& [isMissing, key] :
           {std::make_pair(!hasProbe, "DicomSockets.TcpQuickAck"),
            {!congestionControl.empty() &&
                 sources.probe.GetTrial().inForce.congestionControl != congestionControl,
             "DicomSockets.CongestionControl"},
            {!sources.transcoding.getProblem().empty(), "IngestTranscoding.TransferSyntax"},
            {!hasProbe && sources.probe.admission.GetFigures().limit != 0, "Memory.IngestBudget"},
            {!hasProbe && tuning->storage.writeAtOnce, "Storage.WriteAtOnce"}})
      {
        if (isMissing)
        {
          keys.append(key);
        }
      }

      for (const TuningKey& key : GetTuningKeys())
      {
        if (key.section == ANSWERS && !sources.answers.IsInstalled() &&
            key.write(*tuning) != BUFFER_DEFAULT)
        {
          keys.append(key.GetPath());
        }
      }

      return keys;
    }

    Json::Value DescribeProbe(const Probe& probe, const ConnectionTracker& connections)
    {
      Json::Value calls = Json::objectValue;

      for (const RedirectionState& function : probe.GetStates())
      {
        calls[function.name] = ToJson(static_cast<std::uint64_t>(function.slots));
      }

      return MakeObject({{"Installed", probe.IsInstalled()},
                         {"DroppedEvents", ToJson(connections.events.CountDropped())},
                         {"RedirectedCalls", calls},
                         {"Reason", OnlyIf(!probe.IsInstalled(), probe.GetProblem())}});
    }

    Json::Value Describe(const SocketOptions& options)
    {
      return MakeObject({{"TcpNoDelay", IfKnown(options.noDelay)},
                         {"ReceiveBuffer", IfKnown(options.receiveBuffer)},
                         {"ReceiveBufferFixed", IfKnown(options.isReceiveBufferFixed)},
                         {"SendBuffer", IfKnown(options.sendBuffer)},
                         {"SendBufferFixed", IfKnown(options.isSendBufferFixed)},
                         {"KeepAliveSeconds", IfKnown(options.keepAlive)},
                         {"UserTimeoutSeconds", IfKnown(options.userTimeout)},
                         {"CongestionControl", options.congestionControl}});
    }

    Json::Value DescribeMemory(const AdmissionQueue& admission)
    {
      const AdmissionFigures figures = admission.GetFigures();
      return MakeObject({{"IngestBudget", ToJson(figures.limit)},
                         {"Copies", ToJson(AdmissionQueue::COPIES)},
                         {"Held", ToJson(figures.held)},
                         {"InFlight", ToJson(figures.inFlight)},
                         {"Waiting", ToJson(figures.waiting)},
                         {"Waits", ToJson(figures.waits)},
                         {"Waited", ToJson(figures.waited)},
                         {"GivenUp", ToJson(figures.givenUp)},
                         {"Anonymous", ToJson(ReadProcessMemory("RssAnon:"))},
                         {"Peak", ToJson(ReadProcessMemory("VmHWM:"))},
                         {"Limit", IfAny(Json::UInt64(ReadMemoryLimit()))}});
    }

    Json::Value Describe(const OpenAssociation& open)
    {
      return MakeObject({{"Direction", ToKey(ToLabel(open.direction))},
                         {"Peer", open.peer.name},
                         {"Address", open.peer.address},
                         {"Age", ToJson(open.age)},
                         {"InForce", Describe(open.options)}});
    }

    // What the kernel makes of the tuning: on a socket that was made to try it, and on those open
    Json::Value DescribeSockets(const Probe& probe, const ConnectionTracker& connections)
    {
      const SettingsTrial trial = probe.GetTrial();
      return MakeObject({{"InForce", Describe(trial.inForce)},
                         {"Problems", ListJson(trial.problems,
                                               [](const std::string& problem) { return problem; })},
                         {"Connections", ListJson(connections.ListOpen(Clock::now()), Describe)}});
    }

    Json::Value Describe(const SyntaxVerdict& verdict)
    {
      const TransferSyntax* const syntax = FindWritableSyntax(verdict.transferSyntax);
      Json::Value json = MakeObject({{"TransferSyntax", verdict.transferSyntax},
                                     {"Name", syntax == nullptr ? "" : syntax->name},
                                     {"State", ToKey(ToLabel(verdict.state))},
                                     {"Reason", IfAny(verdict.reason)}});

      if (verdict.state == SyntaxVerdict::State::Works)
      {
        json["BytesPerSecond"] = verdict.bytesPerSecond;
        json["TriedLast"] = verdict.lastUntil > Clock::now();
      }

      return json;
    }

    Json::Value Describe(const EngineVerdict& verdict)
    {
      return MakeObject({{"Name", verdict.engine},
                         {"Available", verdict.isAvailable},
                         {"Syntaxes", ListJson(verdict.syntaxes, Describe)},
                         {"Reason", IfAny(verdict.reason)}});
    }

    Json::Value Describe(const PluginLock& lock)
    {
      return MakeObject({{"Known", lock.IsKnown()},
                         {"Released", ToJson(lock.CountReleased())},
                         {"Kept", ToJson(lock.CountKept())},
                         {"Reason", IfAny(lock.GetProblem())}});
    }

    Json::Value Describe(const EngineFailure& failure)
    {
      return MakeObject({{"Engine", OrNull(failure.engine)},
                         {"Target", failure.target},
                         {"Reason", failure.reason},
                         {"Count", ToJson(failure.count)}});
    }

    Json::Value DescribeTranscoding(const TranscodingSources& sources)
    {
      const std::string problem = sources.getProblem();
      return MakeObject({{"InEffect", problem.empty()},
                         {"Tested", sources.isTested()},
                         {"PluginLock", Describe(sources.lock)},
                         {"Reason", IfAny(problem)},
                         {"Engines", ListJson(sources.engines.GetVerdicts(), Describe)},
                         {"Failures", ListJson(sources.failures.Get(), Describe)}});
    }
  }

  void RegisterStatusResource(RestRouter& router, const StatusSources& sources)
  {
    const auto get = [sources](const RestRequest&)
    {
      Json::Value answer = sources.state.Get();
      answer["Versions"] = sources.versions;
      answer["StartedAt"] = ToJson(sources.startedAt);
      answer["Tuning"]["NotYetInEffect"] = DescribeNotInEffect(sources);
      answer["Tuning"]["Allowed"] = sources.isTuningAllowed;
      answer["Tuning"]["Unsaved"] = sources.tuning.IsUnsaved();
      answer["Ingest"] = DescribeIngest(sources.tracker);
      answer["Probe"] = DescribeProbe(sources.probe, sources.connections);
      answer["DicomSockets"] = DescribeSockets(sources.probe, sources.connections);
      answer["Memory"] = DescribeMemory(sources.probe.admission);
      answer["Transcoding"] = DescribeTranscoding(sources.transcoding);
      answer["Windows"] = ListJson(sources.traffic.SummarizeWindows(), Describe);
      return AnswerJson(answer);
    };

    router.Register("/perf/status", HttpMethod::Get,
                    "Versions, hooks, rates and phase percentiles over 10 s, 1 min and 5 min", get);
  }
}
