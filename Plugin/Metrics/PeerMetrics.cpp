// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerMetrics.h"

#include <algorithm>
#include <exception>
#include <optional>

namespace OrthancPerf
{
  PeerMetrics::PeerMetrics(PeerDirectory& directory) :
    lines_(directory),
    instances_(BuildFamily("orthanc_perf_peer_instances_total",
                           "Instances received from the peer or sent to it.")),
    bytes_(BuildFamily("orthanc_perf_peer_bytes_total",
                       "Bytes of the instances received from the peer or sent to it.")),
    stalls_(BuildFamily("orthanc_perf_stalls_total",
                        "Waits of 20 ms or more for the next byte of a message that had begun.")),
    stallTime_(BuildFamily("orthanc_perf_stall_seconds_total",
                           "Time in waits of 20 ms or more inside a message.")),
    phaseTime_(BuildPhaseFamily())
  {
  }

  void PeerMetrics::OnInstanceFinished(const FinishedInstance& instance) noexcept
  {
    try
    {
      Count(instance);
    }
    catch (const std::exception&)
    {
      // Out of memory for a new peer: one instance uncounted is better than Orthanc down
    }
  }

  std::vector<prometheus::MetricFamily> PeerMetrics::Collect() const
  {
    return registry_.Collect();
  }

  void PeerMetrics::Count(const FinishedInstance& instance)
  {
    const std::size_t line = lines_.Find(instance.peer.name, instance.direction);
    instances_.Get(line).Increment();
    bytes_.Get(line).Increment(static_cast<double>(instance.size));

    // Absent until there is one: without the socket probe none can be seen, and zero would say
    // that there was none.
    if (instance.areStallsObserved)
    {
      stalls_.Get(line).Increment(instance.stalls);
      stallTime_.Get(line).Increment(ToSeconds(instance.stallTime));
    }

    CountPhases(instance, line);
  }

  void PeerMetrics::CountPhases(const FinishedInstance& instance, std::size_t line)
  {
    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> duration = instance.phases.Get(phase))
      {
        phaseTime_.Get(line * PHASE_COUNT + static_cast<std::size_t>(phase))
            .Increment(ToSeconds(std::max(*duration, Duration::zero())));
      }
    }
  }

  PeerMetrics::Children PeerMetrics::BuildFamily(const char* name, const char* help)
  {
    auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
    return {lines_.GetCount(),
            [this, &family](std::size_t line) -> prometheus::Counter&
            {
              return family.Add(lines_.MakeLabels(line));
            }};
  }

  PeerMetrics::Children PeerMetrics::BuildPhaseFamily()
  {
    auto& family = prometheus::BuildCounter()
                       .Name("orthanc_perf_peer_phase_seconds_total")
                       .Help("Time of the peer's instances in each phase.")
                       .Register(registry_);
    return {lines_.GetCount() * PHASE_COUNT,
            [this, &family](std::size_t number) -> prometheus::Counter&
            {
              prometheus::Labels labels = lines_.MakeLabels(number / PHASE_COUNT);
              labels["phase"] = ToLabel(GetAllPhases().at(number % PHASE_COUNT));
              return family.Add(labels);
            }};
  }
}
