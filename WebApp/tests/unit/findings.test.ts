// SPDX-License-Identifier: GPL-3.0-or-later
import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Finding } from '../../src/model/answers';
import { describeBase, describeEvidence, getDirection, groupFindings } from '../../src/model/findings';

function make(id: string, peer: string, share: number, text = 'Do this'): Finding {
  return {
    ID: id,
    Peer: peer,
    Title: id,
    Explanation: '',
    Evidence: {},
    Cost: { ShareOfIngestTime: share },
    Remedy: { Kind: 'Tuning', Text: text },
  };
}

test('the same finding of several peers is one, the costliest first', () => {
  const groups = groupFindings([make('stalls', 'A', 0.2), make('slow', 'A', 0.5), make('stalls', 'B', 0.4)]);
  expect(groups.map(({ findings }) => findings.map(({ ID, Peer }) => `${ID} ${Peer}`))).toEqual([
    ['stalls B', 'stalls A'],
    ['slow A'],
  ]);
});

test('a cost names what it is a share of', () => {
  expect(['slow-reads', 'answer-compression', 'failed-instances', 'stuck-instances', 'delayed-ack'].map(describeBase)).toEqual([
    'of the time of requests', 'of the time of such requests', 'of the images',
    'of the time with these waits and the senders’ pauses', 'of the time with the senders’ pauses',
  ]);
  expect(['delayed-ack-sending', 'receiver-bottleneck'].map(describeBase)).toEqual(Array(2).fill('of the time with the pauses'));
});

test('where the remedies differ, the findings do', () => {
  expect(groupFindings([make('small', 'A', 0.2), make('small', 'B', 0.2, 'Do that')])).toHaveLength(2);
});

test('a finding is about what comes in, or about what is sent', () => {
  expect(['delayed-ack', 'delayed-ack-sending', 'sender-bottleneck', 'receiver-bottleneck'].map(getDirection)).toEqual([
    'Receive', 'Send', 'Receive', 'Send',
  ]);
});

test('memory is told in bytes, waiting in seconds, and what is counted as it is', () => {
  const evidence = { IngestBudget: 805306368, Memory: 3221225472, Waits: 12, Waited: 34.5, GivenUp: 1, LargestInstance: 5e8 };
  expect(describeEvidence(evidence).map(({ name, value }) => `${name}: ${value}`)).toEqual([
    'Ingest budget: 805 MB', 'Memory: 3.22 GB', 'Waits: 12', 'Waited: 34.5 s', 'Given up: 1', 'Largest instance: 500 MB',
  ]);
});

// The names in quotes in the advisor's rules, with the unit in which half of one is shown
function listUnits(): Map<string, string> {
  const rules = new URL('../../../Plugin/Advisor/Rules/', import.meta.url);
  const texts = readdirSync(rules).map((name) => readFileSync(new URL(name, rules), 'utf8'));
  const keys = texts.flatMap((text) => Array.from(text.matchAll(/"([A-Z]\w+)"/g), ([, key = '']) => key));
  return new Map(keys.map((key) => [key, describeEvidence({ [key]: 0.5 })[0]?.value.split(' ')[1] ?? 'none']));
}

const UNITS: Record<string, readonly string[]> = {
  '%': [
    'CommitShare', 'FailedShare', 'HashingShare',
    'IndexShare', 'LatencyShare', 'PauseShare', 'QueuedShare',
    'StallShare', 'SyncShare', 'TranscodeShare', 'WaitShare', 'WriteShare',
  ],
  B: [
    'IngestBudget', 'Limit', 'MeanSize', 'Memory', 'Peak',
    'PeerWindow', 'ReceiveWindow', 'UnderWay', 'Window',
  ],
  'B/s': [
    'FasterRate', 'Rate', 'WindowLimit',
  ],
  ms: [
    'Busy', 'EstimatedHashing', 'Latency', 'LongestTime', 'MeanCommit',
    'MeanDatabase', 'MeanDuration', 'MeanIndex', 'MeanPause', 'MeanPrepare', 'MeanQueued',
    'MeanRemote', 'MeanStall', 'MeanSync', 'MeanTranscode', 'MeanWait', 'MeanWrite',
    'MedianSetupTime', 'RoundTrip', 'ServiceTime', 'Waited', 'WindowLimited',
  ],
  none: [
    'Associations', 'Connections', 'ConnectionsInUse', 'Cores', 'Database',
    'DicomThreadsCount', 'Engine', 'Failed', 'FasterEngine', 'GivenUp', 'Implementation',
    'Instances', 'InstancesInIndex',
    'OpenAssociations', 'Phase', 'Reason', 'RoundTrips', 'RunnableTasks',
    'SeemsLike', 'Server', 'StallsPerInstance', 'StoredInstances', 'Sysctl',
    'WaitingAssociations', 'Waits',
  ],
};

test.each(Object.entries(UNITS))('the figures of the advisor that are shown in "%s"', (unit, keys) => {
  const units = listUnits();
  expect(Object.fromEntries(keys.map((key) => [key, units.get(key)]))).toEqual(
    Object.fromEntries(keys.map((key) => [key, unit])),
  );
});
