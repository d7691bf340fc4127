// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/StatusResource.h"

#include "Admission/MemoryLimit.h"
#include "Advisor/MemoryWatch.h"
#include "Network/OpenAssociations.h"
#include "Rest/RestJson.h"
#include "Tuning/TuningSchema.h"

namespace OrthancPerf
{
  namespace
  {
    Json::Value Describe(const Versions& versions)
    {
      Json::Value json;
      json["Plugin"] = versions.plugin;
      json["Orthanc"] = versions.orthanc;
      json["Sdk"] = versions.sdk;
      return json;
    }


    Json::Value Describe(const LatencyHistogram& latency)
    {
      Json::Value json;
      json["Count"] = ToJson(latency.GetCount());
      json["Total"] = ToJson(latency.GetSum());
      json["Mean"] = ToJson(latency.GetMean());
      json["P50"] = ToJson(latency.GetQuantile(0.5));
      json["P90"] = ToJson(latency.GetQuantile(0.9));
      json["P99"] = ToJson(latency.GetQuantile(0.99));
      json["Maximum"] = ToJson(latency.GetMaximum());
      return json;
    }


    Json::Value Describe(const TrafficSummary& traffic, const TrafficRates& rates)
    {
      Json::Value json = ToJson(traffic, rates);
      json["Phases"] = Json::objectValue;

      if (traffic.duration.GetCount() > 0)
      {
        json["Duration"] = Describe(traffic.duration);
      }

      for (const Phase phase : GetAllPhases())
      {
        const LatencyHistogram& latency = traffic.latencies.at(static_cast<std::size_t>(phase));

        if (latency.GetCount() > 0)
        {
          json["Phases"][ToKey(ToLabel(phase))] = Describe(latency);
        }
      }

      return json;
    }


    Json::Value Describe(const WindowSummary& window)
    {
      Json::Value json;
      json["Length"] = ToJson(window.length);
      json["Covered"] = ToJson(window.covered);

      for (const Direction direction : GetAllDirections())
      {
        json[ToKey(ToLabel(direction))] = Describe(
            window.directions.at(static_cast<std::size_t>(direction)), window.GetRates(direction));
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
      json["DroppedEvents"] = ToJson(recorder.CountDropped());
      json["RedirectedCalls"] = Json::objectValue;
      json["ForeignHooks"] = Json::objectValue;

      if (!probe.IsInstalled())
      {
        json["Reason"] = probe.GetProblem();
      }

      for (const RedirectionState& function : probe.GetStates())
      {
        json["RedirectedCalls"][function.name] = ToJson(static_cast<std::uint64_t>(function.slots));

        if (function.foreign > 0)
        {
          json["ForeignHooks"][function.name] =
              ToJson(static_cast<std::uint64_t>(function.foreign));
        }
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
  }


  void RegisterStatusResource(RestRouter& router, const StatusSources& sources)
  {
    const auto get = [sources](const RestRequest&)
    {
      Json::Value answer;
      answer["Versions"] = Describe(sources.versions);
      answer["StartedAt"] = ToJson(sources.startedAt);
      answer["Hooks"] = sources.state.DescribeHooks();
      answer["CallbackFailures"] = sources.state.DescribeFailures();
      answer["Warnings"] = sources.state.DescribeWarnings();
      answer["Tuning"]["NotYetInEffect"] = DescribeNotInEffect(sources);
      answer["Tuning"]["Allowed"] = sources.isTuningAllowed;
      answer["Tuning"]["Unsaved"] = sources.tuning.IsUnsaved();
      answer["Ingest"] = DescribeIngest(sources.tracker);
      answer["Probe"] = DescribeProbe(sources.probe, sources.recorder);
      answer["DicomSockets"] = DescribeSockets(sources.probe, sources.recorder);
      answer["Memory"] = DescribeMemory(sources.probe.GetAdmission());
      answer["Transcoding"] = DescribeTranscoding(sources.transcoding);
      answer["Windows"] = ListJson(sources.traffic.Summarize(),
                                   [](const WindowSummary& window) { return Describe(window); });
      return AnswerJson(answer);
    };

    router.Register("/perf/status", HttpMethod::Get,
                    "Versions, hooks, rates and phase percentiles over 10 s, 1 min and 5 min", get);
  }
}
