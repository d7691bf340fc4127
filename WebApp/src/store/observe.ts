// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked for, and how often.
import { perf } from '../api';
import type { Direction, Finding, HistoryAnswer, Instance, Peer, Status, Tuning } from '../model/answers';
import { mergePoints, sampleStatus, toPoints, type Point } from '../model/history';
import { adoptChanges } from './changes';
import { startPolling, type Task } from './poller';
import { now, state, view } from './state';

const DIRECTIONS: readonly Direction[] = ['Receive', 'Send'];
const SHOWN_INSTANCES = 24;
const KEPT_SECONDS = 3600;
const KEPT_MINUTES = 86400;
const FIRST_SECONDS = 300;

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
      addPoints(direction, point === null ? [] : [point]);
    }
  }
}

function addPoints(direction: Direction, points: readonly Point[]): void {
  state.seconds = {
    ...state.seconds,
    [direction]: mergePoints(state.seconds[direction], points, KEPT_SECONDS),
  };
}

async function askInstances(): Promise<void> {
  state.instances = await perf.get<Instance[]>(`instances?limit=${SHOWN_INSTANCES}`);
}

async function askPeers(): Promise<void> {
  state.peers = await perf.get<Peer[]>('peers');
}

async function askTuning(): Promise<void> {
  state.tuning = await perf.get<Tuning>('tuning');
}

async function askAdvice(): Promise<void> {
  if (state.findings !== null) {
    state.findings = await perf.get<Finding[]>('advice');
  }
}

// The seconds that are not known yet, and those that may still have changed. A longer range than
// what is known is asked for as a whole.
function findSince(wanted: number): number {
  const known = state.seconds.Receive;
  const first = known[0]?.time;
  const last = known.at(-1)?.time;
  if (first === undefined || last === undefined) {
    return Math.floor(now() - wanted);
  }
  return last - first < wanted - 5 && askedSeconds < wanted ? Math.floor(last - wanted) : last - 1;
}

let askedSeconds = 0;

async function askSeconds(): Promise<void> {
  if (state.hasHistory !== true) {
    return;
  }
  const wanted = view.range.resolution === 'second' ? view.range.seconds : FIRST_SECONDS;
  const since = findSince(wanted);
  const answer = await perf.get<HistoryAnswer>(`history?resolution=second&since=${since}`);
  askedSeconds = Math.max(askedSeconds, wanted);
  for (const direction of DIRECTIONS) {
    addPoints(direction, toPoints(answer, direction));
  }
  adoptChanges(answer.TuningChanges);
}

async function askMinutes(): Promise<void> {
  if (view.range.resolution !== 'minute' || state.hasHistory !== true) {
    return;
  }
  const last = state.minutes.Receive.at(-1)?.time ?? Math.floor(now() - KEPT_MINUTES);
  const answer = await perf.get<HistoryAnswer>(`history?resolution=minute&since=${last - 60}`);
  state.minutes = {
    Receive: mergePoints(state.minutes.Receive, toPoints(answer, 'Receive'), KEPT_MINUTES),
    Send: mergePoints(state.minutes.Send, toPoints(answer, 'Send'), KEPT_MINUTES),
  };
  adoptChanges(answer.TuningChanges);
}

const TASKS: Task[] = [
  { period: 300, run: askRoutes },
  { period: 2, run: askStatus },
  { period: 10, run: askTuning },
  { period: 2, run: askSeconds },
  { period: 2, run: askInstances },
  { period: 4, run: askPeers },
  { period: 4, run: askAdvice },
  { period: 2, run: askMinutes },
];

export function startObserving(): void {
  startPolling(TASKS);
}
