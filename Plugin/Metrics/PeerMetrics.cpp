// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerMetrics.h"

#include "Metrics/GaugeFamily.h"

#include <algorithm>
#include <optional>

namespace OrthancPerf
{
  namespace
  {
    using Number = std::optional<double>;
    using Associations = PeerAssociations;

    constexpr prometheus::MetricType COUNTER = prometheus::MetricType::Counter;
    constexpr prometheus::MetricType GAUGE = prometheus::MetricType::Gauge;


    // Seconds. On a LAN the answer takes milliseconds; 35 to 50 ms and 180 to 250 ms hold what met
    // one delayed ACK of Linux (40 ms) or of Windows (200 ms), 0.9 to 1.1 s what met one second:
    // a SYN that was lost (RFC 6298 section 2.1), or a peer that sleeps.
    const prometheus::Histogram::BucketBoundaries& GetSetupBuckets()
    {
      static const prometheus::Histogram::BucketBoundaries BUCKETS = {
          0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.1,
          0.18,   0.25,  0.5,    0.9,   1.1,  2.5,  5,     10,   30};
      return BUCKETS;
    }


    // What went between Orthanc and one peer in one direction
    struct Line
    {
      prometheus::Labels labels;
      const Traffic& traffic;
      const PeerAssociations& associations;

      prometheus::Labels With(const char* label, const char* value) const
      {
        prometheus::Labels more = labels;
        more[label] = value;
        return more;
      }
    };


    // Some hundred kilobytes as a family
    constexpr std::size_t PEERS_OF_A_PART = 32;


