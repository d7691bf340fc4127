// SPDX-License-Identifier: GPL-3.0-or-later
// The phases of an instance, in the order in which they pass, and what they mean.
import type { Direction, PhaseName, PhaseTimes } from './answers';

export interface PhaseInfo {
  name: PhaseName;
  label: string;
  explanation: string;
}

const RECEIVING: readonly PhaseInfo[] = [
  { name: 'Receive', label: 'Receive', explanation: 'the network, first to last byte' },
  { name: 'Parse', label: 'Parse', explanation: 'until the data set is in memory' },
  { name: 'Transcode', label: 'Transcode', explanation: 'to another transfer syntax' },
  { name: 'Prepare', label: 'Prepare', explanation: 'tags, MD5, Lua, other plugins' },
  { name: 'Storage', label: 'Storage', explanation: 'writing the DICOM file' },
  { name: 'Sync', label: 'Sync', explanation: 'waiting for the disk (fsync)' },
  { name: 'Index', label: 'Index', explanation: "Orthanc's database" },
  { name: 'Commit', label: 'Commit', explanation: 'storage and database in one' },
  { name: 'Respond', label: 'Respond', explanation: 'handing over the answer' },
];

const SENDING: readonly PhaseInfo[] = [
  { name: 'Connect', label: 'Connect', explanation: 'the TCP handshake' },
  { name: 'Associate', label: 'Associate', explanation: 'negotiating the association' },
  { name: 'Send', label: 'Send', explanation: 'handing over the C-STORE request' },
  { name: 'Wait', label: 'Wait', explanation: 'for the response of the peer' },
];

export const IDLE: PhaseInfo = {
  name: 'Idle',
  label: 'Idle',
  explanation: 'The pause of the sender before its next instance; not part of the duration',
};

export function getPhases(direction: Direction): readonly PhaseInfo[] {
  return direction === 'Receive' ? RECEIVING : SENDING;
}

export interface PhasePart {
  info: PhaseInfo;
  time: number;
}

// The observed phases in order, without the idle time. Sync is a part of Storage: what is left of
// Storage comes before it, so that the parts sum to the duration.
export function splitPhases(times: PhaseTimes, direction: Direction): PhasePart[] {
  const parts: PhasePart[] = [];
  for (const info of getPhases(direction)) {
    let time = times[info.name];
    if (time !== undefined && info.name === 'Storage') {
      time = Math.max(0, time - (times.Sync ?? 0));
    }
    if (time !== undefined) {
      parts.push({ info, time });
    }
  }
  return parts;
}

export function sumParts(parts: readonly PhasePart[]): number {
  return parts.reduce((sum, part) => sum + part.time, 0);
}
