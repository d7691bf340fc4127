// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked for, and how often.
import { watch } from 'vue';
import { perf, RequestError } from '../api';
import type { Direction, Finding, Health, HistoryAnswer, Instance, Peer, Served, Status, Tuning } from '../model/answers';
import { parseMoment, toMoment } from '../model/format';
import { countUp, mergePoints, toPoints, type Point, type Points } from '../model/history';
import { adoptChanges, adoptTuning, askPermission, askSources } from './changes';
import { countApplied } from './outcome';
import { hasten, startPolling, type Task } from './poller';
import { state, view } from './state';

const SHOWN_INSTANCES = 20;
const CHARTED_INSTANCES = 1000; // of a peer: as many as the server remembers, unless it is told otherwise
const NEWER_INSTANCES = 100; // to go on with what is charted
const SHOWN_REQUESTS = 10;
const KEPT_SECONDS = 3600;
const KEPT_MINUTES = 86400;

const NOT_FOUND = 404;
const UNAVAILABLE = 503;

async function askStatus(): Promise<void> {
  state.status = await perf.get<Status>('status');
}

interface InstanceFilter {
  direction: Direction;
  peer: string;
}

function listInstances(limit: number, { direction, peer }: InstanceFilter, onlyFailed = false): Promise<Instance[]> {
  const filter = new URLSearchParams({ limit: String(limit), direction });
  if (peer !== '') {
    filter.set('peer', peer);
  }
  if (onlyFailed) {
    filter.set('outcome', 'Failed');
  }
  return perf.get<Instance[]>(`instances?${filter.toString()}`);
}

async function askInstances(): Promise<void> {
  const { direction, peer, onlyFailed } = view;
  const charted = peer === '' ? undefined : await chartPeer({ direction, peer });
  const latest = charted === undefined || onlyFailed ? await listInstances(SHOWN_INSTANCES, { direction, peer }, onlyFailed) : charted;
  state.instances = { ...state.instances, [direction]: latest.slice(0, SHOWN_INSTANCES) };
}

// All that the server remembers, but only if the newest do not reach back to what is known
async function listCharted(filter: InstanceFilter, known: readonly Point[]): Promise<Instance[]> {
  const end = known.at(-1)?.time;
  if (end !== undefined) {
    const newest = await listInstances(NEWER_INSTANCES, filter);
    if (newest.length < NEWER_INSTANCES || parseMoment(newest.at(-1)?.FinishedAt ?? '') < end + 1) {
      return newest;
    }
  }
  return listInstances(CHARTED_INSTANCES, filter);
}

// The first second of those that are told may lack some that are forgotten, and all may, if none that was stored is told:
// what is known of these seconds stays
async function chartPeer(filter: InstanceFilter): Promise<Instance[]> {
  const { direction, peer } = filter;
  const known = state.peerSeconds.peer === peer ? state.peerSeconds.points : { Receive: [], Send: [] };
  const latest = await listCharted(filter, known[direction]);
  const points = countUp(latest, state.seconds[direction].at(-1)?.time ?? 0);
  const end = known[direction].at(-1)?.time ?? 0;
  const isFirstKnown = known[direction].some(({ time }) => time === points[0]?.time);
  const newer = latest.some(({ Outcome }) => Outcome === 'Stored')
    ? points.slice(isFirstKnown ? 1 : 0)
    : points.filter(({ time }) => time > end);
  state.peerSeconds = { peer, points: { ...known, [direction]: mergePoints(known[direction], newer, KEPT_SECONDS) } };
  return latest;
}

// The list of many peers is long, and most of it is the same again
const MANY_PEERS = 50;
const PEERS: Task = { period: 4, run: askPeers };

async function askPeers(): Promise<void> {
  state.peers = await perf.get<Peer[]>('peers');
  PEERS.period = state.peers.length > MANY_PEERS ? 15 : 4;
}

async function askServed(): Promise<void> {
  const filter = new URLSearchParams({ limit: String(SHOWN_REQUESTS) });
  if (view.requestClass !== '') {
    filter.set('class', view.requestClass);
  }
  if (view.requestClient !== '') {
    filter.set('client', view.requestClient);
  }
  state.served = await perf.get<Served>(`requests?${filter.toString()}`);
}

async function askTuning(): Promise<void> {
  const before = state.tuning;
  const tuning = await perf.get<Tuning>('tuning');
  if (state.tuning === before) { // else a change has a newer answer
    adoptTuning(tuning);
  }
  await askSources();
}

function isHealth(body: unknown): body is Health {
  return typeof (body as Partial<Health> | null | undefined)?.Healthy === 'boolean';
}

// A 503 that says what is wrong is an answer. An older plugin has no such route, and nothing is known
// of its health. Any other failure says nothing of it: what is known stays.
function readHealth(error: unknown): Health | undefined {
  if (error instanceof RequestError && error.status === UNAVAILABLE && isHealth(error.body)) {
    return error.body;
  }
  if (error instanceof RequestError && error.status === NOT_FOUND) {
    return undefined;
  }
  throw error;
}

async function askHealth(): Promise<void> {
  state.health = await perf.get<Health>('health').catch(readHealth);
}

async function askAdvice(): Promise<void> {
  const counted = countApplied();
  state.findings = await perf.get<Finding[]>('advice');
  state.counted = counted;
}

// What comes after the points that are known, which never change; at first all there is, so that
// the clock of this machine plays no part
function findSince(points: Points, resolution: number): string {
  const last = points.Receive.at(-1)?.time;
  return last === undefined ? '' : `&since=${toMoment(last + resolution)}`;
}

async function askHistory(resolution: 'second' | 'minute', known: Points, keep: number): Promise<Points> {
  const since = findSince(known, resolution === 'second' ? 1 : 60);
  const answer = await perf.get<HistoryAnswer>(`history?resolution=${resolution}${since}`);
  adoptChanges(answer.TuningChanges);
  return {
    Receive: mergePoints(known.Receive, toPoints(answer, 'Receive'), keep),
    Send: mergePoints(known.Send, toPoints(answer, 'Send'), keep),
  };
}

async function askSeconds(): Promise<void> {
  state.seconds = await askHistory('second', state.seconds, KEPT_SECONDS);
}

async function askMinutes(): Promise<void> {
  if (view.range.resolution === 'minute') {
    state.minutes = await askHistory('minute', state.minutes, KEPT_MINUTES);
  }
}

const INSTANCES: Task = { period: 2, run: askInstances };
const MINUTES: Task = { period: 2, run: askMinutes };
const SERVED: Task = { period: 4, run: askServed };

const TASKS: Task[] = [
  { period: 2, run: askStatus, isVital: true },
  { period: 3600, run: askPermission },
  { period: 10, run: askTuning },
  { period: 2, run: askSeconds },
  INSTANCES,
  PEERS,
  SERVED,
  { period: 5, run: askHealth }, // before the findings: without any, all is well
  { period: 4, run: askAdvice },
  MINUTES,
];

export function startObserving(): void {
  startPolling(TASKS);
  // What the reader has just chosen is to be there at once
  watch(() => [view.direction, view.peer, view.onlyFailed], () => hasten(INSTANCES));
  watch(() => [view.requestClass, view.requestClient], () => hasten(SERVED));
  watch(() => view.range, () => hasten(MINUTES));
}
