// SPDX-License-Identifier: GPL-3.0-or-later
// What /perf/health answers, from the request to the findings card.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import type { Finding, Health, Status, TrafficWindow } from '../../src/model/answers';
import { toPoints } from '../../src/model/history';
import { makeHistory } from './answers';

const WELL = 'No finding.';
const UNWELL = 'This server cannot store as it should.';
const FULL: Health = { Healthy: false, Problems: { Storage: 'No space left on device' } };

let answerHealth: () => Response;
let asked: string[];

async function answer({ pathname }: URL): Promise<Response> {
  asked.push(pathname);
  if (pathname === '/perf/health') {
    return answerHealth();
  }
  return Response.json(pathname === '/perf/history' ? makeHistory(1000, [1]) : []);
}

beforeEach(() => {
  asked = [];
  answerHealth = () => Response.json({ Healthy: true, Problems: {} });
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

// A page that has been open for twelve seconds
async function observe() {
  const { startObserving } = await import('../../src/store/observe');
  const { state } = await import('../../src/store/state');
  startObserving();
  await vi.advanceTimersByTimeAsync(12_000);
  return state;
}

async function render(health: Health | undefined, findings: Finding[] = []): Promise<string> {
  const { state } = await import('../../src/store/state');
  const { default: FindingsPanel } = await import('../../src/components/FindingsPanel.vue');
  state.connection = 'live';
  state.health = health;
  state.findings = findings;
  state.status = { Windows: [] as TrafficWindow[] } as Status;
  state.seconds = { Receive: toPoints(makeHistory(1000, [20]), 'Receive'), Send: [] };
  return renderToString(createSSRApp(FindingsPanel));
}

test('health is asked for about every five seconds', async () => {
  expect((await observe()).health).toEqual({ Healthy: true, Problems: {} });
  expect(asked.filter((path) => path === '/perf/health')).toHaveLength(3);
});

test('a 503 that says what is wrong is an answer', async () => {
  answerHealth = () => Response.json(FULL, { status: 503 });
  const state = await observe();
  expect(state.health).toEqual(FULL);
  expect(state.refusal).toBe('');
  answerHealth = () => Response.json({ Healthy: true, Problems: {} });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.health?.Healthy).toBe(true);
});

test('an older plugin, which has no such route, is not judged', async () => {
  answerHealth = () => Response.json(FULL, { status: 503 });
  const state = await observe();
  answerHealth = () => Response.json({ Message: 'Unknown resource' }, { status: 404 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.health).toBeUndefined();
  expect(state.refusal).toBe('');
});

test.each([
  ['a proxy', () => new Response('<h1>Service Unavailable</h1>', { status: 503 })],
  ['JSON of something else', () => Response.json({ Message: 'Busy' }, { status: 503 })],
  ['JSON that is nothing', () => Response.json(null, { status: 503 })],
  ['a user who may not ask', () => Response.json({ Message: 'Forbidden' }, { status: 403 })],
  ['an error', () => Response.json(FULL, { status: 500 })],
  ['no answer', () => { throw new TypeError('Failed to fetch'); }],
])('%s says nothing of health, and keeps nothing else from being asked', async (_, fail) => {
  answerHealth = fail;
  const state = await observe();
  expect(state.health).toBeUndefined();
  expect(state.connection).toBe('live');
  expect(state.refusal).toContain('/perf/health');
  expect(asked.filter((path) => path === '/perf/health')).toHaveLength(1); // again after half a minute
  expect(asked.filter((path) => path === '/perf/advice').length).toBeGreaterThan(1);
});

test('a failure does not make a server well that could not store', async () => {
  answerHealth = () => Response.json(FULL, { status: 503 });
  const state = await observe();
  answerHealth = () => new Response('Gateway Time-out', { status: 504 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.health).toEqual(FULL);
  expect(state.refusal).toContain('/perf/health');
});

test('a server that cannot store is not shown as well, and each problem is told', async () => {
  const html = await render({ Healthy: false, Problems: { ...FULL.Problems, Database: 'no answer for 17 s' } });
  expect(html).toMatch(new RegExp(`role="alert"><b>${UNWELL}</b>`));
  expect(html).toContain('Storage: No space left on device');
  expect(html).toContain('Database: no answer for 17 s');
  expect(html).not.toContain(WELL);
});

test('that it cannot store stands above the findings', async () => {
  const finding: Finding = {
    ID: 'slow', Title: 'Slow', Explanation: '', Evidence: {}, Cost: null, Remedy: { Kind: 'System', Text: '' },
  };
  const html = await render(FULL, [finding]);
  expect(html).toContain(UNWELL);
  expect(html.indexOf(UNWELL)).toBeLessThan(html.indexOf('data-finding="slow"'));
});

test('a problem is text, whatever it holds', async () => {
  const html = await render({ Healthy: false, Problems: { '<b>': '<img src=x>' } });
  expect(html).toContain('&lt;b&gt;: &lt;img src=x&gt;');
  expect(html).not.toContain('<img');
});

test.each([{ Healthy: true, Problems: {} }, undefined])('a server that is well, or not known not to be, is shown as before', async (health) => {
  const html = await render(health);
  expect(html).toContain(WELL);
  expect(html).not.toContain(UNWELL);
});
