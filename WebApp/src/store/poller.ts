// SPDX-License-Identifier: GPL-3.0-or-later
// Asks the server again and again: one request after the other, less often while it does not
// answer, not at all while nobody looks at the page. A single route that fails, as a proxy may forbid
// it, keeps nothing else from being asked.
import { getReason, RequestError } from '../api';
import { now, state } from './state';

export interface Task {
  period: number; // seconds
  run: () => Promise<void>;
  isVital?: boolean; // without it, there is nothing to show
  due?: number; // by the clock below
  refusal?: string; // why it has failed; empty: it has not
}

const SHORTEST_RETRY = 2;
const LONGEST_RETRY = 30;
const TICK = 0.5;

let timer: ReturnType<typeof setTimeout> | undefined;
let retry = SHORTEST_RETRY;
let isRunning = false;

// Seconds that only go on: the time of day may be set back
function getUptime(): number {
  return performance.now() / 1000;
}

function describe(error: unknown): string {
  return error instanceof RequestError ? `${error.path}: ${error.message}` : getReason(error);
}

async function run(task: Task): Promise<void> {
  try {
    await task.run();
    task.refusal = '';
    task.due = getUptime() + task.period;
  } catch (error) {
    if (task.isVital) {
      throw error;
    }
    task.refusal = describe(error);
    task.due = getUptime() + LONGEST_RETRY;
  }
}

async function runDue(tasks: readonly Task[]): Promise<void> {
  for (const task of tasks) {
    if ((task.due ?? 0) <= getUptime()) {
      await run(task);
    }
  }
  state.refusal = tasks.find((task) => task.refusal)?.refusal ?? '';
}

function onAnswered(): void {
  state.connection = 'live';
  state.updated = now();
  retry = SHORTEST_RETRY;
}

function onFailure(error: unknown): void {
  const isForbidden = error instanceof RequestError && (error.status === 401 || error.status === 403);
  state.connection = isForbidden ? 'forbidden' : 'retrying';
  state.problem = describe(error);
  state.retryAt = now() + retry;
}

async function tick(tasks: readonly Task[]): Promise<void> {
  isRunning = true;
  let delay = TICK;
  try {
    await runDue(tasks);
    onAnswered();
  } catch (error) {
    onFailure(error);
    tasks.forEach(hasten); // they may have failed for the same reason
    delay = retry;
    retry = Math.min(retry * 2, LONGEST_RETRY);
  }
  isRunning = false;
  schedule(tasks, delay);
}

function schedule(tasks: readonly Task[], delay: number): void {
  clearTimeout(timer);
  if (!document.hidden && !isRunning) {
    timer = setTimeout(() => void tick(tasks), delay * 1000);
  }
}

export function startPolling(tasks: readonly Task[]): void {
  document.addEventListener('visibilitychange', () => schedule(tasks, 0));
  schedule(tasks, 0);
}

// After a change, the next look is to be at once
export function hasten(task: Task): void {
  task.due = 0;
}
