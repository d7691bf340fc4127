// SPDX-License-Identifier: GPL-3.0-or-later
// HTTP requests that read, by class of route.
import type { ReadRequest, ReadSums, Served } from './answers';
import { parseMoment } from './format';
import { sumParts, type PhaseInfo, type PhasePart } from './phases';

export const READ_PHASES: readonly PhaseInfo[] = [
  { name: 'Receive', label: 'Receive', explanation: 'the request' },
  { name: 'Database', label: 'Database', explanation: 'waiting for the database server' },
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

// Of so many requests together
function split(times: ReadRequest['Phases'], requests = 1): PhasePart[] {
  return READ_PHASES.map((info) => ({ info, time: (times[info.name] ?? 0) / requests })).filter(({ time }) => time > 0);
}

function describe(name: string, sums: ReadSums): ServedRow {
  const parts = split(sums.PhaseTimes, sums.Requests);
  const time = sumParts(parts);
  return {
    name,
    requests: sums.Requests,
    failed: sums.Failed,
    size: sums.Bytes / sums.Requests,
    time,
    clientShare: time > 0 ? sums.ClientWait / sums.Requests / time : 0,
    parts,
  };
}

// Those that take the most time together come first
export function listServed(served: Pick<Served, 'Classes'> | undefined): ServedRow[] {
  return Object.entries(served?.Classes ?? {})
    .map(([name, sums]) => describe(name, sums))
    .sort((a, b) => b.time * b.requests - a.time * a.requests);
}

export interface RequestRow {
  key: string;
  name: string; // the class of its route
  finished: number;
  client: string; // its product, or its address
  address: string; // where that is not the client
  status: string | undefined; // of DIMSE, as the standard writes it
  hasFailed: boolean;
  size: number;
  time: number;
  parts: readonly PhasePart[];
}

const CANCELLED = 0xfe00; // by the client of a DIMSE request

function toRow({ Class, Status, Address, Product, Size, FinishedAt, Duration, Phases }: ReadRequest): RequestRow {
  const isDimse = Class.startsWith('c-');
  return {
    key: `${FinishedAt} ${Class} ${Address}`,
    name: Class,
    finished: parseMoment(FinishedAt),
    client: Product ?? Address,
    address: Product === undefined ? '' : Address,
    status: isDimse && Status !== undefined ? `0x${Status.toString(16).toUpperCase().padStart(4, '0')}` : Status?.toString(),
    hasFailed: isDimse ? (Status ?? 0) !== 0 && Status !== CANCELLED : (Status ?? 0) >= 500,
    size: Size,
    time: Duration,
    parts: split(Phases),
  };
}

// They are told of in the order in which the next one began on their connections
export function listRequests(served: Served | undefined, order: 'Latest' | 'Slowest'): RequestRow[] {
  const rows = (served?.[order] ?? []).map(toRow);
  return order === 'Latest' ? rows.sort((a, b) => b.finished - a.finished) : rows;
}
