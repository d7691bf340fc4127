// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import type { Direction, PhaseTimes, Traffic } from '../../src/model/answers';
import { getPause, getStallShare, splitPhases, sumParts } from '../../src/model/phases';
import { nameToolkit } from '../../src/model/toolkits';
import { describeMean } from '../../src/model/traffic';

test('sync is taken out of storage, and the parts sum to the duration', () => {
  const parts = splitPhases({ Idle: 9, Receive: 1, Storage: 5, Sync: 3 }, 'Receive');
  expect(parts.map(({ info, time }) => [info.name, time])).toEqual([['Receive', 1], ['Storage', 2], ['Sync', 3]]);
  expect(sumParts(parts)).toBe(6);
});

test('stalls are a part of their own: those in the pause before, and the rest of waiting for the network', () => {
  const split = (times: PhaseTimes, direction: Direction, StallTime: number, StallTimeInIdle: number) =>
    splitPhases(times, direction, { StallTime, StallTimeInIdle }).map(({ info, time }) => [info.name, time]);
  expect(split({ Idle: 9, Receive: 1 }, 'Receive', 4, 4)).toEqual([['Stalled', 4], ['Receive', 1]]);
  expect(split({ Idle: 2, Receive: 5 }, 'Receive', 4, 2)).toEqual([['Stalled', 4], ['Receive', 3]]);
  expect(split({ Send: 1, Wait: 5 }, 'Send', 4, 0)).toEqual([['Stalled', 4], ['Send', 1], ['Wait', 1]]);
  expect(split({ Send: 3, Wait: 1 }, 'Send', 3, 0)).toEqual([['Stalled', 3], ['Send', 1], ['Wait', 0]]);
  expect(split({ Receive: 1 }, 'Receive', 0, 0)).toEqual([['Receive', 1]]);
});

test('a stall inside a message is not counted twice because its sender paused before', () => {
  const times = { Idle: 9, Receive: 5, Index: 1 };
  const stalls = { StallTime: 4, StallTimeInIdle: 0 };
  expect(sumParts(splitPhases(times, 'Receive', stalls))).toBe(6);
  expect(getPause(times, stalls)).toBe(9);
});

test('a mean instance has the stalls in its time, and its pause without them', () => {
  const latency = (Total: number) => ({ Count: 2, Total, P50: 0, P90: 0 });
  const traffic = { Instances: 2, StallTime: 6, StallTimeInIdle: 6, Phases: { Idle: latency(8), Receive: latency(2) } } as Traffic;
  const { parts, pause } = describeMean(traffic, 'Receive');
  expect([sumParts(parts), getStallShare(parts), pause]).toEqual([4, 0.75, 1]);
  expect(describeMean(undefined, 'Receive')).toEqual({ parts: [], stalled: undefined, pause: undefined });
});

test('what is waited for the storage is taken out of storage, as sync is', () => {
  const parts = splitPhases({ Storage: 9, Sync: 2, Remote: 4, Index: 1 }, 'Receive');
  expect(parts.map(({ info, time }) => [info.name, time])).toEqual([['Storage', 3], ['Sync', 2], ['Remote', 4], ['Index', 1]]);
  expect(sumParts(parts)).toBe(10);
});

test('the database is taken out of the index, or of commit where there is none', () => {
  const indexed = splitPhases({ Index: 5, Database: 3, Respond: 1 }, 'Receive');
  expect(indexed.map(({ info, time }) => [info.name, time])).toEqual([['Index', 2], ['Database', 3], ['Respond', 1]]);
  expect(sumParts(splitPhases({ Commit: 7, Database: 3 }, 'Receive'))).toBe(7);
  expect(sumParts(splitPhases({ Index: 5, Commit: 7, Database: 8 }, 'Receive'))).toBe(12);
});

test('sending has phases of its own', () => {
  const parts = splitPhases({ Wait: 2, Connect: 1 }, 'Send');
  expect(parts.map(({ info }) => info.name)).toEqual(['Connect', 'Wait']);
});

test('toolkits are named, and unknown names stay as they are', () => {
  expect(nameToolkit('OFFIS_DCMTK_367')).toBe('DCMTK 3.6.7');
  expect(nameToolkit('PYNETDICOM_304')).toBe('pynetdicom 3.0.4');
  expect(nameToolkit('<b>ACME</b>')).toBe('<b>ACME</b>');
});
