// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked for and charted of a peer that is picked.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import 'vue'; // which looks at the document when it is loaded: at none
import type { Instance } from '../../src/model/answers';
import { toMoment } from '../../src/model/format';
import { makeHistory, makeInstance } from './answers';

const BEGIN = 1000;
const at = (second: number, Outcome: Instance['Outcome'] = 'Stored') => makeInstance({ FinishedAt: toMoment(BEGIN + second), Outcome });

let seconds: number; // that the server has counted
let remembered: Instance[]; // the newest first
let asked: URLSearchParams[];

async function answer({ pathname, searchParams }: URL): Promise<Response> {
  if (pathname === '/perf/history') {
    return Response.json(makeHistory(BEGIN, Array<number>(seconds).fill(1)));
  }
  if (pathname !== '/perf/instances') {
    return Response.json([]);
  }
  asked.push(searchParams);
  const outcome = searchParams.get('outcome');
  return Response.json(remembered.filter(({ Outcome }) => outcome === null || Outcome === outcome).slice(0, Number(searchParams.get('limit'))));
}

beforeEach(() => {
  [seconds, remembered, asked] = [5, [at(3), at(1)], []];
  vi.useFakeTimers();
  vi.stubGlobal('location', { origin: 'http://localhost', pathname: '/perf' });
  vi.stubGlobal('document', { hidden: false, addEventListener: () => undefined });
  vi.stubGlobal('fetch', answer);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.resetModules();
});

async function observe(onlyFailed = false) {
  const { startObserving } = await import('../../src/store/observe');
  const { state, view } = await import('../../src/store/state');
  Object.assign(view, { peer: 'CT', onlyFailed });
  startObserving();
  await goOn();
  const list = () => state.peerSeconds.points.Receive.map(({ time, instances }) => [time - BEGIN, instances]);
  return { state, list };
}

// To the next look
async function goOn(): Promise<void> {
  asked = [];
  await vi.advanceTimersByTimeAsync(2500);
}

const listLimits = () => asked.map((parameters) => parameters.get('limit'));

test('all is asked for once, then the newest, unless these do not reach back to what is known', async () => {
  const { list } = await observe();
  expect(listLimits()[0]).toBe('1000');
  expect(list()).toEqual([[1, 1], [2, 0], [3, 1], [4, 0]]);
  [seconds, remembered] = [6, [at(5), ...remembered]];
  await goOn();
  expect(new Set(listLimits())).toEqual(new Set(['100']));
  expect(list().slice(-2)).toEqual([[4, 0], [5, 1]]);
  [seconds, remembered] = [9, [...Array<Instance>(120).fill(at(8)), at(6), ...remembered]];
  await goOn();
  expect(listLimits().slice(0, 2)).toEqual(['100', '1000']);
  expect(list().slice(-4)).toEqual([[5, 1], [6, 1], [7, 0], [8, 120]]);
});

test('the charts go on while only the failed are listed', async () => {
  remembered = [at(3), at(2, 'Failed'), at(1)];
  const { state, list } = await observe(true);
  expect(state.instances.Receive?.map(({ Outcome }) => Outcome)).toEqual(['Failed']);
  expect(list()).toEqual([[1, 1], [2, 1], [3, 1], [4, 0]]);
});

test('what is known stays when only a failure of long ago is remembered', async () => {
  const { list } = await observe();
  [seconds, remembered] = [6, [at(0, 'Failed')]];
  await goOn();
  expect(list()).toEqual([[1, 1], [2, 0], [3, 1], [4, 0], [5, 0]]);
});
