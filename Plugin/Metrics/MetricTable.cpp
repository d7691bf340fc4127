// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MetricTable.h"

#include <type_traits>

namespace OrthancPerf
{
  namespace
  {
    using Number = std::optional<double>;
    using Labels = MetricWriter::Labels;
    using Write = decltype(MetricRow::write);

    constexpr MetricType COUNTER = MetricType::Counter;
    constexpr MetricType GAUGE = MetricType::Gauge;
    constexpr MetricType HISTOGRAM = MetricType::Histogram;

    // As a number, times in seconds; a histogram stays one
    template <typename Value>
    auto Convert(const Value& value)
    {
      if constexpr (std::is_same_v<Value, Duration>)
      {
        return Number(ToSeconds(value));
      }
      else if constexpr (std::is_arithmetic_v<Value>)
      {
        return Number(static_cast<double>(value));
      }
      else
      {
        return value;
      }
    }

    template <typename Value>
    Number Convert(const std::optional<Value>& value)
    {
      return value ? Convert(*value) : std::nullopt;
    }

    template <typename Value>
    Number If(bool isKnown, const Value& value)
    {
      return isKnown ? Convert(value) : std::nullopt;
    }

    Labels With(Labels labels, const char* label, const std::string& value)
    {
      labels[label] = value;
      return labels;
    }

    // Writes what "get" says of a line, or lets it write its series
    template <typename Line, typename Get>
    void Put(MetricWriter& writer, const Labels& labels, const Line& line, const Get& get)
    {
      if constexpr (std::is_invocable_v<Get, const Line&>)
      {
        writer.Add(labels, Convert(std::invoke(get, line)));
      }
      else
      {
        get(writer, labels, line);
      }
    }

    // The writers of rows. "get" of a line is a member of it, a function, or By.

    // Of each line of a list, in the order of an enumeration
    template <typename Enum, typename Lines, typename Get>
    Write PerValue(const char* label, Lines lines, Get get)
    {
      return [=](const MetricFigures& figures, MetricWriter& writer)
      {
        for (std::size_t i = 0; i < (figures.*lines).size(); i++)
        {
          Put(writer, {{label, ToLabel(static_cast<Enum>(i))}}, (figures.*lines)[i], get);
        }
      };
    }

    template <typename Get>
    Write PerOrigin(Get get)
    {
      return PerValue<Origin>("origin", &MetricFigures::origins, get);
    }

    template <typename Get>
    Write PerClass(Get get)
    {
      return PerValue<RouteClass>("class", &MetricFigures::reads, get);
    }

    template <typename Get>
    Write PerPeer(Get get)
    {
      return [get](const MetricFigures& figures, MetricWriter& writer)
      {
        for (const PeerSummary& peer : figures.peers)
        {
          for (const Direction direction : GetAllDirections())
          {
            const Labels labels = {{"direction", ToLabel(direction)}};
            Put(writer, peer.name.empty() ? labels : With(labels, "peer", peer.name),
                peer.directions[static_cast<std::size_t>(direction)], get);
          }
        }
      };
    }

    template <typename Get>
    Write PerEngine(Get get)
    {
      return [get](const MetricFigures& figures, MetricWriter& writer)
      {
        for (const EngineAttempts& line : figures.transcodings)
        {
          Put(writer, {{"engine", line.engine}, {"target", line.target}}, line, get);
        }
      };
    }

    template <typename Values>
    Write PerName(const char* label, Values MetricFigures::*values)
    {
      return [=](const MetricFigures& figures, MetricWriter& writer)
      {
        for (const auto& [name, value] : figures.*values)
        {
          writer.Add({{label, name}}, Convert(value));
        }
      };
    }

    template <typename Get>
    Write OfServer(Get get)
    {
      return [get](const MetricFigures& figures, MetricWriter& writer)
      {
        Put(writer, {}, figures, get);
      };
    }

    template <typename Value>
    Write OfBudget(Value AdmissionFigures::*value)
    {
      return OfServer([value](const MetricFigures& figures)
                      { return figures.budget ? Convert((*figures.budget).*value) : Number(); });
    }

