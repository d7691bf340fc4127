// SPDX-License-Identifier: GPL-3.0-or-later
// What tiles, breakdown and peers say.
import { beforeEach, expect, test, vi } from 'vitest';
import { createSSRApp, type Component } from 'vue';
import { renderToString } from 'vue/server-renderer';
import type { Peer, PeerTraffic, Served, Status, Traffic } from '../../src/model/answers';

const NONE = { Instances: 0, Bytes: 0, InstancesPerSecond: 0, BytesPerSecond: 0, Outcomes: { Stored: 0, Discarded: 0, Failed: 0 } };
const LATENCY = { Count: 4, Total: 0.4, P50: 0.1, P90: 0.1 };
const NOTHING: Traffic = { ...NONE, Phases: {}, Stalls: 0, StallTime: 0, StallTimeInIdle: 0 };
const SOME: Traffic = { ...NOTHING, Instances: 4, Duration: LATENCY, Phases: { Receive: LATENCY } };

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal('location', { origin: 'http://localhost', pathname: '/perf' });
});

// Of 10 s, one minute and five
async function render(load: () => Promise<{ default: Component }>, windows: Traffic[], peers: Peer[] = []): Promise<string> {
  const { state } = await import('../../src/store/state');
  const Windows = windows.map((Receive, index) => ({ Length: [10, 60, 300][index], Receive, Send: NOTHING }));
  Object.assign(state, { updated: 1, peers, status: { Windows, DicomSockets: { Connections: [] as unknown[] } } as unknown as Status });
  return (await renderToString(createSSRApp((await load()).default))).replaceAll(/<!--.*?-->/g, '');
}

const TILES = () => import('../../src/components/RateTiles.vue');

test('a tile names the window and the base of its figure', async () => {
  const html = await render(TILES, [NOTHING, SOME, SOME]);
  expect(html).toContain('median 100 ms, 9 of 10 in 100 ms; last 1 min');
  expect(html).toContain('of the time of an instance; 0 stalls in 10 s');
});

test('with stalls, a median without them stands beside no mean with them', async () => {
  const html = await render(TILES, [{ ...SOME, Stalls: 4, StallTime: 0.16, StallTimeInIdle: 0.16 }, SOME, SOME]);
  expect(html).toContain('40 ms of it stalled');
  expect(html).not.toContain('median');
});

test('failures of the last five minutes can be listed, though no peer is known that has any', async () => {
  expect(await render(TILES, [NOTHING, NOTHING, NOTHING])).not.toContain('List the failed');
  const failed = { ...NOTHING, Outcomes: { ...NOTHING.Outcomes, Failed: 2 } };
  expect(await render(TILES, [NOTHING, NOTHING, failed])).toContain('List the failed');
});

test('without peers there is no list of them', async () => {
  const load = () => import('../../src/components/BreakdownPanel.vue');
  expect(await render(load, [SOME, SOME, SOME])).not.toContain('By peer');
  const receive: PeerTraffic = { ...NONE, Instances: 1, PhaseTimes: { Receive: 0.1 } };
  expect(await render(load, [SOME, SOME, SOME], [{ Name: 'CT', Address: '', Receive: receive }])).toContain('0 to 100 ms');
});

test('the peers that share the name "other" cannot be picked', async () => {
  const peers = ['CT', 'other'].map((Name): Peer => ({ Name, Address: '', Receive: { ...NONE, PhaseTimes: {} } }));
  const html = await render(() => import('../../src/components/PeersPanel.vue'), [], peers);
  expect(html.match(/class="pick"/g)).toHaveLength(1);
  expect(html).toContain('other');
});

test('a cancelled query is not red, and the waits of DIMSE have their meaning', async () => {
  const { state } = await import('../../src/store/state');
  const make = (Class: string, Status: number) => ({
    Class, Status, Address: '', Size: 1, FinishedAt: '20261121T113510.000000', Duration: 1, Phases: {},
  });
  state.served = {
    Classes: { 'c-find': { Requests: 1, Failed: 0, Bytes: 1, ClientWait: 1, PhaseTimes: { Send: 1 } } },
    Latest: [make('c-find', 0xfe00), make('file', 503)], Slowest: [],
  } as Served;
  const html = await render(() => import('../../src/components/ServedPanel.vue'), []);
  expect(html).toContain('or, with DIMSE, Orthanc waited for responses');
  expect(html).toMatch(/class="figure"[^>]*>0xFE00</);
  expect(html).toMatch(/class="bad figure"[^>]*>503</);
});