    // Those of one part, which begins with this peer
    std::vector<Line> ListLines(const std::vector<PeerSummary>& peers, std::size_t begin)
    {
      std::vector<Line> lines;

      for (std::size_t i = begin; i < std::min(begin + PEERS_OF_A_PART, peers.size()); i++)
      {
        const PeerSummary& peer = peers[i];

        for (const Direction direction : GetAllDirections())
        {
          const auto place = static_cast<std::size_t>(direction);
          prometheus::Labels labels = {{"direction", ToLabel(direction)}};

          if (!peer.name.empty())
          {
            labels["peer"] = peer.name;
          }

          lines.push_back({labels, peer.directions.at(place), peer.associations.at(place)});
        }
      }

      return lines;
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


    // A family with one number for each line, where there is one
    template <typename Get>
    prometheus::MetricFamily MakePeerFamily(prometheus::MetricType type, const char* name,
                                            const char* help, const std::vector<Line>& lines,
                                            Get get)
    {
      std::vector<LabelledValue> values;

      for (const Line& line : lines)
      {
        if (const Number number = get(line))
        {
          values.push_back({line.labels, *number});
        }
      }

      return MakeFamily(type, name, help, values);
    }


    // A gauge of what the kernel said of the latest connection of each line
    template <typename Get>
    prometheus::MetricFamily MakeTcpFamily(const char* name, const char* help,
                                           const std::vector<Line>& lines, Get get)
    {
      return MakePeerFamily(GAUGE, name, help, lines,
                            [get](const Line& line) -> Number
                            {
                              const std::optional<TcpSummary>& tcp = line.associations.tcp;
                              return tcp ? get(*tcp) : std::nullopt;
                            });
    }


    prometheus::MetricFamily MakePhaseFamily(const std::vector<Line>& lines)
    {
      std::vector<LabelledValue> values;

      for (const Line& line : lines)
      {
        for (const Phase phase : GetAllPhases())
        {
          if (const Number seconds = ToNumber(line.traffic.phases.Get(phase)))
          {
            values.push_back({line.With("phase", ToLabel(phase)), *seconds});
          }
        }
      }

      return MakeFamily(COUNTER, "orthanc_perf_peer_phase_seconds_total",
                        "Time of the peer's instances in each phase.", values);
    }


    // All outcomes from a line's first association on, so that increase() sees the first loss
    prometheus::MetricFamily MakeOutcomeFamily(const std::vector<Line>& lines)
    {
      std::vector<LabelledValue> values;

      for (const Line& line : lines)
      {
        if (line.associations.IsAny())
        {
          for (const AssociationOutcome outcome : GetAllAssociationOutcomes())
          {
            values.push_back(
                {line.With("outcome", ToLabel(outcome)),
                 double(line.associations.outcomes.at(static_cast<std::size_t>(outcome)))});
          }
        }
      }

      return MakeFamily(COUNTER, "orthanc_perf_associations_total",
                        "Associations that are over, by how they ended.", values);
    }


    void GiveTraffic(const IMetricSource::Receive& receive, const std::vector<Line>& lines)
    {
      const auto add = [&](const char* name, const char* help, auto get)
      {
        receive(MakePeerFamily(COUNTER, name, help, lines, get));
      };

      add("orthanc_perf_peer_instances_total", "Instances received from the peer or sent to it.",
          [](const Line& l) { return ToNumber(l.traffic.instances > 0, l.traffic.instances); });
      add("orthanc_perf_peer_bytes_total",
          "Bytes of the instances received from the peer or sent to it.",
          [](const Line& l) { return ToNumber(l.traffic.instances > 0, l.traffic.bytes); });
      add("orthanc_perf_stalls_total",
          "Waits of 20 ms or more for the next byte of a message that had begun, or for one to "
          "begin while the kernel held back the end of what Orthanc had written.",
          [](const Line& l) { return ToNumber(l.traffic.areStallsObserved, l.traffic.stalls); });
      add("orthanc_perf_stall_seconds_total", "Time in the waits of orthanc_perf_stalls_total.",
          [](const Line& l)
          { return ToNumber(l.traffic.areStallsObserved, ToSeconds(l.traffic.stallTime)); });
      add("orthanc_perf_peer_remote_round_trips_total",
          "Questions to the storage's server for the peer's instances, each of which its answer "
          "was waited for.",
          [](const Line& l)
          { return ToNumber(l.traffic.isRemoteObserved, l.traffic.remoteRoundTrips); });
      add("orthanc_perf_peer_database_round_trips_total",
          "Questions to the database's server for the peer's instances, each of which its answer "
          "was waited for.",
          [](const Line& l)
          { return ToNumber(l.traffic.isDatabaseObserved, l.traffic.databaseRoundTrips); });
      receive(MakePhaseFamily(lines));
    }


    void GiveAssociations(const IMetricSource::Receive& receive, const std::vector<Line>& lines)
    {
      const auto add = [&](const char* name, const char* help, auto get)
      {
        receive(MakePeerFamily(COUNTER, name, help, lines, get));
      };

      add("orthanc_perf_peer_receive_window_limited_seconds_total",
          "Time in which data could not be sent because the receive window of the peer was full. "
          "Finished associations only.",
          [](const Line& line) { return ToNumber(line.associations.receiveWindowLimited); });
      add("orthanc_perf_peer_send_buffer_limited_seconds_total",
          "Time in which data was not sent because the send buffer was too small. Finished "
          "associations only.",
          [](const Line& line) { return ToNumber(line.associations.sendBufferLimited); });
      add("orthanc_perf_peer_retransmits_total",
          "TCP segments sent again. Finished associations only.",
          [](const Line& line) -> Number { return line.associations.retransmits; });
      receive(MakeOutcomeFamily(lines));
      receive(MakePeerFamily(
          GAUGE, "orthanc_perf_associations_open", "Associations that are open now.", lines,
          [](const Line& line) -> Number
          { return line.associations.IsAny() ? Number(line.associations.open) : std::nullopt; }));
    }


    void GiveTcp(const IMetricSource::Receive& receive, const std::vector<Line>& lines)
    {
      const auto add = [&](const char* name, const char* help, auto get)
      {
        receive(MakeTcpFamily(name, help, lines, get));
      };

      add("orthanc_perf_peer_round_trip_seconds",
          "Smoothed TCP round trip of the latest association.",
          [](const TcpSummary& tcp)
          { return ToNumber(tcp.roundTrip > Duration::zero(), ToSeconds(tcp.roundTrip)); });
      add("orthanc_perf_peer_send_window_bytes",
          "Receive window that the peer offered at the end of the latest association, or offers "
          "now.",
          [](const TcpSummary& tcp) -> Number { return tcp.sendWindow; });
      add("orthanc_perf_peer_receive_window_bytes",
          "Receive window offered to the peer at the end of the latest association, or now.",
          [](const TcpSummary& tcp) -> Number { return tcp.receiveWindow; });
      add("orthanc_perf_peer_send_mss_bytes",
          "Largest TCP segment that is sent to the peer in the latest association.",
          [](const TcpSummary& tcp) { return ToNumber(tcp.sendMss > 0, tcp.sendMss); });
    }
  }


  PeerMetrics::PeerMetrics(const PeerStatistics& statistics) :
    statistics_(statistics),
    setup_(
        prometheus::BuildHistogram()
            .Name("orthanc_perf_association_setup_seconds")
            .Help("Time from the connection until the association was answered.")
            .Register(registry_),
        DIRECTION_COUNT,
        [](std::size_t direction) {
          return prometheus::Labels{{"direction", ToLabel(GetAllDirections().at(direction))}};
        },
        GetSetupBuckets())
  {
  }


  void PeerMetrics::OnAssociationFinished(const FinishedAssociation& association)
  {
    if (association.setup)
    {
      setup_.Get(static_cast<std::size_t>(association.direction))
          .Observe(ToSeconds(std::max(*association.setup, Duration::zero())));
    }
  }


  void PeerMetrics::Collect(const Receive& receive) const
  {
    const std::vector<PeerSummary> peers = statistics_.SummarizeAll();
    CollectFrom(registry_, receive);

    for (std::size_t begin = 0; begin < peers.size(); begin += PEERS_OF_A_PART)
    {
      const std::vector<Line> lines = ListLines(peers, begin);
      GiveTraffic(receive, lines);
      GiveAssociations(receive, lines);
      GiveTcp(receive, lines);
    }
  }
}
