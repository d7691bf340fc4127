// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/IngestMetrics.h"

#include <algorithm>
#include <exception>
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

    std::size_t ToIndex(Origin origin)
    {
      return static_cast<std::size_t>(origin);
    }

    std::size_t ToIndex(Origin origin, Phase phase)
    {
      return ToIndex(origin) * PHASE_COUNT + static_cast<std::size_t>(phase);
    }

    prometheus::Family<prometheus::Histogram>& BuildPhaseFamily(prometheus::Registry& registry)
    {
      return prometheus::BuildHistogram()
          .Name("orthanc_perf_ingest_phase_seconds")
          .Help("Time of a received instance in each phase of its ingest.")
          .Register(registry);
    }

    prometheus::Histogram& AddPhase(prometheus::Family<prometheus::Histogram>& family,
                                    std::size_t index)
    {
      const Origin origin = GetAllOrigins().at(index / PHASE_COUNT);
      const Phase phase = GetAllPhases().at(index % PHASE_COUNT);
      return family.Add({{"origin", ToLabel(origin)}, {"phase", ToLabel(phase)}},
                        GetPhaseBuckets());
    }
  }

  IngestMetrics::IngestMetrics(CountInFlight countInFlight) :
    countInFlight_(std::move(countInFlight)),
    phaseFamily_(BuildPhaseFamily(registry_)),
    phases_(ORIGIN_COUNT * PHASE_COUNT,
            [this](std::size_t index) -> prometheus::Histogram&
            { return AddPhase(phaseFamily_, index); })
  {
    AddCounters();
    AddInFlight();
  }

  void IngestMetrics::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    if (instance.direction != Direction::Receive)
    {
      return;
    }

    const std::size_t origin = ToIndex(instance.origin);
    instances_[origin][static_cast<std::size_t>(instance.outcome)]->Increment();
    bytes_[origin]->Increment(static_cast<double>(instance.size));

    try
    {
      ObservePhases(instance);
    }
    catch (const std::exception&)
    {
      // Out of memory for a new histogram: one instance less in it is better than Orthanc down
    }
  }

  std::vector<prometheus::MetricFamily> IngestMetrics::Collect() const
  {
    for (const Origin origin : GetAllOrigins())
    {
      inFlight_[ToIndex(origin)]->Set(static_cast<double>(countInFlight_(origin)));
    }

    return registry_.Collect();
  }

  // These exist from the start, at zero: Prometheus can then tell the first increment
  void IngestMetrics::AddCounters()
  {
    auto& instances = prometheus::BuildCounter()
                          .Name("orthanc_perf_ingest_instances_total")
                          .Help("Instances received, by what became of them.")
                          .Register(registry_);
    auto& bytes = prometheus::BuildCounter()
                      .Name("orthanc_perf_ingest_bytes_total")
                      .Help("Bytes of all instances received, whatever became of them.")
                      .Register(registry_);

    for (const Origin origin : GetAllOrigins())
    {
      bytes_[ToIndex(origin)] = &bytes.Add({{"origin", ToLabel(origin)}});

      for (const Outcome outcome : GetAllOutcomes())
      {
        instances_[ToIndex(origin)][static_cast<std::size_t>(outcome)] =
            &instances.Add({{"origin", ToLabel(origin)}, {"outcome", ToLabel(outcome)}});
      }
    }
  }

  void IngestMetrics::AddInFlight()
  {
    auto& inFlight = prometheus::BuildGauge()
                         .Name("orthanc_perf_ingest_in_flight")
                         .Help("Instances that are being ingested now.")
                         .Register(registry_);

    for (const Origin origin : GetAllOrigins())
    {
      inFlight_[ToIndex(origin)] = &inFlight.Add({{"origin", ToLabel(origin)}});
    }
  }

  void IngestMetrics::ObservePhases(const FinishedInstance& instance)
  {
    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> duration = instance.phases.Get(phase))
      {
        phases_.Get(ToIndex(instance.origin, phase))
            .Observe(ToSeconds(std::max(*duration, Duration::zero())));
      }
    }
  }
}
