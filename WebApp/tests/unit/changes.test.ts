// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import { mergeChanges, type Change } from '../../src/model/changes';

const OWN: Change = {
  id: 1,
  time: 100,
  change: { DicomSockets: { Preset: 'stock' } },
  inverse: { DicomSockets: { TcpNoDelay: true } },
  isUndone: false,
  isTold: false,
};
const TOLD = { Time: 107, Change: { DicomSockets: { Preset: 'stock', TcpNoDelay: false } } };

let id = 10;
const merge = (known: readonly Change[], told: (typeof TOLD)[]) => mergeChanges(known, told, () => ++id);

test("a change made here gets the server's time, and stays one change", () => {
  const merged = merge([OWN], [TOLD]);
  expect(merged).toEqual([{ ...OWN, time: 107, isTold: true }]);
  expect(merge(merged, [TOLD])).toBe(merged);
});

test('a change made elsewhere is added, and cannot be taken back here', () => {
  const elsewhere = { Time: 90, Change: { DicomSockets: { Preset: 'custom', TcpNoDelay: false } } };
  const merged = merge([{ ...OWN, inverse: { DicomSockets: { TcpQuickAck: true } } }], [elsewhere]);
  expect(merged.map(({ time, inverse }) => [time, inverse === null])).toEqual([[90, true], [100, false]]);
  expect(merge(merged, [elsewhere])).toBe(merged);
});

test('the same change twice is two changes', () => {
  const again = { ...OWN, id: 2, time: 120 };
  const merged = merge(merge([OWN], [TOLD]).concat(again), [TOLD, { ...TOLD, Time: 125 }]);
  expect(merged.map(({ time, isTold }) => [time, isTold])).toEqual([[107, true], [125, true]]);
});
