// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import type { Finding } from '../../src/model/answers';
import { groupFindings } from '../../src/model/findings';

function make(id: string, peer: string, share: number, text = 'Do this'): Finding {
  return {
    ID: id,
    Peer: peer,
    Title: id,
    Explanation: '',
    Evidence: {},
    Cost: { ShareOfIngestTime: share },
    Remedy: { Kind: 'Tuning', Text: text },
    Since: 0,
  };
}

test('the same finding of several peers is one, the costliest first', () => {
  const groups = groupFindings([make('stalls', 'A', 0.2), make('slow', 'A', 0.5), make('stalls', 'B', 0.4)]);
  expect(groups.map(({ findings }) => findings.map(({ ID, Peer }) => `${ID} ${Peer}`))).toEqual([
    ['stalls B', 'stalls A'],
    ['slow A'],
  ]);
});

test('where the remedies differ, the findings do', () => {
  expect(groupFindings([make('small', 'A', 0.2), make('small', 'B', 0.2, 'Do that')])).toHaveLength(2);
});
