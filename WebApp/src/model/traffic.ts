// SPDX-License-Identifier: GPL-3.0-or-later
// The mean instance of the latest traffic, as tile and breakdown show it.
import type { Direction, PhaseName, PhaseTimes, Status, Traffic, TrafficWindow } from './answers';
import { getPause, getStalled, splitPhases, type PhasePart } from './phases';

// The shortest window in which anything went through
export function findWindow(status: Status | undefined, direction: Direction): TrafficWindow | undefined {
  return status?.Windows.find((one) => one[direction].Instances > 0);
}

// "last 10 s", "last 5 min"
export function describeWindow({ Length: length }: TrafficWindow): string {
  return length < 60 ? `last ${length} s` : `last ${length / 60} min`;
}

export interface MeanInstance {
  parts: PhasePart[]; // their sum is its time, stalls included
  stalled: number | undefined; // not observed
  pause: number | undefined; // before it, without stalls
}

// Not every instance has every phase, so the mean of all is what adds up
export function describeMean(traffic: Traffic | undefined, direction: Direction): MeanInstance {
  const instances = Math.max(traffic?.Instances ?? 1, 1);
  const means: PhaseTimes = {};
  for (const [name, latency] of Object.entries(traffic?.Phases ?? {})) {
    means[name as PhaseName] = latency.Total / instances;
  }
  const { StallTime, StallTimeInIdle = 0 } = traffic ?? {};
  const stalls = { StallTime: (StallTime ?? 0) / instances, StallTimeInIdle: StallTimeInIdle / instances };
  const parts = splitPhases(means, direction, stalls);
  return { parts, stalled: StallTime === undefined ? undefined : getStalled(parts), pause: getPause(means, stalls) };
}
