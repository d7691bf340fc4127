// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked for, and how often.
import { watch } from 'vue';
import { perf } from '../api';
import type { Direction, Finding, HistoryAnswer, Instance, Peer, Status, Tuning } from '../model/answers';
import { mergePoints, sampleStatus, toPoints, type Points } from '../model/history';
import { adoptChanges, askSources } from './changes';
import { hasten, startPolling, type Task } from './poller';
import { now, state, view } from './state';

const DIRECTIONS: readonly Direction[] = ['Receive', 'Send'];
const SHOWN_INSTANCES = 20;
const KEPT_SECONDS = 3600;
const KEPT_MINUTES = 86400;

// What this plugin has: a page may be newer than the plugin behind a proxy, and a plugin may be
// built without a part of it
async function askRoutes(): Promise<void> {
  const routes = await perf.get<Record<string, unknown>>('');
  state.hasHistory = '/perf/history' in routes;
  state.hasComparison = '/perf/transcoding/compare' in routes;
  state.findings = '/perf/advice' in routes ? (state.findings ?? []) : null;
}

async function askStatus(): Promise<void> {
  const status = await perf.get<Status>('status');
  state.status = status;
  if (state.hasHistory === false) {
    for (const direction of DIRECTIONS) {
      const point = sampleStatus(status, direction, now());
      const known = state.seconds[direction];
      const points = mergePoints(known, point === null ? [] : [point], KEPT_SECONDS);
      state.seconds = { ...state.seconds, [direction]: points };
    }
  }
}

async function askInstances(): Promise<void> {
  const { direction } = view;
  const latest = await perf.get<Instance[]>(`instances?limit=${SHOWN_INSTANCES}&direction=${direction}`);
  state.instances = { ...state.instances, [direction]: latest };
}

// The list of many peers is long, and most of it is the same again
const MANY_PEERS = 50;
const PEERS: Task = { period: 4, run: askPeers };

async function askPeers(): Promise<void> {
  state.peers = await perf.get<Peer[]>('peers');
  PEERS.period = state.peers.length > MANY_PEERS ? 15 : 4;
}

async function askTuning(): Promise<void> {
  state.tuning = await perf.get<Tuning>('tuning');
  await askSources();
}

async function askAdvice(): Promise<void> {
  if (state.findings !== null) {
    state.findings = await perf.get<Finding[]>('advice');
  }
}

// What comes after the points that are known, which never change; at first all there is, so that
// the clock of this machine plays no part
function findSince(points: Points, resolution: number): string {
  const last = points.Receive.at(-1)?.time;
  return last === undefined ? '' : `&since=${last + resolution}`;
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
  if (state.hasHistory === true) {
    state.seconds = await askHistory('second', state.seconds, KEPT_SECONDS);
  }
}

async function askMinutes(): Promise<void> {
  if (state.hasHistory === true && view.range.resolution === 'minute') {
    state.minutes = await askHistory('minute', state.minutes, KEPT_MINUTES);
  }
}

const INSTANCES: Task = { period: 2, run: askInstances };
const MINUTES: Task = { period: 2, run: askMinutes };

const TASKS: Task[] = [
  { period: 300, run: askRoutes },
  { period: 2, run: askStatus },
  { period: 10, run: askTuning },
  { period: 2, run: askSeconds },
  INSTANCES,
  PEERS,
  { period: 4, run: askAdvice },
  MINUTES,
];

export function startObserving(): void {
  startPolling(TASKS);
  // What the reader has just chosen is to be there at once
  watch(() => view.direction, () => hasten(INSTANCES));
  watch(() => view.range, () => hasten(MINUTES));
}
