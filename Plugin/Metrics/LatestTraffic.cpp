// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/LatestTraffic.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // Where each instance has a slot of its own, as many as are evidence
    constexpr auto SLOT_COUNT = static_cast<std::size_t>(LatestTraffic::EVIDENCE_INSTANCES);
  }


  TrafficRates TrafficRates::Make(const TrafficBucket& traffic, Duration time)
  {
    return {traffic.instances / ToSeconds(time), traffic.bytes / ToSeconds(time)};
  }


  LatestTraffic::LatestTraffic(TimePoint start) : slots_(SLOT_LENGTH, SLOT_COUNT, start)
  {
  }


  // While an instance is at work there is no silence, however long it takes
  void LatestTraffic::Add(const FinishedInstance& instance, TimePoint now) noexcept
  {
    const bool isFirst = latest_ == TimePoint();
    const Duration longest =
        std::max<Duration>(TrafficBucket::MAXIMUM_PAUSE, instance.phases.GetTotal());
    TrafficBucket& slot = slots_.At(now);
    slot.Add(instance);
    slot.activeSeconds +=
        isFirst ? 0 : ToSeconds(std::clamp(now - latest_, Duration::zero(), longest));
    latest_ = std::max(latest_, now);
  }


  void LatestTraffic::Restart(TimePoint now) noexcept
  {
    slots_.Clear(now);
    latest_ = TimePoint();
  }


  TrafficRates LatestTraffic::GetRates(TimePoint now) const
  {
    TrafficBucket sum;
    slots_.ForEach(slots_.GetBegin(now, SLOTS_OF_A_MINUTE),
                   [&sum](const TrafficBucket& slot, TimePoint) { sum += slot; });
    return TrafficRates::Make(sum, slots_.GetCovered(now, SLOTS_OF_A_MINUTE));
  }


  TrafficBucket LatestTraffic::GetEvidence(TimePoint now) const
  {
    TrafficBucket sum;

    if (now - latest_ <= MAXIMUM_AGE)
    {
      slots_.ForEachWhile(
          [&sum](const TrafficBucket& slot, TimePoint)
          {
            const bool isWanted =
                sum.activeSeconds < EVIDENCE_SECONDS || sum.instances < EVIDENCE_INSTANCES;

            if (isWanted)
            {
              sum += slot;
            }

            return isWanted;
          });
    }

    return sum;
  }
}
