// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import type { PeerTraffic } from '../../src/model/answers';
import { listPeers } from '../../src/model/peers';

const NOTHING: PeerTraffic = {
  Instances: 0, Bytes: 0, InstancesPerSecond: 0, BytesPerSecond: 0,
  Outcomes: { Stored: 0, Discarded: 0, Failed: 0 }, PhaseTimes: {},
};

function list(send: Partial<PeerTraffic>, address = '10.0.0.7') {
  const [row] = listPeers([{ Name: 'PACS', Address: address, Send: { ...NOTHING, ...send } }]);
  return row;
}

test('a destination that cannot be called has failed as often as Orthanc has tried, with the reason', () => {
  expect(list({ Associations: { Open: 0, Refused: 44 } })).toMatchObject({ failed: 44, failures: 'refused' });
  const rejected = { Rejected: 2, Timeout: 1, LatestRejection: 'called AE title not recognized' };
  expect(list({ Associations: rejected, Outcomes: { Stored: 5, Discarded: 0, Failed: 3 } })).toMatchObject({
    failed: 6, failures: '3 instances, 2 rejected, 1 timeout', rejection: 'called AE title not recognized',
  });
  expect(list({})).toMatchObject({ failed: 0, failures: '' });
});

test('without an instance there is no time of one', () => {
  expect(list({})).toMatchObject({ time: undefined, pause: undefined });
  expect(list({ Instances: 2, PhaseTimes: { Idle: 1, Send: 4 } })).toMatchObject({ time: 2, pause: 0.5 });
});

test('within one machine, no rate is given that a window would allow', () => {
  const listTcp = (MinimumRoundTrip: number) => list({ Tcp: { MinimumRoundTrip, SendWindow: 6e6 } })?.ceiling;
  expect([8e-6, 0, 1e-3].map(listTcp)).toEqual([undefined, undefined, 6e9]);
});

test('an address that is not known is not shown', () => {
  expect(list({}, '::')?.address).toBe('');
});

test('sorted by failures, those that have failed most come first', () => {
  const make = (Name: string, Failed: number) => ({ Name, Address: '', Receive: { ...NOTHING, Outcomes: { ...NOTHING.Outcomes, Failed } } });
  const peers = [make('A', 0), make('B', 7), make('C', 2)];
  expect(listPeers(peers, 'failed').map(({ name }) => name)).toEqual(['B', 'C', 'A']);
});
