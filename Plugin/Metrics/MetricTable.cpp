// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MetricTable.h"

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

    // What went between Orthanc and one peer in one direction
    struct PeerLine
    {
      Labels labels;
      const TrafficBucket& traffic;
      const PeerAssociations& associations;
    };


    Labels With(Labels labels, const char* label, const std::string& value)
    {
      labels[label] = value;
      return labels;
    }


    template <typename Value>
    Number ToNumber(bool isObserved, Value value)
    {
      return isObserved ? Number(static_cast<double>(value)) : std::nullopt;
    }


    Number ToNumber(const std::optional<Duration>& duration)
    {
      return duration ? Number(ToSeconds(*duration)) : std::nullopt;
    }


    // The writers of rows. Each takes what writes, or gets, the series of one line.

    template <typename WriteLine>
    Write ForEachOrigin(WriteLine write)
    {
      return [write](const MetricFigures& figures, MetricWriter& writer)
      {
        for (std::size_t i = 0; i < figures.origins.size(); i++)
        {
          write(writer, Labels{{"origin", ToLabel(GetAllOrigins()[i])}}, figures.origins[i]);
        }
      };
    }


    // A sum of each origin, if it is observed there
    Write PerOrigin(double TrafficBucket::*sum, bool TrafficBucket::*isObserved)
    {
      return ForEachOrigin(
          [=](MetricWriter& writer, const Labels& labels, const TrafficSummary& origin)
          { writer.Add(labels, ToNumber(origin.*isObserved, origin.*sum)); });
    }


    template <typename WriteLine>
    Write ForEachRead(WriteLine write)
    {
      return [write](const MetricFigures& figures, MetricWriter& writer)
      {
        for (std::size_t i = 0; i < figures.reads.size(); i++)
        {
          write(writer, Labels{{"class", ToLabel(GetAllRouteClasses()[i])}}, figures.reads[i]);
        }
      };
    }


    template <typename WriteLine>
    Write ForEachPeer(WriteLine write)
    {
      return [write](const MetricFigures& figures, MetricWriter& writer)
      {
        for (const PeerSummary& peer : figures.peers)
        {
          for (const Direction direction : GetAllDirections())
          {
            const auto place = static_cast<std::size_t>(direction);
            Labels labels = {{"direction", ToLabel(direction)}};

            if (!peer.name.empty())
            {
              labels["peer"] = peer.name;
            }

            write(writer, PeerLine{labels, peer.directions[place], peer.associations[place]});
          }
        }
      };
    }


    template <typename Get>
    Write PerPeer(Get get)
    {
      return ForEachPeer([get](MetricWriter& writer, const PeerLine& line)
                         { writer.Add(line.labels, get(line)); });
    }


    // A sum of each line, if it is observed there
    Write PerPeer(double TrafficBucket::*sum, bool TrafficBucket::*isObserved)
    {
      return PerPeer([=](const PeerLine& line)
                     { return ToNumber(line.traffic.*isObserved, line.traffic.*sum); });
    }


    // What the kernel said of the latest connection of each line: a member, or a function
    template <typename Get>
    Write PerConnection(Get get)
    {
      return PerPeer(
          [get](const PeerLine& line)
          {
            const std::optional<TcpSummary>& tcp = line.associations.tcp;
            return tcp ? Number(std::invoke(get, *tcp)) : std::nullopt;
          });
    }


    template <typename WriteLine>
    Write ForEachEngine(WriteLine write)
    {
      return [write](const MetricFigures& figures, MetricWriter& writer)
      {
        for (const EngineAttempts& line : figures.transcodings)
        {
          write(writer, Labels{{"engine", line.engine}, {"target", line.target}}, line);
        }
      };
    }


    template <typename Value>
    Write OfBudget(Value AdmissionFigures::*value)
    {
      return [value](const MetricFigures& figures, MetricWriter& writer)
      {
        if (figures.budget)
        {
          writer.Add({}, static_cast<double>((*figures.budget).*value));
        }
      };
    }


    // A gauge for each name of a map
    template <typename Values>
    Write PerName(const char* label, Values MetricFigures::*values)
    {
      return [label, values](const MetricFigures& figures, MetricWriter& writer)
      {
        for (const auto& [name, value] : figures.*values)
        {
          writer.Add({{label, name}}, static_cast<double>(value));
        }
      };
    }


    void WriteOutcomes(MetricWriter& writer, const Labels& labels, const TrafficSummary& origin)
    {
      for (const Outcome outcome : GetAllOutcomes())
      {
        writer.Add(With(labels, "outcome", ToLabel(outcome)), origin.GetOutcome(outcome));
      }
    }


    void WritePhases(MetricWriter& writer, const Labels& labels, const TrafficSummary& origin)
    {
      for (const Phase phase : GetAllPhases())
      {
        writer.AddHistogram(With(labels, "phase", ToLabel(phase)),
                            origin.latencies[static_cast<std::size_t>(phase)]);
      }
    }


    void WritePhaseTimes(MetricWriter& writer, const PeerLine& line)
    {
      for (const Phase phase : GetAllPhases())
      {
        writer.Add(With(line.labels, "phase", ToLabel(phase)),
                   ToNumber(line.traffic.IsObserved(phase), line.traffic.GetSeconds(phase)));
      }
    }


    // All outcomes from a line's first association on, so that increase() sees the first loss
    void WriteAssociations(MetricWriter& writer, const PeerLine& line)
    {
      for (const AssociationOutcome outcome : GetAllAssociationOutcomes())
      {
        writer.Add(With(line.labels, "outcome", ToLabel(outcome)),
                   ToNumber(line.associations.IsAny(),
                            line.associations.outcomes[static_cast<std::size_t>(outcome)]));
      }
    }


    void WriteAttempts(MetricWriter& writer, const Labels& labels, const EngineAttempts& line)
    {
      for (std::size_t i = 0; i < TRANSCODING_OUTCOME_COUNT; i++)
      {
        const auto outcome = static_cast<TranscodingOutcome>(i);
        const bool isExpected = line.isExpected && outcome == TranscodingOutcome::Failed;
        writer.Add(With(labels, "outcome", ToLabel(outcome)),
                   ToNumber(isExpected || line.outcomes[i] > 0, line.outcomes[i]));
      }
    }


    void WriteSides(MetricWriter& writer, const Labels& labels, const EngineAttempts& line)
    {
      const bool isAny = line.seconds.count > 0;
      writer.Add(With(labels, "side", "source"), ToNumber(isAny, line.sourceBytes));
      writer.Add(With(labels, "side", "target"), ToNumber(isAny, line.targetBytes));
    }


    void WriteEngineSeconds(MetricWriter& writer, const Labels& labels, const EngineAttempts& line)
    {
      writer.AddHistogram(labels, line.seconds);
    }


    std::vector<MetricRow> MakeTable()
    {
      std::vector<MetricRow> table = {
          {"build_info", GAUGE, "version, orthanc",
           "Versions of the performance plugin and of Orthanc; the value is always 1.",
           [](const MetricFigures& figures, MetricWriter& writer)
           {
             writer.Add({{"version", figures.version}, {"orthanc", figures.orthancVersion}},
                        ToNumber(!figures.version.empty(), 1));
           }},
          {"start_time_seconds", GAUGE, "",
           "Unix time at which the plugin was loaded and its counters began at zero.",
           [](const MetricFigures& figures, MetricWriter& writer)
           {
             writer.Add({}, figures.startTime);
           }},
          {"ingest_instances_total", COUNTER, "origin, outcome", "Instances received, by outcome.",
           ForEachOrigin(&WriteOutcomes)},
          {"ingest_bytes_total", COUNTER, "origin",
           "Bytes of all instances received, with any outcome.",
           ForEachOrigin([](MetricWriter& writer, const Labels& labels,
                            const TrafficSummary& origin) { writer.Add(labels, origin.bytes); })},
          {"ingest_phase_seconds", HISTOGRAM, "origin, phase",
           "Time of a received instance in each phase of its ingest.", ForEachOrigin(&WritePhases)},
          {"ingest_remote_round_trips_total", COUNTER, "origin",
           "Round trips to the object storage for received instances.",
           PerOrigin(&TrafficBucket::remoteRoundTrips, &TrafficBucket::isRemoteObserved)},
          {"ingest_database_round_trips_total", COUNTER, "origin",
           "Round trips to the database server for received instances.",
           PerOrigin(&TrafficBucket::databaseRoundTrips, &TrafficBucket::isDatabaseObserved)},
          {"ingest_database_queued_seconds_total", COUNTER, "origin",
           "Time that received instances waited for a free connection to the database server.",
           PerOrigin(&TrafficBucket::queuedSeconds, &TrafficBucket::isDatabaseObserved)},
          {"ingest_in_flight", GAUGE, "origin", "Instances that are being ingested now.",
           [](const MetricFigures& figures, MetricWriter& writer)
           {
             for (std::size_t i = 0; i < figures.inFlight.size(); i++)
             {
               writer.Add({{"origin", ToLabel(GetAllOrigins()[i])}},
                          static_cast<double>(figures.inFlight[i]));
             }
           }},
          {"peer_instances_total", COUNTER, "peer, direction",
           "Instances received from the peer or sent to it.",
           PerPeer([](const PeerLine& line)
                   { return ToNumber(line.traffic.instances > 0, line.traffic.instances); })},
          {"peer_bytes_total", COUNTER, "peer, direction",
           "Bytes of the instances received from the peer or sent to it.",
           PerPeer([](const PeerLine& line)
                   { return ToNumber(line.traffic.instances > 0, line.traffic.bytes); })},
          {"peer_phase_seconds_total", COUNTER, "peer, direction, phase",
           "Time of the peer's instances in each phase.", ForEachPeer(&WritePhaseTimes)},
          {"peer_remote_round_trips_total", COUNTER, "peer, direction",
           "Round trips to the object storage for the peer's instances.",
           PerPeer(&TrafficBucket::remoteRoundTrips, &TrafficBucket::isRemoteObserved)},
          {"peer_database_round_trips_total", COUNTER, "peer, direction",
           "Round trips to the database server for the peer's instances.",
           PerPeer(&TrafficBucket::databaseRoundTrips, &TrafficBucket::isDatabaseObserved)},
          {"stalls_total", COUNTER, "peer, direction",
           "Waits of 20 ms or more inside a message, or before one while the kernel held back what "
           "Orthanc had written.",
           PerPeer(&TrafficBucket::stalls, &TrafficBucket::areStallsObserved)},
          {"stall_seconds_total", COUNTER, "peer, direction",
           "Time in the waits of orthanc_perf_stalls_total.",
           PerPeer(&TrafficBucket::stallSeconds, &TrafficBucket::areStallsObserved)},
          {"associations_total", COUNTER, "peer, direction, outcome",
           "Finished associations, by how they ended.", ForEachPeer(&WriteAssociations)},
          {"associations_open", GAUGE, "peer, direction", "Associations that are open now.",
           PerPeer(
               [](const PeerLine& line) -> Number {
                 return line.associations.IsAny() ? Number(line.associations.open) : std::nullopt;
               })},
          {"association_setup_seconds", HISTOGRAM, "direction",
           "Time from the connection to the answer to the association request.",
           [](const MetricFigures& figures, MetricWriter& writer)
           {
             for (std::size_t i = 0; i < figures.setups.size(); i++)
             {
               writer.AddHistogram({{"direction", ToLabel(GetAllDirections()[i])}},
                                   figures.setups[i]);
             }
           }},
          {"reads_total", COUNTER, "class, status",
           "HTTP requests that read, by route and first digit of the status; C-GET, C-MOVE, "
           "C-FIND.",
           ForEachRead(
               [](MetricWriter& writer, const Labels& labels, const ReadSummary& reads)
               {
                 for (std::size_t i = 0; i < reads.statuses.size(); i++)
                 {
                   writer.Add(With(labels, "status", READ_STATUSES[i]),
                              ToNumber(reads.statuses[i] > 0, reads.statuses[i]));
                 }
               })},
          {"read_bytes_total", COUNTER, "class", "Bytes of their responses, with headers.",
           ForEachRead([](MetricWriter& writer, const Labels& labels, const ReadSummary& reads)
                       { writer.Add(labels, ToNumber(reads.bytes > 0, reads.bytes)); })},
          {"read_client_wait_seconds_total", COUNTER, "class",
           "Of their phase send: waits for room in the client's window, or for DIMSE responses.",
           ForEachRead(
               [](MetricWriter& writer, const Labels& labels, const ReadSummary& reads)
               { writer.Add(labels, ToNumber(reads.bytes > 0, ToSeconds(reads.clientWait))); })},
          {"read_phase_seconds", HISTOGRAM, "class, phase",
           "Time of those requests: idle before them, receive, database, storage, work, send.",
           ForEachRead(
               [](MetricWriter& writer, const Labels& labels, const ReadSummary& reads)
               {
                 for (std::size_t i = 0; i < REQUEST_PHASES.size(); i++)
                 {
                   writer.AddHistogram(With(labels, "phase", ToLabel(REQUEST_PHASES[i])),
                                       reads.phases[i]);
                 }
               })},
          {"peer_round_trip_seconds", GAUGE, "peer, direction",
           "Smoothed TCP round trip of the latest association.",
           PerConnection(
               [](const TcpSummary& tcp)
               { return ToNumber(tcp.roundTrip > Duration::zero(), ToSeconds(tcp.roundTrip)); })},
          {"peer_send_window_bytes", GAUGE, "peer, direction",
           "Receive window of the peer, now or at the end of the latest association.",
           PerConnection(&TcpSummary::sendWindow)},
          {"peer_receive_window_bytes", GAUGE, "peer, direction",
           "Receive window offered to the peer, now or at the end of the latest association.",
           PerConnection(&TcpSummary::receiveWindow)},
          {"peer_send_mss_bytes", GAUGE, "peer, direction",
           "Maximum size of TCP segments to the peer in the latest association.",
           PerConnection([](const TcpSummary& tcp)
                         { return ToNumber(tcp.sendMss > 0, tcp.sendMss); })},
          {"peer_receive_window_limited_seconds_total", COUNTER, "peer, direction",
           "Time during which the full receive window of the peer kept data from being sent. "
           "Finished associations only.",
           PerPeer([](const PeerLine& line)
                   { return ToNumber(line.associations.receiveWindowLimited); })},
          {"peer_send_buffer_limited_seconds_total", COUNTER, "peer, direction",
           "Time during which the small send buffer kept data from being sent. Finished "
           "associations only.",
           PerPeer([](const PeerLine& line)
                   { return ToNumber(line.associations.sendBufferLimited); })},
          {"peer_retransmits_total", COUNTER, "peer, direction",
           "TCP segments retransmitted. Finished associations only.",
           PerPeer([](const PeerLine& line) -> Number { return line.associations.retransmits; })},
          {"transcode_seconds", HISTOGRAM, "engine, target",
           "Time that an engine took to transcode an instance.",
           ForEachEngine(&WriteEngineSeconds)},
          {"transcode_total", COUNTER, "engine, target, outcome",
           "Attempts to transcode an instance, by outcome.", ForEachEngine(&WriteAttempts)},
          {"transcode_bytes_total", COUNTER, "engine, target, side",
           "Bytes of the DICOM files that engines read and wrote.", ForEachEngine(&WriteSides)},
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
           [](const MetricFigures& figures, MetricWriter& writer)
           {
             writer.Add({}, figures.budget ? ToNumber(figures.budget->waited) : std::nullopt);
           }},
          {"ingest_budget_given_up_total", COUNTER, "",
           "Messages that were admitted over the budget after the longest wait.",
           OfBudget(&AdmissionFigures::givenUp)},
          {"tuning", GAUGE, "setting",
           "The tuning in force: numbers as they are, switches as 0 and 1.",
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
