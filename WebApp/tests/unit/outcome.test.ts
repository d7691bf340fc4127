// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in place of a finding that was applied.
import { beforeEach, expect, test, vi } from 'vitest';
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import type { Finding, Peer, Status, TrafficWindow } from '../../src/model/answers';
import { toPoints } from '../../src/model/history';
import type { AppliedFinding } from '../../src/store/state';
import { makeHistory, makeTuning } from './answers';

const APPLIED: AppliedFinding = {
  id: 'stalls', title: 'Stalls', document: { DicomSockets: { Preset: 'tuned' } }, time: 1009, peers: [], images: [],
};
const FINDING: Finding = {
  ID: 'stalls', Title: 'Stalls', Explanation: '', Evidence: {}, Cost: null,
  Remedy: { Kind: 'Tuning', Tuning: { DicomSockets: { Preset: 'tuned' } }, Text: '' },
};

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal('location', { origin: 'http://localhost', pathname: '/perf' });
});

// Images a second from second 1000 on, all of them seen by the latest look for findings
async function render(images: number[], applied = APPLIED, findings: Finding[] = []) {
  const { state } = await import('../../src/store/state');
  const { default: FindingsPanel } = await import('../../src/components/FindingsPanel.vue');
  const answer = makeHistory(1000, images);
  Object.assign(state, {
    connection: 'live', tuning: makeTuning(), findings, applied: [applied],
    status: { Windows: [] as TrafficWindow[] } as Status,
    seconds: { Receive: toPoints(answer, 'Receive'), Send: [] },
    peers: [{ Name: 'CT', Receive: { Instances: 63 }, Send: { Instances: 2 } }] as Peer[],
    changes: [{ Time: 1009, Change: applied.document, Undo: {}, By: { Origin: 'RestApi' } }],
  });
  const { countApplied } = await import('../../src/store/outcome');
  state.counted = countApplied();
  return renderToString(createSSRApp(FindingsPanel));
}

const SLOW = Array<number>(10).fill(3);

test('without new images, nothing is called gone', async () => {
  const html = await render(SLOW);
  expect(html).toContain('Waiting for 20 new images (0 of 20).');
  expect(html).not.toContain('Gone');
  expect(html).not.toContain('✓');
});

test('images from before a change are no reason to call all well after it', async () => {
  const { state } = await import('../../src/store/state');
  const undone = { ...APPLIED, document: { DicomSockets: { Preset: 'stock' } } };
  const html = await render([...Array<number>(10).fill(90), 0, 0, 1, 1], undone);
  expect(html).toContain('Only 2 instances came or went since the latest change of the tuning.');
  expect(html).not.toContain('✓');
  state.changes = [];
  const { default: FindingsPanel } = await import('../../src/components/FindingsPanel.vue');
  expect(await renderToString(createSSRApp(FindingsPanel))).toContain('No finding.');
});

test('nothing is called gone before its speed is known', async () => {
  const html = await render([...SLOW, 20, 20]);
  expect(html).toContain('Measuring the speed.');
  expect(html).not.toContain('✓');
});

test('images that came after the latest look for findings prove nothing', async () => {
  const { state } = await import('../../src/store/state');
  await render(SLOW, APPLIED, [FINDING]);
  state.seconds = { ...state.seconds, Receive: toPoints(makeHistory(1000, [...SLOW, ...Array<number>(9).fill(9)]), 'Receive') };
  const { default: FindingsPanel } = await import('../../src/components/FindingsPanel.vue');
  const html = await renderToString(createSSRApp(FindingsPanel));
  expect(html).toContain('Waiting for 20 new images (0 of 20)');
  expect(html).not.toContain('Still seen');
});

