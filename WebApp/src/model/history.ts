// SPDX-License-Identifier: GPL-3.0-or-later
// What charts are drawn from: one point for each second or minute.
import type { Direction, HistoryAnswer, HistoryTraffic, Instance, PhaseName, PhaseTimes } from './answers';
import { parseMoment } from './format';

// Rates are "a second", whatever the resolution
export interface Point {
  time: number; // seconds since 1970
  instances: number;
  bytes: number;
  stallTime: number | undefined; // not observed
  stallTimeInIdle: number | undefined; // of it, what lies in the pauses before the instances
  phases: PhaseTimes;
  held: number; // not "a second": the most bytes of large images at once
  waiting: number; // nor this: the most of them that waited at once
}

export type Points = Record<Direction, Point[]>;

function toPoint(traffic: HistoryTraffic, index: number, answer: HistoryAnswer, begin: number): Point {
  const rate = (values: number[] | undefined) => (values?.[index] ?? 0) / answer.Resolution;
  const phases: PhaseTimes = {};
  for (const [name, values] of Object.entries(traffic.Phases)) {
    if ((values[index] ?? 0) > 0) {
      phases[name as PhaseName] = rate(values);
    }
  }
  return {
    time: begin + index * answer.Resolution,
    instances: rate(traffic.Instances),
    bytes: rate(traffic.Bytes),
    stallTime: traffic.StallSeconds && rate(traffic.StallSeconds),
    stallTimeInIdle: traffic.StallIdleSeconds && rate(traffic.StallIdleSeconds),
    phases,
    held: answer.BudgetHeld[index] ?? 0,
    waiting: answer.BudgetWaiting[index] ?? 0,
  };
}

export function toPoints(answer: HistoryAnswer, direction: Direction): Point[] {
  const traffic = answer[direction];
  const begin = parseMoment(answer.Begin);
  return traffic.Instances.map((_, index) => toPoint(traffic, index, answer, begin));
}

// Newer points replace those of the same time and follow the others; what is older than "keep"
// seconds before the newest goes
export function mergePoints(known: readonly Point[], newer: readonly Point[], keep: number): Point[] {
  const begin = newer[0]?.time ?? Number.POSITIVE_INFINITY;
  const merged = [...known.filter((point) => point.time < begin), ...newer];
  const oldest = (merged.at(-1)?.time ?? 0) - keep;
  return merged.filter((point) => point.time >= oldest);
}

const addKnown = (sum: number | undefined, time: number | undefined) => (time === undefined ? sum : (sum ?? 0) + time);
const getSecond = ({ FinishedAt }: Instance) => Math.floor(parseMoment(FinishedAt));

// Single instances as a point a second, until the second that is over last. The server remembers those that were not
// stored apart, and longer: they don't tell of what was stored at their time.
export function countUp(instances: readonly Instance[], last: number): Point[] {
  const seconds = instances.map(getSecond);
  const stored = instances.filter(({ Outcome }) => Outcome === 'Stored').map(getSecond);
  const first = Math.max(Math.min(...(stored.length > 0 ? stored : seconds)), last - 3600);
  const points = Array.from({ length: Math.max(last - first + 1, 0) }, (_, index): Point => ({
    time: first + index, instances: 0, bytes: 0, stallTime: undefined, stallTimeInIdle: undefined, phases: {}, held: 0, waiting: 0,
  }));
  for (const [index, { Size, StallTime, StallTimeInIdle, Phases }] of instances.entries()) {
    const point = points[(seconds[index] ?? 0) - first];
    if (point !== undefined) {
      point.instances += 1;
      point.bytes += Size;
      point.stallTime = addKnown(point.stallTime, StallTime);
      point.stallTimeInIdle = addKnown(point.stallTimeInIdle, StallTimeInIdle);
      for (const [name, time] of Object.entries(Phases)) {
        point.phases[name as PhaseName] = (point.phases[name as PhaseName] ?? 0) + time;
      }
    }
  }
  return points;
}

