// SPDX-License-Identifier: GPL-3.0-or-later
// HTTP requests that read, by class of route.
import type { ReadSums, Served } from './answers';
import { sumParts, type PhaseInfo, type PhasePart } from './phases';

const PHASES: readonly PhaseInfo[] = [
  { name: 'Receive', label: 'Receive', explanation: 'the request' },
  { name: 'Database', label: 'Database', explanation: "waiting for the database server" },
  { name: 'Storage', label: 'Storage', explanation: 'reading files, or waiting for the object storage' },
  { name: 'Work', label: 'Work', explanation: 'decoding, transcoding, compressing, SQLite' },
  { name: 'Send', label: 'Send', explanation: 'handing over the response' },
];

export interface ServedRow {
  name: string;
  requests: number;
  failed: number;
  size: number; // of a mean response
  time: number; // of a mean request
  clientShare: number;
  parts: readonly PhasePart[]; // of a mean request
}

function describe(name: string, sums: ReadSums): ServedRow {
  const parts = PHASES.map((info) => ({ info, time: (sums.PhaseTimes[info.name] ?? 0) / sums.Requests }));
  const time = sumParts(parts);
  return {
    name,
    requests: sums.Requests,
    failed: sums.Failed,
    size: sums.Bytes / sums.Requests,
    time,
    clientShare: time > 0 ? sums.ClientWait / sums.Requests / time : 0,
    parts: parts.filter((part) => part.time > 0),
  };
}

// Those that take the most time together come first
export function listServed(served: Served | undefined): ServedRow[] {
  return Object.entries(served?.Classes ?? {})
    .map(([name, sums]) => describe(name, sums))
    .sort((a, b) => b.time * b.requests - a.time * a.requests);
}
