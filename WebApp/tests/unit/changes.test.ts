// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import type { Tuning } from '../../src/model/answers';
import { canUndo, describeAuthor, isInForce, measureEffects, mergeChanges, type Change } from '../../src/model/changes';

const OWN: Change = {
  id: 1,
  time: 100,
  change: { DicomSockets: { Preset: 'stock' } },
  made: { DicomSockets: { TcpNoDelay: false } },
  inverse: { DicomSockets: { TcpNoDelay: true } },
  isTold: false,
};
const TOLD = { Time: 107, Change: { DicomSockets: { Preset: 'stock', TcpNoDelay: false } } };
const ELSEWHERE = {
  Time: 90,
  Change: { DicomSockets: { Preset: 'custom', TcpQuickAck: false } },
  Undo: { DicomSockets: { TcpQuickAck: true } },
};

let id = 10;
const merge = (known: readonly Change[], told: Parameters<typeof mergeChanges>[1]) => mergeChanges(known, told, () => ++id);

function makeTuning(sockets: Partial<Tuning['DicomSockets']>): Tuning {
  return { DicomSockets: { Preset: 'custom', TcpNoDelay: true, TcpQuickAck: true, ...sockets }, IngestTranscoding: {} } as Tuning;
}

test("a change made here gets the server's time, and stays one change", () => {
  const merged = merge([OWN], [TOLD]);
  expect(merged).toEqual([{ ...OWN, time: 107, made: TOLD.Change, isTold: true }]);
  expect(merge(merged, [TOLD])).toBe(merged);
});

test('a change made elsewhere, or before the page was opened, is added with its undo', () => {
  const merged = merge([OWN], [ELSEWHERE]);
  expect(merged.map(({ time, inverse }) => [time, inverse])).toEqual([[90, ELSEWHERE.Undo], [100, OWN.inverse]]);
  expect(merge(merged, [ELSEWHERE])).toBe(merged);
});

test('the same change twice is two changes', () => {
  const again = { ...OWN, id: 2, time: 120 };
  const merged = merge(merge([OWN], [TOLD]).concat(again), [TOLD, { ...TOLD, Time: 125 }]);
  expect(merged.map(({ time, isTold }) => [time, isTold])).toEqual([[107, true], [125, true]]);
});

test('an undo is offered only while all that the change made is still so', () => {
  expect(canUndo(OWN, makeTuning({ TcpNoDelay: false }))).toBe(true);
  expect(canUndo(OWN, makeTuning({ TcpNoDelay: false, TcpQuickAck: false }))).toBe(true);
  expect(canUndo(OWN, makeTuning({ TcpNoDelay: true }))).toBe(false);
  expect(canUndo(OWN, undefined)).toBe(false);
});

test('a change of which nobody knows what was before cannot be taken back', () => {
  const [told] = merge([], [TOLD]);
  expect(told && canUndo(told, makeTuning({ TcpNoDelay: false }))).toBe(false);
});

test('what a change did is the speed after it, as a multiple of that before it', () => {
  const points = [95, 96, 97, 101, 102, 103].map((time) => ({
    time, instances: time < 100 ? 20 : 200, bytes: 0, failed: 0, stalls: 0, stallTime: 0, phases: {},
  }));
  const [effect] = measureEffects([OWN], points);
  expect(effect).toMatchObject({ number: 1, change: OWN, factor: 10 });
  expect(measureEffects([OWN], [])[0]?.factor).toBeNull();
});

test('a document is in force when each of its settings is', () => {
  const document = { DicomSockets: { TcpNoDelay: true, TcpQuickAck: true } };
  expect(isInForce(document, makeTuning({}))).toBe(true);
  expect(isInForce(document, makeTuning({ TcpQuickAck: false }))).toBe(false);
  expect(isInForce(document, undefined)).toBe(false);
});

test('a change says who asked for it, as far as the server knows', () => {
  const [told] = merge([], [{ ...TOLD, By: { Origin: 'RestApi', User: 'alice', Address: '10.0.0.5' } }]);
  expect(describeAuthor(told?.author)).toBe('by alice, 10.0.0.5');
  expect(describeAuthor({ Origin: 'RestApi', Address: '10.0.0.5' })).toBe('by 10.0.0.5');
  expect(describeAuthor({ Origin: 'Internal' })).toBe('by a script or another plugin');
  expect(describeAuthor(undefined)).toBe('');
});
