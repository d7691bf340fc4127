// SPDX-License-Identifier: GPL-3.0-or-later
// Where the bars of the waterfall begin and end, as shares of its width.
import type { Instance, PartName } from './answers';
import { parseMoment } from './format';
import { splitPhases, sumParts } from './phases';

export type Scale = 'clock' | 'aligned';

export interface Segment {
  phase: PartName;
  begin: number;
  width: number;
}

export interface Row {
  key: string;
  instance: Instance;
  finished: number;
  segments: Segment[];
  stalls: Segment[];
}

export interface Waterfall {
  rows: Row[];
  length: number; // seconds from the left to the right
}

interface Span {
  from: number; // seconds
  to: number;
}

// As a share of the mean duration: how much of the clock is shown at most. Beyond that, bars
// would be too thin to be seen.
const MOST_DURATIONS = 28;

function getIdle(instance: Instance): number {
  return instance.Phases.Idle ?? 0;
}

// Stalls included, as everywhere on the page
export function getTime(instance: Instance): number {
  return sumParts(splitPhases(instance.Phases, instance.Direction, instance));
}

// The durations of the phases begin where the pause of the sender ends
function getBegin(instance: Instance): number {
  return parseMoment(instance.FinishedAt) - instance.Duration;
}

function findClockSpan(instances: readonly Instance[]): Span {
  const to = Math.max(...instances.map((instance) => parseMoment(instance.FinishedAt)));
  const durations = instances.map((instance) => instance.Duration + getIdle(instance));
  const mean = durations.reduce((sum, duration) => sum + duration, 0) / durations.length;
  const earliest = Math.min(...instances.map(getBegin));
  const oldest = to - Math.max(MOST_DURATIONS * mean, 1e-3);
  return { from: Math.max(earliest, oldest), to };
}

function findAlignedSpan(instances: readonly Instance[]): Span {
  return { from: 0, to: Math.max(...instances.map(getTime), 1e-6) };
}

function place(phase: PartName, begin: number, time: number, span: Span): Segment {
  const length = span.to - span.from;
  const left = Math.min(Math.max((begin - span.from) / length, 0), 1);
  const right = Math.min(Math.max((begin + time - span.from) / length, 0), 1);
  return { phase, begin: left, width: right - left };
}

// The probe tells how long an instance stalled, not when: a mark ends with the pause, and with each phase from which
// stalls are taken.
function layOutRow(instance: Instance, begin: number, span: Span): Row {
  const { Phases, Direction, StallTimeInIdle = 0 } = instance;
  const idle = getIdle(instance);
  const segments = [place('Idle', begin - idle, idle, span)];
  const stalls = [place('Idle', begin - StallTimeInIdle, StallTimeInIdle, span)];
  const withoutStalls = splitPhases(Phases, Direction, instance);
  let at = begin;
  for (const { info, time } of splitPhases(Phases, Direction)) {
    segments.push(place(info.name, at, time, span));
    at += time;
    const stalled = time - (withoutStalls.find((part) => part.info === info)?.time ?? time);
    stalls.push(place(info.name, at - stalled, stalled, span));
  }
  return {
    key: `${instance.FinishedAt} ${instance.ID ?? ''} ${instance.Peer}`,
    instance,
    finished: parseMoment(instance.FinishedAt),
    segments: segments.filter(({ width }) => width > 0),
    stalls: stalls.filter(({ width }) => width > 0),
  };
}

// "clock": each bar where it was in time, as in a browser's network panel. "aligned": all bars
// begin at the left, to compare their lengths.
export function layOut(instances: readonly Instance[], scale: Scale): Waterfall {
  if (instances.length === 0) {
    return { rows: [], length: 0 };
  }
  const span = scale === 'clock' ? findClockSpan(instances) : findAlignedSpan(instances);
  const rows = instances.map((instance) =>
    layOutRow(instance, scale === 'clock' ? getBegin(instance) : getTime(instance) - instance.Duration, span),
  );
  return { rows, length: span.to - span.from };
}
