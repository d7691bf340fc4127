// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Ingest/FinishedInstance.h"

#include <string>

namespace OrthancPerf
{
  inline TimePoint At(int milliseconds)
  {
    return TimePoint(std::chrono::milliseconds(milliseconds));
  }

  // The phases that were observed, in milliseconds: "receive 3, prepare 4 = 7", with their total
  inline std::string ToText(const PhaseDurations& phases)
  {
    const auto count = [](Duration time)
    {
      return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
    };
    std::string text;

    for (const Phase phase : GetAllPhases())
    {
      if (const std::optional<Duration> time = phases.Get(phase))
      {
        text += (text.empty() ? "" : ", ") + std::string(ToLabel(phase)) + " " + count(*time);
      }
    }

    return text + " = " + count(phases.GetTotal());
  }

  // "send failed by itself, PACS 10.0.0.1: send 3, wait 4 = 7, 1 stalled; no answer"
  inline std::string ToText(const FinishedInstance& instance)
  {
    return std::string(ToLabel(instance.direction)) + " " + ToLabel(instance.outcome) +
           (instance.isOwnFailure ? " by itself, " : ", ") + instance.peer.name + " " +
           instance.peer.address + ": " + ToText(instance.phases) +
           (instance.stalls == 0 ? "" : ", " + std::to_string(instance.stalls) + " stalled") +
           (instance.reason.empty() ? "" : "; " + instance.reason);
  }
}
