// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/IngestMetrics.h"

#include "Metrics/GaugeFamily.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Seconds. Parsing takes tens of microseconds to milliseconds, storing and the database
    // milliseconds to seconds, receiving a large multi-frame object over a WAN up to minutes.
    // 20 ms is where a stall begins; 35 to 50 ms and 180 to 250 ms hold the instances that met
    // one delayed ACK of Linux (40 ms) or of Windows (200 ms), and little else.
    const prometheus::Histogram::BucketBoundaries& GetPhaseBuckets()
    {
      static const prometheus::Histogram::BucketBoundaries BUCKETS = {
          0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
          0.005,   0.01,     0.02,    0.035,  0.05,    0.1,    0.18,  0.25,
          0.5,     1,        2.5,     5,      10,      30,     60};
      return BUCKETS;
    }

    prometheus::Labels MakeOriginLabels(std::size_t origin)
    {
      return {{"origin", ToLabel(GetAllOrigins().at(origin))}};
    }

    prometheus::Labels MakeOutcomeLabels(std::size_t index)
    {
      prometheus::Labels labels = MakeOriginLabels(index / OUTCOME_COUNT);
      labels["outcome"] = ToLabel(GetAllOutcomes().at(index % OUTCOME_COUNT));
      return labels;
    }

    prometheus::Labels MakePhaseLabels(std::size_t index)
    {
      prometheus::Labels labels = MakeOriginLabels(index / PHASE_COUNT);
      labels["phase"] = ToLabel(GetAllPhases().at(index % PHASE_COUNT));
      return labels;
    }
  }

  IngestMetrics::IngestMetrics(CountInFlight countInFlight) :
    countInFlight_(std::move(countInFlight)),
    instances_(prometheus::BuildCounter()
                   .Name("orthanc_perf_ingest_instances_total")
                   .Help("Instances received, by what became of them.")
                   .Register(registry_),
               ORIGIN_COUNT * OUTCOME_COUNT, &MakeOutcomeLabels),
    bytes_(prometheus::BuildCounter()
               .Name("orthanc_perf_ingest_bytes_total")
               .Help("Bytes of all instances received, whatever became of them.")
               .Register(registry_),
           ORIGIN_COUNT, &MakeOriginLabels),
    phases_(prometheus::BuildHistogram()
                .Name("orthanc_perf_ingest_phase_seconds")
                .Help("Time of a received instance in each phase of its ingest.")
                .Register(registry_),
            ORIGIN_COUNT * PHASE_COUNT, &MakePhaseLabels, GetPhaseBuckets()),
    remoteRoundTrips_(prometheus::BuildCounter()
                          .Name("orthanc_perf_ingest_remote_round_trips_total")
                          .Help("Questions to the storage's server for received instances, each "
                                "of which its answer was waited for.")
                          .Register(registry_),
                      ORIGIN_COUNT, &MakeOriginLabels),
    databaseRoundTrips_(prometheus::BuildCounter()
                            .Name("orthanc_perf_ingest_database_round_trips_total")
                            .Help("Questions to the database's server for received instances, "
                                  "each of which its answer was waited for.")
                            .Register(registry_),
                        ORIGIN_COUNT, &MakeOriginLabels),
    databaseQueued_(prometheus::BuildCounter()
                        .Name("orthanc_perf_ingest_database_queued_seconds_total")
                        .Help("Time of received instances in the index before the database's "
                              "server was asked first, and not computing: for a connection.")
                        .Register(registry_),
                    ORIGIN_COUNT, &MakeOriginLabels)
  {
    // The counters exist from the start, at zero: Prometheus can then tell the first increment
    for (std::size_t i = 0; i < ORIGIN_COUNT * OUTCOME_COUNT; i++)
    {
      instances_.Get(i);
      bytes_.Get(i / OUTCOME_COUNT);
    }
  }

  void IngestMetrics::OnInstanceFinished(const FinishedInstance& instance)
  {
    if (instance.direction != Direction::Receive)
    {
      return;
    }

    const auto origin = static_cast<std::size_t>(instance.origin);
    instances_.Get(origin * OUTCOME_COUNT + static_cast<std::size_t>(instance.outcome)).Increment();
    bytes_.Get(origin).Increment(static_cast<double>(instance.size));

    if (instance.remote)
    {
      remoteRoundTrips_.Get(origin).Increment(instance.remote->roundTrips);
    }

    if (instance.database)
    {
      databaseRoundTrips_.Get(origin).Increment(instance.database->roundTrips);
      databaseQueued_.Get(origin).Increment(
          ToSeconds(instance.database->queued.value_or(Duration::zero())));
    }

    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> duration = instance.phases.Get(phase))
      {
        phases_.Get(origin * PHASE_COUNT + static_cast<std::size_t>(phase))
            .Observe(ToSeconds(std::max(*duration, Duration::zero())));
      }
    }
  }

  void IngestMetrics::Collect(const Receive& receive) const
  {
    std::vector<LabelledValue> inFlight;

    for (const Origin origin : GetAllOrigins())
    {
      inFlight.push_back({{{"origin", ToLabel(origin)}}, double(countInFlight_(origin))});
    }

    CollectFrom(registry_, receive);
    receive(MakeFamily(prometheus::MetricType::Gauge, "orthanc_perf_ingest_in_flight",
                       "Instances that are being ingested now.", inFlight));
  }

  double IngestMetrics::CountInstances(Outcome outcome) const
  {
    double count = 0;

    for (std::size_t origin = 0; origin < ORIGIN_COUNT; origin++)
    {
      count += instances_.Get(origin * OUTCOME_COUNT + static_cast<std::size_t>(outcome)).Value();
    }

    return count;
  }

  double IngestMetrics::CountBytes() const
  {
    double count = 0;

    for (std::size_t origin = 0; origin < ORIGIN_COUNT; origin++)
    {
      count += bytes_.Get(origin).Value();
    }

    return count;
  }

  double IngestMetrics::CountAllInFlight() const
  {
    double count = 0;

    for (const Origin origin : GetAllOrigins())
    {
      count += static_cast<double>(countInFlight_(origin));
    }

    return count;
  }
}
