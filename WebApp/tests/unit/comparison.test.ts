// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import type { EngineResult, EngineStatus } from '../../src/model/answers';
import { groupByTarget, listAbilities } from '../../src/model/comparison';
import { describeEvidence, describeGain } from '../../src/model/findings';

function makeResult(Engine: string, rate?: number): EngineResult {
  const result = { Engine, TransferSyntax: '1.2', Transcoded: rate === undefined ? 0 : 1, Declined: 0, Failed: 0 };
  return rate === undefined ? result : { ...result, EncodeBytesPerSecond: rate };
}

test('the fastest engine comes first, and the others are shares of it', () => {
  const [group] = groupByTarget([makeResult('gdcm', 50), makeResult('off'), makeResult('native', 800)]);
  expect(group?.results.map(({ Engine }) => Engine)).toEqual(['native', 'gdcm', 'off']);
  expect(group?.results.map((result) => group.getSpeed(result))).toEqual([1, 0.0625, 0]);
});

test('where nothing was transcoded, none is the best', () => {
  expect(groupByTarget([makeResult('gdcm')])[0]?.best).toBeUndefined();
});

test('an engine that is not available can nothing, whatever its list says', () => {
  const syntax = { TransferSyntax: '1.2', Name: 'x', State: 'Works' as const };
  const engines: EngineStatus[] = [
    { Name: 'dcmtk', Available: true, Syntaxes: [syntax] },
    { Name: 'gdcm', Available: false, Reason: 'no module', Syntaxes: [syntax] },
  ];
  expect(listAbilities(engines)).toEqual([
    { uid: '1.2', abilities: [{ state: 'Works', reason: '' }, { state: 'Absent', reason: 'no module' }] },
  ]);
});

test('evidence has units that follow from its names', () => {
  expect(
    describeEvidence({ RoundTrip: 0.05, Window: 65536, SyncShare: 0.4, Rate: 2e6, MeanSync: 0.003, MeanSize: 525000, Stalls: 12, Implementation: '<i>' }),
  ).toEqual([
    { name: 'Round trip', value: '50 ms' },
    { name: 'Window', value: '65.5 kB' },
    { name: 'Sync share', value: '40 %' },
    { name: 'Rate', value: '2 MB/s' },
    { name: 'Mean sync', value: '3 ms' },
    { name: 'Mean size', value: '525 kB' },
    { name: 'Stalls', value: '12' },
    { name: 'Implementation', value: '<i>' },
  ]);
});

test('a gain that is not known is not told', () => {
  expect([describeGain(null), describeGain(undefined), describeGain(5)]).toEqual(['', '', 'up to × 5 without it']);
});
