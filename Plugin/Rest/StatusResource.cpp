// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/StatusResource.h"

#include "Admission/MemoryLimit.h"
#include "Advisor/MemoryWatch.h"
#include "Dicom/TransferSyntax.h"
#include "Rest/RestJson.h"
#include "Tuning/TuningSchema.h"

namespace OrthancPerf
{
  namespace
  {
    Json::Value Describe(const PhaseHistogram& seconds)
    {
      Json::Value json;
      json["Count"] = ToJson(seconds.count);
      json["Total"] = seconds.sum;
      json["Mean"] = seconds.GetMean();
      json["P50"] = seconds.GetQuantile(0.5);
      json["P90"] = seconds.GetQuantile(0.9);
      json["P99"] = seconds.GetQuantile(0.99);
      json["Maximum"] = seconds.maximum;
      return json;
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
      Json::Value json;
      json["Length"] = ToJson(window.length);
      json["Covered"] = ToJson(window.covered);

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
      Json::Value keys = Json::arrayValue;

      if (!sources.probe.IsInstalled())
      {
        keys.append("DicomSockets.TcpQuickAck");
      }

      const std::string congestionControl = sources.tuning.Get()->dicomSockets.congestionControl;

      if (!congestionControl.empty() &&
          sources.probe.GetTrial().inForce.congestionControl != congestionControl)
      {
        keys.append("DicomSockets.CongestionControl");
      }

      if (!sources.transcoding.getProblem().empty())
      {
        keys.append("IngestTranscoding.TransferSyntax");
      }

      if (!sources.probe.IsInstalled() && sources.probe.GetAdmission().GetFigures().limit != 0)
      {
        keys.append("Memory.IngestBudget");
      }

      if (!sources.probe.IsInstalled() && sources.tuning.Get()->storage.writeAtOnce)
      {
        keys.append("Storage.WriteAtOnce");
      }

      for (const TuningKey& key : GetTuningKeys())
      {
        if (key.section == ANSWERS && !sources.answers.IsInstalled() &&
            key.write(*sources.tuning.Get()) != BUFFER_DEFAULT)
        {
          keys.append(key.GetPath());
        }
      }

      return keys;
    }


    Json::Value DescribeProbe(const Probe& probe, const MessageRecorder& recorder)
    {
      Json::Value json;
      json["Installed"] = probe.IsInstalled();
      json["DroppedEvents"] = ToJson(recorder.GetEvents().CountDropped());
      json["RedirectedCalls"] = Json::objectValue;

      if (!probe.IsInstalled())
      {
        json["Reason"] = probe.GetProblem();
      }

      for (const RedirectionState& function : probe.GetStates())
      {
        json["RedirectedCalls"][function.name] = ToJson(static_cast<std::uint64_t>(function.slots));
      }

      return json;
    }


    Json::Value Describe(const SocketOptions& options)
    {
      Json::Value json;
      AddIfKnown(json, "TcpNoDelay", options.noDelay);
      AddIfKnown(json, "ReceiveBuffer", options.receiveBuffer);
      AddIfKnown(json, "ReceiveBufferFixed", options.isReceiveBufferFixed);
      AddIfKnown(json, "SendBuffer", options.sendBuffer);
      AddIfKnown(json, "SendBufferFixed", options.isSendBufferFixed);
      AddIfKnown(json, "KeepAliveSeconds", options.keepAlive);
      AddIfKnown(json, "UserTimeoutSeconds", options.userTimeout);
      json["CongestionControl"] = options.congestionControl;
      return json;
    }


    Json::Value DescribeMemory(const AdmissionQueue& admission)
    {
      const AdmissionFigures figures = admission.GetFigures();
      const std::uint64_t limit = ReadMemoryLimit();
      const ProcessMemory process = ProcessMemory::Read();

      Json::Value json;
      json["IngestBudget"] = ToJson(figures.limit);
      json["Copies"] = ToJson(AdmissionQueue::COPIES);
      json["Held"] = ToJson(figures.held);
      json["InFlight"] = ToJson(figures.inFlight);
      json["Waiting"] = ToJson(figures.waiting);
      json["Waits"] = ToJson(figures.waits);
      json["Waited"] = ToJson(figures.waited);
      json["GivenUp"] = ToJson(figures.givenUp);
      json["Anonymous"] = ToJson(process.anonymous);
      json["Peak"] = ToJson(process.peak);

      if (limit != 0)
      {
        json["Limit"] = ToJson(limit);
      }

      return json;
    }


