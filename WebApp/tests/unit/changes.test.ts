// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import type { Tuning, TuningChange, TuningSources } from '../../src/model/answers';
import { canUndo, describeAuthor, findReturns, isInForce, judgeFactor, measureEffects, mergeChanges } from '../../src/model/changes';

const CHANGE: TuningChange = {
  Time: 100,
  Change: { DicomSockets: { Preset: 'custom', TcpNoDelay: false } },
  Undo: { DicomSockets: { TcpNoDelay: true } },
  By: { Origin: 'RestApi', Address: '127.0.0.1' },
};
const EARLIER: TuningChange = {
  ...CHANGE, Time: 90,
  Change: { DicomSockets: { Preset: 'custom', TcpQuickAck: false } },
  Undo: { DicomSockets: { TcpQuickAck: true } },
};

function makeTuning(sockets: Partial<Tuning['DicomSockets']>): Tuning {
  return { DicomSockets: { Preset: 'custom', TcpNoDelay: true, TcpQuickAck: true, ...sockets }, IngestTranscoding: {} } as Tuning;
}

test('changes are kept in the order of their times, each once', () => {
  const merged = mergeChanges([CHANGE], [EARLIER, CHANGE]);
  expect(merged).toEqual([EARLIER, CHANGE]);
  expect(mergeChanges(merged, [EARLIER])).toBe(merged);
});

test('no more changes are kept than the server remembers', () => {
  const many = Array.from({ length: 250 }, (_, index) => ({ ...CHANGE, Time: index }));
  const kept = mergeChanges(many.slice(0, 200), many.slice(200));
  expect([kept.length, kept[0]?.Time, kept.at(-1)?.Time]).toEqual([200, 50, 249]);
});

test('the same change twice is two changes', () => {
  const again = { ...CHANGE, Time: 125 };
  expect(mergeChanges([CHANGE], [CHANGE, again])).toEqual([CHANGE, again]);
});

test('an undo is offered only while all that the change made is still so', () => {
  expect(canUndo(CHANGE, makeTuning({ TcpNoDelay: false }))).toBe(true);
  expect(canUndo(CHANGE, makeTuning({ TcpNoDelay: false, TcpQuickAck: false }))).toBe(true);
  expect(canUndo(CHANGE, makeTuning({ TcpNoDelay: true }))).toBe(false);
  expect(canUndo(CHANGE, undefined)).toBe(false);
});

test('only a change after which all is as configured has gone back to the configuration', () => {
  const make = (Time: number, on: boolean, ...keys: string[]) => ({
    ...CHANGE, Time,
    Change: { DicomSockets: Object.fromEntries(keys.map((key) => [key, on])) },
    Undo: { DicomSockets: Object.fromEntries(keys.map((key) => [key, !on])) },
  });
  const stock = make(1, false, 'TcpNoDelay', 'TcpQuickAck', 'Other');
  const apply = make(2, true, 'TcpNoDelay', 'TcpQuickAck'); // each as configured, but not all
  const reset = make(3, true, 'Other');
  const again = make(4, false, 'TcpNoDelay');
  const sources = {
    DicomSockets: {
      TcpNoDelay: { Value: false, Source: 'REST', Configured: true },
      TcpQuickAck: { Value: true, Source: 'Default' },
      Other: { Value: true, Source: 'Configuration' },
    },
  } as unknown as TuningSources;
  expect([...findReturns([stock, apply, reset, again], sources)]).toEqual([reset]);
  // The sources are older than the changes: nothing is known
  expect([...findReturns([stock, apply, reset], sources)]).toEqual([]);
  expect([...findReturns([stock], undefined)]).toEqual([]);
});

test('what a change did is the speed after it, as a multiple of that before it', () => {
  const points = [94, 95, 96, 97, 101, 102, 103, 104].map((time) => ({
    time, instances: time < 100 ? 20 : 200, bytes: 0, failed: 0, stallTime: 0, stallTimeInIdle: 0, phases: {},
    held: 0, waiting: 0,
  }));
  const [effect] = measureEffects([CHANGE], points);
  expect(effect).toMatchObject({ number: 1, change: CHANGE, factor: 10 });
  expect(measureEffects([CHANGE], [])[0]?.factor).toBeNull();
});

test('a factor near 1 says nothing of a change', () => {
  expect([null, 0.97, 1.2, 0.5, 14].map(judgeFactor)).toEqual(['', '', '', 'bad', 'good']);
});

test('a document is in force when each of its settings is', () => {
  const document = { DicomSockets: { TcpNoDelay: true, TcpQuickAck: true } };
  expect(isInForce(document, makeTuning({}))).toBe(true);
  expect(isInForce(document, makeTuning({ TcpQuickAck: false }))).toBe(false);
  expect(isInForce(document, undefined)).toBe(false);
});

test('a change says who asked for it, as far as the server knows', () => {
  expect(describeAuthor({ Origin: 'RestApi', User: 'alice', Address: '10.0.0.5' })).toBe('by alice, 10.0.0.5');
  expect(describeAuthor({ Origin: 'RestApi', Address: '10.0.0.5' })).toBe('by 10.0.0.5');
  expect(describeAuthor({ Origin: 'Internal' })).toBe('by a script or another plugin');
});
