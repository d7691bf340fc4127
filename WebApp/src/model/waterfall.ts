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
  stall: Segment | null;
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
export function getTime({ Phases, Direction, StallTime }: Instance): number {
  return sumParts(splitPhases(Phases, Direction, StallTime));
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

// The probe tells how long an instance stalled, not when. Stalls by Nagle's algorithm are in the pause before it:
// the mark ends with that pause. Without a pause, it ends with a phase that waits for the network.
function placeStall(instance: Instance, begin: number, span: Span): Segment | null {
  const time = instance.StallTime ?? 0;
  if (time <= 0) {
    return null;
  }
  const before = Math.min(time, getIdle(instance));
  if (before > 0) {
    return place('Idle', begin - before, time, span);
  }
  let end = begin;
  for (const { info, time: length } of splitPhases(instance.Phases, instance.Direction)) {
    end += length;
    if ((info.name === 'Receive' || info.name === 'Wait') && length >= time) {
      return place(info.name, end - time, time, span);
    }
  }
  return place('Idle', begin, time, span);
}

function layOutRow(instance: Instance, begin: number, span: Span): Row {
  const segments: Segment[] = [];
  const idle = getIdle(instance);
  if (idle > 0) {
    segments.push(place('Idle', begin - idle, idle, span));
  }
  const stall = placeStall(instance, begin, span);
  let at = begin;
  for (const { info, time } of splitPhases(instance.Phases, instance.Direction)) {
    segments.push(place(info.name, at, time, span));
    at += time;
  }
  return {
    key: `${instance.FinishedAt} ${instance.ID ?? ''} ${instance.Peer}`,
    instance,
    finished: parseMoment(instance.FinishedAt),
    segments: segments.filter((segment) => segment.width > 0),
    stall: stall !== null && stall.width > 0 ? stall : null,
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
