// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import { getTime, layOut } from '../../src/model/waterfall';
import { makeInstance } from './answers';

const LATER = makeInstance({ FinishedAt: '20261121T113510.010000', ID: 'later' });
const EARLIER = makeInstance();

test('on the clock, an instance ends where the next one begins', () => {
  const { rows, length } = layOut([LATER, EARLIER], 'clock');
  expect(length).toBeCloseTo(0.02);
  const [later, earlier] = rows;
  const end = earlier?.segments.at(-1);
  expect((end?.begin ?? 0) + (end?.width ?? 0)).toBeCloseTo(0.5);
  expect(later?.segments.find(({ phase }) => phase === 'Receive')?.begin).toBeCloseTo(0.5);
});

test('side by side, all begin at the left and the longest fills the width', () => {
  const long = makeInstance({ Duration: 0.02, Phases: { Receive: 0.02 } });
  const { rows } = layOut([EARLIER, long], 'aligned');
  expect(rows.map((row) => row.segments[0])).toEqual([
    { phase: 'Receive', begin: 0, width: 0.2 },
    { phase: 'Receive', begin: 0, width: 1 },
  ]);
});

test('a stall stands at the end of the phase in which it was', () => {
  const stalled = makeInstance({ Phases: { Receive: 0.08, Index: 0.02 }, Duration: 0.1, Stalls: 1, StallTime: 0.04, StallTimeInIdle: 0 });
  const [stall, ...others] = layOut([stalled], 'aligned').rows[0]?.stalls ?? [];
  expect([stall?.phase, others]).toEqual(['Receive', []]);
  expect(stall?.begin).toBeCloseTo(0.4);
  expect(stall?.width).toBeCloseTo(0.4);
});

test("a stall that Nagle's algorithm caused stands in the pause before", () => {
  const stalled = makeInstance({ Phases: { Idle: 0.05, Receive: 0.001 }, Duration: 0.001, Stalls: 1, StallTime: 0.04, StallTimeInIdle: 0.04 });
  expect(layOut([stalled, EARLIER], 'clock').rows[0]?.stalls.map(({ phase }) => phase)).toEqual(['Idle']);
});

test('a stall before an instance is part of its time and of its bar, side by side too', () => {
  const stalled = makeInstance({ Phases: { Idle: 0.05, Receive: 0.01 }, Duration: 0.01, Stalls: 1, StallTime: 0.04, StallTimeInIdle: 0.04 });
  expect(getTime(stalled)).toBeCloseTo(0.05);
  const { rows, length } = layOut([stalled], 'aligned');
  expect(length).toBeCloseTo(0.05);
  expect(rows[0]?.stalls[0]?.begin).toBeCloseTo(0);
  expect(rows[0]?.stalls[0]?.width).toBeCloseTo(0.8);
});

test('stalls in the pause and in the message are marked where they are counted', () => {
  const stalled = makeInstance({
    Phases: { Idle: 0.05, Receive: 0.06 }, Duration: 0.06, Stalls: 2, StallTime: 0.08, StallTimeInIdle: 0.04,
  });
  expect(getTime(stalled)).toBeCloseTo(0.1);
  const { stalls } = layOut([stalled], 'aligned').rows[0] ?? { stalls: [] };
  expect(stalls.map(({ phase, begin, width }) => [phase, begin.toFixed(2), width.toFixed(2)])).toEqual([
    ['Idle', '0.00', '0.40'], ['Receive', '0.60', '0.40'],
  ]);
});

test('a long pause does not make all bars invisible', () => {
  const yesterday = makeInstance({ FinishedAt: '20261120T113510.000000' });
  const { rows, length } = layOut([LATER, yesterday], 'clock');
  expect(length).toBeLessThan(1);
  expect(rows[1]?.segments).toEqual([]);
});

test('nothing is laid out as nothing', () => {
  expect(layOut([], 'clock')).toEqual({ rows: [], length: 0 });
});