    // The series of a line with these labels: elements of an array
    template <typename Texts, typename Line, typename Array>
    auto By(const char* name, const Texts& labels, Array Line::*elements)
    {
      return [=](MetricWriter& writer, const Labels& ofLine, const Line& line)
      {
        for (std::size_t i = 0; i < labels.size(); i++)
        {
          writer.Add(With(ofLine, name, ToLabel(labels[i])), Convert((line.*elements)[i]));
        }
      };
    }

    // The same, for each value of an enumeration, by a function
    template <typename Enum, typename Get>
    auto By(const char* name, Get get)
    {
      return [=](MetricWriter& writer, const Labels& ofLine, const auto& line)
      {
        for (const Enum value : ListAll<Enum>())
        {
          writer.Add(With(ofLine, name, ToLabel(value)), Convert(std::invoke(get, line, value)));
        }
      };
    }

    // A sum of traffic, if it is observed there
    auto Sum(double TrafficBucket::*sum, bool TrafficBucket::*isObserved)
    {
      return [=](const TrafficBucket& traffic)
      {
        return If(traffic.*isObserved, traffic.*sum);
      };
    }

    // What the kernel said of a peer's latest connection; zero: nothing
    template <typename Value>
    auto OfConnection(Value TcpSummary::*value)
    {
      return [=](const PeerTraffic& line)
      {
        const std::optional<TcpSummary>& tcp = line.associations.tcp;
        return tcp && (*tcp).*value != Value() ? Convert((*tcp).*value) : Number();
      };
    }

