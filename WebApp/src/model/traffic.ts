// SPDX-License-Identifier: GPL-3.0-or-later
// The mean instance of the latest traffic, as tile and breakdown show it.
import type { Direction, PhaseName, PhaseTimes, Status, Traffic, TrafficWindow } from './answers';
import { getPause, splitPhases, type PhasePart } from './phases';

// The shortest window in which anything went through
export function findWindow(status: Status | undefined, direction: Direction): TrafficWindow | undefined {
  return status?.Windows.find((one) => one[direction].Instances > 0);
}

export interface MeanInstance {
  parts: PhasePart[]; // their sum is its time, stalls included
  stalled: number | undefined; // not observed
  pause: number | undefined; // before it, without stalls
}

// Not every instance has every phase, so the mean of all is what adds up
export function describeMean(traffic: Traffic | undefined, direction: Direction): MeanInstance {
  const means: PhaseTimes = {};
  for (const [name, latency] of Object.entries(traffic?.Phases ?? {})) {
    means[name as PhaseName] = latency.Total / (traffic?.Instances ?? 1);
  }
  const stalled = traffic?.StallTime === undefined ? undefined : traffic.StallTime / Math.max(traffic.Instances, 1);
  return { parts: splitPhases(means, direction, stalled), stalled, pause: getPause(means, stalled) };
}
