// SPDX-License-Identifier: GPL-3.0-or-later
// The phases of an instance, in the order in which they pass, and what they mean.
import type { Direction, PartName, PhaseName, PhaseTimes, StallTimes } from './answers';

export interface PhaseInfo<Name extends PartName = PartName> {
  name: Name;
  label: string;
  explanation: string;
}

const RECEIVING: readonly PhaseInfo<PhaseName>[] = [
  { name: 'Receive', label: 'Receive', explanation: 'the network, first to last byte' },
  { name: 'Parse', label: 'Parse', explanation: 'until the data set is in memory' },
  { name: 'Transcode', label: 'Transcode', explanation: 'to another transfer syntax' },
  { name: 'Prepare', label: 'Prepare', explanation: 'tags, MD5, Lua, other plugins' },
  { name: 'Storage', label: 'Storage', explanation: 'writing the DICOM file' },
  { name: 'Sync', label: 'Sync', explanation: 'waiting for the disk (fsync)' },
  { name: 'Remote', label: 'Remote', explanation: 'waiting for the object storage' },
  { name: 'Index', label: 'Index', explanation: "Orthanc's database" },
  { name: 'Database', label: 'Database', explanation: 'waiting for the database server' },
  { name: 'Commit', label: 'Commit', explanation: 'storage and database, not told apart' },
  { name: 'Respond', label: 'Respond', explanation: 'sending the answer' },
];

const SENDING: readonly PhaseInfo<PhaseName>[] = [
  { name: 'Connect', label: 'Connect', explanation: 'the TCP handshake' },
  { name: 'Associate', label: 'Associate', explanation: 'negotiating the association' },
  { name: 'Send', label: 'Send', explanation: 'sending the C-STORE request' },
  { name: 'Wait', label: 'Wait', explanation: 'for the response of the peer' },
];

// Not a phase: time lost to stalls, which lie in the pause before an instance, or in what waits for the network
export const STALLED: PhaseInfo = {
  name: 'Stalled',
  label: 'Stalled',
  explanation: 'lost to TCP stalls',
};

export function getPhases(direction: Direction): readonly PhaseInfo<PhaseName>[] {
  return direction === 'Receive' ? RECEIVING : SENDING;
}

export interface PhasePart {
  info: PhaseInfo;
  time: number;
}

// A phase's time without what is inside it and shown by itself: Sync and Remote are parts of Storage,
// Database one of Index, or of Commit where that could not be told from Storage. Of many instances
// together, Commit has what Index is too short for.
export function getOwnTime(times: PhaseTimes, name: PhaseName): number | undefined {
  const inside: Partial<Record<PhaseName, number | undefined>> = {
    Storage: (times.Sync ?? 0) + (times.Remote ?? 0),
    Index: times.Database,
    Commit: Math.max(0, (times.Database ?? 0) - (times.Index ?? 0)),
  };
  const time = times[name];
  return time === undefined ? undefined : Math.max(0, time - (inside[name] ?? 0));
}

// Those that wait for the network, from which stalls are taken in turn
const STALLING: readonly PhaseName[] = ['Receive', 'Wait', 'Send'];

// The observed phases in order. Time lost to stalls is a part of its own, from the pause before the instances and from
// phases: the parts sum to the duration and the stalls in the pause.
export function splitPhases(times: PhaseTimes, direction: Direction, stalls: StallTimes = {}): PhasePart[] {
  const parts = getPhases(direction).flatMap((info): PhasePart[] => {
    const time = getOwnTime(times, info.name);
    return time === undefined ? [] : [{ info, time }];
  });
  let stalled = stalls.StallTimeInIdle ?? 0;
  let left = Math.max(0, (stalls.StallTime ?? 0) - stalled);
  for (const name of STALLING) {
    const part = parts.find(({ info }) => info.name === name);
    if (part !== undefined) {
      const taken = Math.min(part.time, left);
      part.time -= taken;
      left -= taken;
      stalled += taken;
    }
  }
  return stalled > 0 ? [{ info: STALLED, time: stalled }, ...parts] : parts;
}

// The pause before the instances, without the stalls in it
export function getPause(times: PhaseTimes, { StallTimeInIdle = 0 }: StallTimes): number | undefined {
  return times.Idle === undefined ? undefined : Math.max(0, times.Idle - StallTimeInIdle);
}

export function sumParts(parts: readonly PhasePart[]): number {
  return parts.reduce((sum, part) => sum + part.time, 0);
}

export function getStalled(parts: readonly PhasePart[]): number {
  return parts.find(({ info }) => info === STALLED)?.time ?? 0;
}

export function getStallShare(parts: readonly PhasePart[]): number {
  const stalled = getStalled(parts);
  return stalled > 0 ? stalled / sumParts(parts) : 0;
}