// The mean of rates, and the most of what counts at once
function summarize(points: readonly Point[]): Point {
  const average = (get: (point: Point) => number) =>
    points.reduce((sum, point) => sum + get(point), 0) / points.length;
  const averageKnown = (key: 'stallTime' | 'stallTimeInIdle') =>
    points.every((point) => point[key] === undefined) ? undefined : average((point) => point[key] ?? 0);
  const phases: PhaseTimes = {};
  for (const name of new Set(points.flatMap((point) => Object.keys(point.phases) as PhaseName[]))) {
    phases[name] = average((point) => point.phases[name] ?? 0);
  }
  return {
    time: points[0]?.time ?? 0,
    instances: average((point) => point.instances),
    bytes: average((point) => point.bytes),
    stallTime: averageKnown('stallTime'),
    stallTimeInIdle: averageKnown('stallTimeInIdle'),
    phases,
    held: Math.max(...points.map((point) => point.held)),
    waiting: Math.max(...points.map((point) => point.waiting)),
  };
}

// Seconds from one to the next where none are missing
function findUsualStep(times: readonly number[]): number {
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
}

// No more points than a chart has pixels: neighbours become one. Groups begin at multiples of
// their length, so that a chart does not flicker as it moves on.
export function thinOut(points: readonly Point[], most: number): Point[] {
  const size = Math.ceil(points.length / most);
  if (size <= 1) {
    return [...points];
  }
  const step = findUsualStep(points.map((point) => point.time));
  const groups = new Map<number, Point[]>();
  for (const point of points) {
    const key = Math.floor(point.time / step / size);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [point]);
    } else {
      group.push(point);
    }
  }
  return [...groups.values()].map(summarize);
}

// From a point to the next one, where some are missing between them: Orthanc did not run, or the page
// was not looked at for longer than the server remembers
export function findGaps(times: readonly number[]): [number, number][] {
  const usual = findUsualStep(times);
  return times.slice(1).flatMap((time, index): [number, number][] => {
    const before = times[index] ?? time;
    return time - before > 2 * usual ? [[before, time]] : [];
  });
}

export interface Speed {
  instances: number;
  bytes: number;
}

const LEAST = 2; // whole seconds: some 4 s of traffic, of which the first and the last are cut

// The images of both directions after a moment; of points that are a second each
export function countAfter(points: Points, time: number): number {
  const all = [...points.Receive, ...points.Send];
  return all.reduce((sum, point) => sum + (point.time > time ? point.instances : 0), 0);
}

// How fast it went while it went: in seconds between two others that had something, too. In those at
// the ends of a burst there was rest as well, and no point says how much: 0.4 s would count as one
// second or two. So a burst that is too short has no speed.
function measure(points: readonly Point[]): Speed | null {
  const busy = new Set(points.filter((point) => point.instances > 0).map((point) => point.time));
  const whole = points.filter(({ time }) => [time - 1, time, time + 1].every((second) => busy.has(second)));
  return whole.length < LEAST ? null : summarize(whole);
}

function isBrief(points: readonly Point[]): boolean {
  return measure(points) === null && points.some((point) => point.instances > 0);
}

export interface BeforeAfter {
  before: Speed | null;
  after: Speed | null;
  isBrief: boolean; // something went through, before or after, but for too short a time to have a speed
}

export const COMPARED = 30; // seconds on either side
const SETTLING = 1; // seconds: the change itself lies in one of the points

// The speeds just before and just after a change, up to its neighbouring changes; of points that are
// a second each
export function compareAround(
  points: readonly Point[], time: number, earlier: number, later: number,
): BeforeAfter {
  const begin = time + SETTLING;
  const from = Math.max(time - COMPARED, earlier + SETTLING);
  const to = Math.min(begin + COMPARED, later);
  const before = points.filter((point) => point.time >= from && point.time + 1 <= time);
  const after = points.filter((point) => point.time >= begin && point.time + 1 <= to);
  return { before: measure(before), after: measure(after), isBrief: [before, after].some(isBrief) };
}
