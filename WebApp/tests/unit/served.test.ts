// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import type { ReadRequest } from '../../src/model/answers';
import { listRequests, listServed } from '../../src/model/served';

const FRAMES = {
  Requests: 10,
  Failed: 1,
  Bytes: 1000,
  ClientWait: 0.1,
  PhaseTimes: { Idle: 9, Receive: 0, Storage: 0.1, Work: 0.5, Send: 0.4 },
};
const ARCHIVE = { Requests: 1, Failed: 0, Bytes: 5000, ClientWait: 0, PhaseTimes: { Work: 4, Send: 1 } };

test('the class that takes the most time comes first, with its mean request', () => {
  const rows = listServed({ Classes: { 'wado-frames': FRAMES, archive: ARCHIVE } });
  expect(rows.map((row) => row.name)).toEqual(['archive', 'wado-frames']);
  expect(rows[1]).toMatchObject({ requests: 10, failed: 1, size: 100 });
  expect(rows[1]?.time).toBeCloseTo(0.1);
  expect(rows[1]?.clientShare).toBeCloseTo(0.1);
  expect(rows[1]?.parts.map((part) => part.info.name)).toEqual(['Storage', 'Work', 'Send']);
});

test('nothing served, and nothing known, are no rows', () => {
  expect(listServed({ Classes: {} })).toEqual([]);
  expect(listServed(undefined)).toEqual([]);
});

test('requests are listed with the time of each phase, the latest first, the slowest as they come', () => {
  const make = (second: number, more = {}): ReadRequest => ({
    Class: 'file', Address: '10.0.0.7', Size: 100, FinishedAt: `20261121T1135${second}.000000`, Duration: 0.3,
    Phases: { Idle: 5, Work: 0.1, Send: 0.2 }, ...more,
  });
  const requests = [make(10), make(12, { Product: 'curl', Status: 500 })];
  const served = { Classes: {}, Latest: requests, Slowest: requests };
  const rows = listRequests(served, 'Latest');
  expect(rows.map(({ client, address, status }) => [client, address, status])).toEqual([
    ['curl', '10.0.0.7', '500'], ['10.0.0.7', '', undefined],
  ]);
  expect(rows[0]?.parts.map(({ info, time }) => [info.name, time])).toEqual([['Work', 0.1], ['Send', 0.2]]);
  expect(listRequests(served, 'Slowest').map(({ client }) => client)).toEqual(['10.0.0.7', 'curl']);
  expect(listRequests(undefined, 'Latest')).toEqual([]);
});

test.each([
  ['file', 499, '499', false], ['file', 500, '500', true], ['file', undefined, undefined, false],
  ['c-find', 0, '0x0000', false], ['c-find', 0xfe00, '0xFE00', false], ['c-move', 0x122, '0x0122', true],
  ['c-get', undefined, undefined, false],
])('%s with status %s is shown as %s; failed: %s', (Class, Status, status, hasFailed) => {
  const request: ReadRequest = { Class, ...(Status !== undefined && { Status }), Address: '', Size: 1, FinishedAt: '20261121T113510.000000', Duration: 1, Phases: {} };
  expect(listRequests({ Classes: {}, Latest: [request], Slowest: [] }, 'Latest')[0]).toMatchObject({ status, hasFailed });
});