    Json::Value Describe(const OpenAssociation& open)
    {
      Json::Value json;
      json["Direction"] = ToKey(ToLabel(open.direction));
      json["Peer"] = open.peer.name;
      json["Address"] = open.peer.address;
      json["Age"] = ToJson(open.age);
      json["InForce"] = Describe(open.options);
      return json;
    }


    // What the kernel makes of the tuning: on a socket that was made to try it, and on those open
    Json::Value DescribeSockets(const Probe& probe, const MessageRecorder& recorder)
    {
      const SettingsTrial trial = probe.GetTrial();

      Json::Value json;
      json["InForce"] = Describe(trial.inForce);
      json["Problems"] =
          ListJson(trial.problems, [](const std::string& problem) { return problem; });
      json["Connections"] = ListJson(GetOpenAssociations(recorder, Clock::now()),
                                     [](const OpenAssociation& open) { return Describe(open); });
      return json;
    }


    Json::Value Describe(const SyntaxVerdict& verdict)
    {
      const TransferSyntax* const syntax = FindWritableSyntax(verdict.transferSyntax);

      Json::Value json;
      json["TransferSyntax"] = verdict.transferSyntax;
      json["Name"] = syntax == nullptr ? "" : syntax->name;
      json["State"] = ToKey(ToLabel(verdict.state));

      if (verdict.state == SyntaxVerdict::State::Works)
      {
        json["BytesPerSecond"] = verdict.bytesPerSecond;
        json["TriedLast"] = verdict.lastUntil > Clock::now();
      }

      AddText(json, "Reason", verdict.reason);
      return json;
    }


    Json::Value Describe(const EngineVerdict& verdict)
    {
      Json::Value json;
      json["Name"] = verdict.engine;
      json["Available"] = verdict.isAvailable;
      json["Syntaxes"] =
          ListJson(verdict.syntaxes, [](const SyntaxVerdict& syntax) { return Describe(syntax); });
      AddText(json, "Reason", verdict.reason);
      return json;
    }


    Json::Value Describe(const PluginLock& lock)
    {
      Json::Value json;
      json["Known"] = lock.IsKnown();
      json["Released"] = ToJson(lock.CountReleased());
      json["Kept"] = ToJson(lock.CountKept());
      AddText(json, "Reason", lock.GetProblem());
      return json;
    }


    Json::Value Describe(const EngineFailure& failure)
    {
      Json::Value json;
      json["Engine"] = failure.engine.empty() ? Json::Value() : Json::Value(failure.engine);
      json["Target"] = failure.target;
      json["Reason"] = failure.reason;
      json["Count"] = ToJson(failure.count);
      return json;
    }


    Json::Value DescribeTranscoding(const TranscodingSources& sources)
    {
      const std::string problem = sources.getProblem();

      Json::Value json;
      json["InEffect"] = problem.empty();
      json["Tested"] = sources.isTested();
      json["PluginLock"] = Describe(sources.lock);
      AddText(json, "Reason", problem);

      json["Engines"] = ListJson(sources.engines.GetVerdicts(),
                                 [](const EngineVerdict& verdict) { return Describe(verdict); });
      json["Failures"] = ListJson(sources.failures.Get(),
                                  [](const EngineFailure& failure) { return Describe(failure); });
      return json;
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
      answer["Probe"] = DescribeProbe(sources.probe, sources.recorder);
      answer["DicomSockets"] = DescribeSockets(sources.probe, sources.recorder);
      answer["Memory"] = DescribeMemory(sources.probe.GetAdmission());
      answer["Transcoding"] = DescribeTranscoding(sources.transcoding);
      answer["Windows"] = ListJson(sources.traffic.SummarizeWindows(),
                                   [](const WindowSummary& window) { return Describe(window); });
      return AnswerJson(answer);
    };

    router.Register("/perf/status", HttpMethod::Get,
                    "Versions, hooks, rates and phase percentiles over 10 s, 1 min and 5 min", get);
  }
}