test('after enough of them, it is gone, with what that was worth', async () => {
  const html = await render([...SLOW, ...Array<number>(9).fill(9)]);
  expect(html).toMatch(/Gone: Stalls<!--\[-->, × 3/);
});

test('what is worth nothing says so', async () => {
  expect(await render([...SLOW, ...Array<number>(9).fill(3)])).toContain('no change in speed (× 1)');
});

test('images that come more slowly are not praised', async () => {
  const html = await render([...Array<number>(10).fill(9), ...Array<number>(9).fill(3)]);
  expect(html).toContain('but images come more slowly (× 0.33)');
});

test('a finding about a peer waits for the images of that peer', async () => {
  const many = [...SLOW, ...Array<number>(9).fill(9)];
  expect(await render(many, { ...APPLIED, peers: ['CT'], images: [56] })).toContain('(7 of 20)');
  expect(await render(many, { ...APPLIED, peers: ['CT'], images: [43] })).toContain('Gone');
});

test('a finding about several peers waits for each of them, in its direction', async () => {
  const many = [...SLOW, ...Array<number>(9).fill(9)];
  expect(await render(many, { ...APPLIED, peers: ['CT', 'MR'], images: [43, 0] })).toContain('(0 of 20)');
  expect(await render(many, { ...APPLIED, id: 'delayed-ack-sending', peers: ['CT'], images: [0] })).toContain('(2 of 20)');
});

test('a restart of Orthanc, which counts from zero again, makes no images negative', async () => {
  expect(await render(SLOW, { ...APPLIED, peers: ['CT'], images: [5000] })).not.toContain('(-');
});

test('a finding that stays says so after enough images', async () => {
  expect(await render(SLOW, APPLIED, [FINDING])).toContain('Waiting for 20 new images');
  const html = await render([...SLOW, ...Array<number>(9).fill(3)], APPLIED, [FINDING]);
  expect(html).toContain('Still seen after 27 new images: no change in speed');
});

test('nothing is called well while Orthanc does not answer', async () => {
  const { state } = await import('../../src/store/state');
  await render(SLOW, { ...APPLIED, document: { DicomSockets: { Preset: 'stock' } } });
  state.connection = 'retrying';
  const { default: FindingsPanel } = await import('../../src/components/FindingsPanel.vue');
  expect(await renderToString(createSSRApp(FindingsPanel))).not.toContain('✓');
});

test('what is no longer looked for after a change is applied, and not gone', async () => {
  const { state } = await import('../../src/store/state');
  const applied = { ...APPLIED, id: 'ingest-memory', document: { Memory: { IngestBudget: '25%' } } };
  await render([...SLOW, ...Array<number>(9).fill(9)], applied);
  state.tuning = { ...makeTuning(), Memory: { IngestBudget: '25%', IngestWaitSeconds: 30 } };
  const { default: FindingsPanel } = await import('../../src/components/FindingsPanel.vue');
  const html = await renderToString(createSSRApp(FindingsPanel));
  expect(html).toMatch(/Applied: Stalls.*While a budget is set, the plugin no longer looks for this\./);
  expect(html).not.toMatch(/Gone|solved|×|✓/);
});

test('with the engine "auto", transcoding is not gone', async () => {
  const applied = { ...APPLIED, id: 'transcoding', document: { IngestTranscoding: { Engine: 'auto' } } };
  const html = await render([...SLOW, ...Array<number>(9).fill(9)], applied);
  expect(html).toMatch(/Applied: Stalls.*the plugin no longer looks for this\./);
  expect(html).not.toMatch(/Gone|✓/);
});

test.each([true, false])('what was undone is not shown as applied when another change brings it back (by this page: %s)', async (isByPage) => {
  const { state } = await import('../../src/store/state');
  const { adoptTuning, applyChange } = await import('../../src/store/changes');
  await render([...SLOW, ...Array<number>(9).fill(9)]);
  const tuning = makeTuning();
  vi.stubGlobal('fetch', ({ pathname }: URL) => Promise.resolve(Response.json(pathname === '/perf/history' ? makeHistory(1000, SLOW) : tuning)));
  for (const preset of ['stock', 'tuned']) {
    tuning.DicomSockets = { ...tuning.DicomSockets, Preset: preset };
    await (isByPage ? applyChange({ DicomSockets: { Preset: preset } }) : adoptTuning(tuning));
  }
  vi.unstubAllGlobals();
  expect(state.tuning?.DicomSockets.Preset).toBe('tuned');
  const { default: FindingsPanel } = await import('../../src/components/FindingsPanel.vue');
  expect(await renderToString(createSSRApp(FindingsPanel))).not.toMatch(/Gone|Applied at/);
});

test('of a level for answers, nothing is promised, and no factor of images is told', async () => {
  const { state } = await import('../../src/store/state');
  const { applyFinding } = await import('../../src/store/changes');
  const tuning = { ...makeTuning(), Answers: { ArchiveLevel: 1, HttpLevel: 1, PreviewLevel: 'default' } };
  const finding: Finding = { ...FINDING, ID: 'answer-compression', Remedy: { Kind: 'Tuning', Tuning: { Answers: { ArchiveLevel: 1 } }, Text: '' } };
  const answers: Record<string, unknown> = { '/perf/history': makeHistory(1000, SLOW), '/perf/peers': [] };
  vi.stubGlobal('fetch', ({ pathname }: URL) => Promise.resolve(Response.json(answers[pathname] ?? tuning)));
  await applyFinding([finding]);
  vi.unstubAllGlobals();
  expect(state.isMessageProblem).toBe(false);
  const { default: FindingsPanel } = await import('../../src/components/FindingsPanel.vue');
  for (const findings of [[finding], []]) {
    state.findings = findings;
    const html = await renderToString(createSSRApp(FindingsPanel));
    expect(html).toMatch(/Applied.*At a level of the tuning, the plugin no longer measures this\./);
    expect(html).not.toMatch(/×|disappears|Waiting|Gone/);
  }
});
