// SPDX-License-Identifier: GPL-3.0-or-later
// The phases of an instance, in the order in which they pass, and what they mean.
import type { Direction, PhaseName, PhaseTimes } from './answers';

export interface PhaseInfo {
  name: PhaseName;
  label: string;
  explanation: string;
}

const RECEIVING: readonly PhaseInfo[] = [
  { name: 'Receive', label: 'Receive', explanation: 'The network: first to last byte of the data set' },
  { name: 'Parse', label: 'Parse', explanation: 'From the last byte until Orthanc has the data set in memory' },
  { name: 'Transcode', label: 'Transcode', explanation: 'Pixel data converted to another transfer syntax' },
  { name: 'Prepare', label: 'Prepare', explanation: 'DICOM tags, MD5, Lua scripts and other plugins' },
  { name: 'Storage', label: 'Storage', explanation: 'The DICOM file written, without waiting for the disk' },
  { name: 'Sync', label: 'Sync', explanation: 'Waiting for the disk to confirm (fsync)' },
  { name: 'Index', label: 'Index', explanation: 'The database of Orthanc' },
  { name: 'Commit', label: 'Commit', explanation: 'Storage and database together, where they cannot be told apart' },
  { name: 'Respond', label: 'Respond', explanation: 'The answer handed to the kernel' },
];

const SENDING: readonly PhaseInfo[] = [
  { name: 'Connect', label: 'Connect', explanation: 'The TCP handshake' },
  { name: 'Associate', label: 'Associate', explanation: 'Negotiating the DICOM association' },
  { name: 'Send', label: 'Send', explanation: 'The C-STORE request handed to the kernel' },
  { name: 'Wait', label: 'Wait', explanation: 'Until the last byte of the response of the peer' },
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