    std::vector<MetricRow> MakeTable()
    {
      std::vector<MetricRow> table = {
          {"build_info", GAUGE, "version, orthanc",
           "Versions of the performance plugin and of Orthanc; the value is always 1.",
           [](const MetricFigures& figures, MetricWriter& writer)
           {
             writer.Add({{"version", figures.version}, {"orthanc", figures.orthancVersion}},
                        If(!figures.version.empty(), 1));
           }},
          {"start_time_seconds", GAUGE, "",
           "Unix time at which the plugin was loaded and its counters began at zero.",
           OfServer(&MetricFigures::startTime)},
          {"ingest_instances_total", COUNTER, "origin, outcome", "Instances received, by outcome.",
           PerOrigin(By("outcome", GetAllOutcomes(), &TrafficBucket::outcomes))},
          {"ingest_bytes_total", COUNTER, "origin",
           "Bytes of all instances received, with any outcome.", PerOrigin(&TrafficBucket::bytes)},
          {"ingest_phase_seconds", HISTOGRAM, "origin, phase",
           "Time of a received instance in each phase of its ingest.",
           PerOrigin(By("phase", GetAllPhases(), &TrafficSummary::latencies))},
          {"ingest_remote_round_trips_total", COUNTER, "origin",
           "Round trips to the object storage for received instances.",
           PerOrigin(Sum(&TrafficBucket::remoteRoundTrips, &TrafficBucket::isRemoteObserved))},
          {"ingest_database_round_trips_total", COUNTER, "origin",
           "Round trips to the database server for received instances.",
           PerOrigin(Sum(&TrafficBucket::databaseRoundTrips, &TrafficBucket::isDatabaseObserved))},
          {"ingest_database_queued_seconds_total", COUNTER, "origin",
           "Time that received instances waited for a free connection to the database server.",
           PerOrigin(Sum(&TrafficBucket::queuedSeconds, &TrafficBucket::isDatabaseObserved))},
          {"ingest_in_flight", GAUGE, "origin", "Instances that are being ingested now.",
           PerValue<Origin>("origin", &MetricFigures::inFlight,
                            [](std::size_t count) { return count; })},
          {"peer_instances_total", COUNTER, "peer, direction",
           "Instances received from the peer or sent to it.",
           PerPeer([](const PeerTraffic& line) { return If(line.instances > 0, line.instances); })},
          {"peer_bytes_total", COUNTER, "peer, direction",
           "Bytes of the instances received from the peer or sent to it.",
           PerPeer([](const PeerTraffic& line) { return If(line.instances > 0, line.bytes); })},
          {"peer_phase_seconds_total", COUNTER, "peer, direction, phase",
           "Time of the peer's instances in each phase.",
           PerPeer(By<Phase>("phase", &TrafficBucket::FindSeconds))},
          {"peer_remote_round_trips_total", COUNTER, "peer, direction",
           "Round trips to the object storage for the peer's instances.",
           PerPeer(Sum(&TrafficBucket::remoteRoundTrips, &TrafficBucket::isRemoteObserved))},
          {"peer_database_round_trips_total", COUNTER, "peer, direction",
           "Round trips to the database server for the peer's instances.",
           PerPeer(Sum(&TrafficBucket::databaseRoundTrips, &TrafficBucket::isDatabaseObserved))},
          {"stalls_total", COUNTER, "peer, direction",
           "Waits of 20 ms or more inside a message, or before one while the kernel held back what "
           "Orthanc had written.",
           PerPeer(Sum(&TrafficBucket::stalls, &TrafficBucket::areStallsObserved))},
          {"stall_seconds_total", COUNTER, "peer, direction",
           "Time in the waits of orthanc_perf_stalls_total.",
           PerPeer(Sum(&TrafficBucket::stallSeconds, &TrafficBucket::areStallsObserved))},
          // All outcomes from a line's first association on, so that increase() sees the first loss
          {"associations_total", COUNTER, "peer, direction, outcome",
           "Finished associations, by how they ended.",
           PerPeer(By<AssociationOutcome>(
               "outcome", [](const PeerTraffic& line, AssociationOutcome outcome)
               { return If(line.associations.IsAny(), line.associations.GetCount(outcome)); }))},
          {"associations_open", GAUGE, "peer, direction", "Associations that are open now.",
           PerPeer([](const PeerTraffic& line)
                   { return If(line.associations.IsAny(), line.associations.open); })},
          {"association_setup_seconds", HISTOGRAM, "direction",
           "Time from the connection to the answer to the association request.",
           PerValue<Direction>("direction", &MetricFigures::setups,
                               [](const SetupHistogram& seconds) { return seconds; })},
          {"reads_total", COUNTER, "class, status",
           "HTTP requests that read, by class of route and first digit of the status; C-GET, "
           "C-MOVE, C-FIND.",
           PerClass(
               [](MetricWriter& writer, const Labels& labels, const ReadSummary& reads)
               {
                 for (std::size_t i = 0; i < reads.statuses.size(); i++)
                 {
                   writer.Add(With(labels, "status", READ_STATUSES[i]),
                              If(reads.statuses[i] > 0, reads.statuses[i]));
                 }
               })},
          {"read_bytes_total", COUNTER, "class",
           "Bytes of the responses to requests that read, with headers.",
           PerClass([](const ReadSummary& reads) { return If(reads.bytes > 0, reads.bytes); })},
          {"read_client_wait_seconds_total", COUNTER, "class",
           "Time that requests that read waited for room in the client's window, or for DIMSE "
           "responses; part of the phase send.",
           PerClass([](const ReadSummary& reads)
                    { return If(reads.bytes > 0, reads.clientWait); })},
          {"read_phase_seconds", HISTOGRAM, "class, phase",
           "Time of requests that read, by phase; idle is the pause before them.",
           PerClass(By("phase", REQUEST_PHASES, &ReadSummary::phases))},
          {"peer_round_trip_seconds", GAUGE, "peer, direction",
           "Smoothed TCP round trip of the latest association.",
           PerPeer(OfConnection(&TcpSummary::roundTrip))},
          {"peer_send_window_bytes", GAUGE, "peer, direction",
           "Receive window of the peer, now or at the end of the latest association.",
           PerPeer(OfConnection(&TcpSummary::sendWindow))},
          {"peer_receive_window_bytes", GAUGE, "peer, direction",
           "Receive window offered to the peer, now or at the end of the latest association.",
           PerPeer(OfConnection(&TcpSummary::receiveWindow))},
          {"peer_send_mss_bytes", GAUGE, "peer, direction",
           "Maximum size of TCP segments to the peer in the latest association.",
           PerPeer(OfConnection(&TcpSummary::sendMss))},
          {"peer_receive_window_limited_seconds_total", COUNTER, "peer, direction",
           "Time during which the full receive window of the peer kept data from being sent. "
           "Finished associations only.",
           PerPeer([](const PeerTraffic& line) { return line.associations.receiveWindowLimited; })},
          {"peer_send_buffer_limited_seconds_total", COUNTER, "peer, direction",
           "Time during which the small send buffer kept data from being sent. Finished "
           "associations only.",
           PerPeer([](const PeerTraffic& line) { return line.associations.sendBufferLimited; })},
          {"peer_retransmits_total", COUNTER, "peer, direction",
           "TCP segments retransmitted. Finished associations only.",
           PerPeer([](const PeerTraffic& line) { return line.associations.retransmits; })},
          {"transcode_seconds", HISTOGRAM, "engine, target",
           "Time that an engine took to transcode an instance.",
           PerEngine(&EngineAttempts::seconds)},
          {"transcode_total", COUNTER, "engine, target, outcome",
           "Attempts to transcode an instance, by outcome.",
           PerEngine(By("outcome", ListAll<TranscodingOutcome>(), &EngineAttempts::outcomes))},
          {"transcode_bytes_total", COUNTER, "engine, target, side",
           "Bytes of the DICOM files that engines read and wrote.",
           PerEngine(
               [](MetricWriter& writer, const Labels& labels, const EngineAttempts& line)
               {
                 const bool isAny = line.seconds.count > 0;
                 writer.Add(With(labels, "side", "source"), If(isAny, line.sourceBytes));
                 writer.Add(With(labels, "side", "target"), If(isAny, line.targetBytes));
               })},
          {"ingest_budget_bytes", GAUGE, "",
           "Memory that large messages in flight may take; 0: no limit.",
           OfBudget(&AdmissionFigures::limit)},
          {"ingest_budget_held_bytes", GAUGE, "",
           "Memory that large messages in flight have reserved.",
           OfBudget(&AdmissionFigures::held)},
          {"ingest_budget_in_flight", GAUGE, "",
           "Large messages being received, including waiting ones.",
           OfBudget(&AdmissionFigures::inFlight)},
          {"ingest_budget_waiting", GAUGE, "", "Messages that wait for room in the budget.",
           OfBudget(&AdmissionFigures::waiting)},
          {"ingest_budget_waits_total", COUNTER, "",
           "Messages that had to wait for room in the budget.", OfBudget(&AdmissionFigures::waits)},
          {"ingest_budget_waited_seconds_total", COUNTER, "",
           "Time that messages waited for room in the budget.",
           OfBudget(&AdmissionFigures::waited)},
          {"ingest_budget_given_up_total", COUNTER, "",
           "Messages that were admitted over the budget after the longest wait.",
           OfBudget(&AdmissionFigures::givenUp)},
          {"dropped_events_total", COUNTER, "",
           "Requests, associations, and instances sent or refused, that no other metric counts, as "
           "too many ended at once.",
           OfServer(&MetricFigures::droppedEvents)},
          {"tuning", GAUGE, "setting",
           "The tuning in force: numbers, and switches as 0 and 1. A budget that is a share has "
           "none.",
           PerName("setting", &MetricFigures::tuning)},
          {"findings", GAUGE, "id",
           "Findings of the advisor by their identifiers; GET /perf/advice explains them.",
           PerName("id", &MetricFigures::findings)},
      };

      for (MetricRow& row : table)
      {
        row.name = "orthanc_perf_" + row.name;
      }

      return table;
    }
  }

  const std::vector<MetricRow>& GetMetricTable()
  {
    static const std::vector<MetricRow> TABLE = MakeTable();
    return TABLE;
  }

  std::string WriteMetrics(const MetricFigures& figures)
  {
    MetricWriter writer;

    for (const MetricRow& row : GetMetricTable())
    {
      writer.Begin(row.name, row.type, row.help);
      row.write(figures, writer);
    }

    return writer.GetText();
  }
}
