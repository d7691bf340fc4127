// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/AssociationMetrics.h"

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
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


    // A gauge of what the kernel said; nothing: it did not
    struct TcpGauge
    {
      const char* name;
      const char* help;
      std::optional<double> (*get)(const TcpSummary&);
    };

    std::optional<double> IfKnown(std::uint32_t bytes)
    {
      return bytes == 0 ? std::nullopt : std::optional<double>(bytes);
    }

    const std::array<TcpGauge, 4> TCP_GAUGES = {{
        {"orthanc_perf_peer_round_trip_seconds",
         "Smoothed TCP round trip of the latest association.",
         [](const TcpSummary& tcp) -> std::optional<double>
         {
           return tcp.roundTrip == Duration::zero()
                      ? std::nullopt
                      : std::optional<double>(ToSeconds(tcp.roundTrip));
         }},
        {"orthanc_perf_peer_send_window_bytes",
         "Receive window that the peer offered at the end of the latest association, or offers "
         "now.",
         [](const TcpSummary& tcp) -> std::optional<double>
         {
           return tcp.sendWindow;
         }},
        {"orthanc_perf_peer_receive_window_bytes",
         "Receive window offered to the peer at the end of the latest association, or now.",
         [](const TcpSummary& tcp) -> std::optional<double>
         {
           return tcp.receiveWindow;
         }},
        {"orthanc_perf_peer_send_mss_bytes",
         "Largest TCP segment that is sent to the peer in the latest association.",
         [](const TcpSummary& tcp)
         {
           return IfKnown(tcp.sendMss);
         }},
    }};


    prometheus::MetricFamily MakeGaugeFamily(const char* name, const char* help)
    {
      prometheus::MetricFamily family;
      family.name = name;
      family.help = help;
      family.type = prometheus::MetricType::Gauge;
      return family;
    }

    void AddGauge(prometheus::MetricFamily& family, const prometheus::Labels& labels, double value)
    {
      prometheus::ClientMetric& metric = family.metric.emplace_back();
      metric.gauge.value = value;

      for (const auto& [name, text] : labels)
      {
        metric.label.push_back({name, text});
      }
    }

    void IncrementBy(prometheus::Counter& counter, Duration duration)
    {
      counter.Increment(ToSeconds(std::max(duration, Duration::zero())));
    }
  }

  AssociationMetrics::AssociationMetrics(PeerDirectory& directory, ListOpenAssociations listOpen) :
    lines_(directory),
    listOpen_(std::move(listOpen)),
    outcomes_(BuildOutcomes()),
    setup_(BuildSetup()),
    receiveWindowLimited_(BuildCounters(
        "orthanc_perf_peer_receive_window_limited_seconds_total",
        "Time in which data could not be sent because the receive window of the peer was full. "
        "Finished associations only.")),
    sendBufferLimited_(BuildCounters(
        "orthanc_perf_peer_send_buffer_limited_seconds_total",
        "Time in which data was not sent because the send buffer was too small. Finished "
        "associations only.")),
    retransmits_(BuildCounters("orthanc_perf_peer_retransmits_total",
                               "TCP segments sent again. Finished associations only."))
  {
  }

  void AssociationMetrics::OnInstanceFinished(const FinishedInstance&) noexcept
  {
  }

  void AssociationMetrics::OnAssociationFinished(const FinishedAssociation& association) noexcept
  {
    try
    {
      Count(association);
    }
    catch (const std::exception&)
    {
      // Out of memory for a new peer: one association uncounted is better than Orthanc down
    }
  }

  std::vector<prometheus::MetricFamily> AssociationMetrics::Collect() const
  {
    const States states = GetStates();
    std::vector<prometheus::MetricFamily> families = registry_.Collect();
    std::vector<prometheus::MetricFamily> tcp = DescribeTcp(states);
    std::move(tcp.begin(), tcp.end(), std::back_inserter(families));

    if (listOpen_)
    {
      families.push_back(DescribeOpen(states));
    }

    return families;
  }

  void AssociationMetrics::Count(const FinishedAssociation& association)
  {
    const std::size_t line = lines_.Find(association.peer.name, association.direction);
    outcomes_.Get(line * ASSOCIATION_OUTCOME_COUNT + static_cast<std::size_t>(association.outcome))
        .Increment();

    if (association.setup)
    {
      setup_.Get(static_cast<std::size_t>(association.direction))
          .Observe(ToSeconds(std::max(*association.setup, Duration::zero())));
    }

    if (association.tcp)
    {
      CountTcp(*association.tcp, line);
    }

    Remember(association, line);
  }

  void AssociationMetrics::CountTcp(const TcpSummary& tcp, std::size_t line)
  {
    retransmits_.Get(line).Increment(tcp.retransmits);

    if (tcp.receiveWindowLimited)
    {
      IncrementBy(receiveWindowLimited_.Get(line), *tcp.receiveWindowLimited);
    }

    if (tcp.sendBufferLimited)
    {
      IncrementBy(sendBufferLimited_.Get(line), *tcp.sendBufferLimited);
    }
  }

  void AssociationMetrics::Remember(const FinishedAssociation& association, std::size_t line)
  {
    const std::lock_guard lock(mutex_);
    State& state = states_[line];

    if (association.tcp)
    {
      state.tcp = association.tcp;
    }
  }

  AssociationMetrics::States AssociationMetrics::GetStates() const
  {
    std::vector<OpenAssociation> open = listOpen_ ? listOpen_() : std::vector<OpenAssociation>();
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return a.age > b.age; });

    const std::lock_guard lock(mutex_);

    for (const OpenAssociation& association : open)
    {
      // Kept, so that the line shows zero when the association is over
      states_.try_emplace(lines_.Find(association.peer.name, association.direction));
    }

    States states = states_;

    for (const OpenAssociation& association : open)
    {
      State& state = states.at(lines_.Find(association.peer.name, association.direction));
      state.open++;

      if (association.tcp)
      {
        state.tcp = association.tcp;
      }
    }

    return states;
  }

  prometheus::MetricFamily AssociationMetrics::DescribeOpen(const States& states) const
  {
    prometheus::MetricFamily family =
        MakeGaugeFamily("orthanc_perf_associations_open", "Associations that are open now.");

    for (const auto& [line, state] : states)
    {
      AddGauge(family, lines_.MakeLabels(line), static_cast<double>(state.open));
    }

    return family;
  }

  std::vector<prometheus::MetricFamily> AssociationMetrics::DescribeTcp(const States& states) const
  {
    std::vector<prometheus::MetricFamily> families;

    for (const TcpGauge& gauge : TCP_GAUGES)
    {
      prometheus::MetricFamily& family =
          families.emplace_back(MakeGaugeFamily(gauge.name, gauge.help));

      for (const auto& [line, state] : states)
      {
        if (const auto value = state.tcp ? gauge.get(*state.tcp) : std::nullopt)
        {
          AddGauge(family, lines_.MakeLabels(line), *value);
        }
      }
    }

    return families;
  }

  AssociationMetrics::Counters AssociationMetrics::BuildOutcomes()
  {
    auto& family = prometheus::BuildCounter()
                       .Name("orthanc_perf_associations_total")
                       .Help("Associations that are over, by how they ended.")
                       .Register(registry_);
    return {lines_.GetCount() * ASSOCIATION_OUTCOME_COUNT,
            [this, &family](std::size_t number) -> prometheus::Counter&
            {
              const auto outcome =
                  GetAllAssociationOutcomes().at(number % ASSOCIATION_OUTCOME_COUNT);
              prometheus::Labels labels = lines_.MakeLabels(number / ASSOCIATION_OUTCOME_COUNT);
              labels["outcome"] = ToLabel(outcome);
              return family.Add(labels);
            }};
  }

  AssociationMetrics::Histograms AssociationMetrics::BuildSetup()
  {
    auto& family = prometheus::BuildHistogram()
                       .Name("orthanc_perf_association_setup_seconds")
                       .Help("Time from the connection until the association was answered.")
                       .Register(registry_);
    return {DIRECTION_COUNT,
            [&family](std::size_t direction) -> prometheus::Histogram&
            {
              return family.Add({{"direction", ToLabel(GetAllDirections().at(direction))}},
                                GetSetupBuckets());
            }};
  }

  AssociationMetrics::Counters AssociationMetrics::BuildCounters(const char* name, const char* help)
  {
    auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
    return {lines_.GetCount(),
            [this, &family](std::size_t line) -> prometheus::Counter&
            {
              return family.Add(lines_.MakeLabels(line));
            }};
  }
}
