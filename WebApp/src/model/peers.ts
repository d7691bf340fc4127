// SPDX-License-Identifier: GPL-3.0-or-later
// Peers as rows of a table: one for each direction.
import type { Direction, FailedCall, Peer, PeerTraffic } from './answers';
import { getPause, getStallShare, splitPhases, sumParts, type PhasePart } from './phases';
import { nameToolkit } from './toolkits';

export interface PeerRow {
  key: string;
  name: string;
  address: string;
  direction: Direction;
  toolkit: string;
  instances: number;
  rate: number;
  byteRate: number;
  roundTrip: number | undefined;
  window: number | undefined;
  ceiling: number | undefined; // bytes a second
  pduLength: number | undefined;
  open: number | undefined;
  stalls: number | undefined;
  stallShare: number;
  failed: number; // instances and calls
  failures: string; // why
  rejection: string | undefined; // the reason of the latest
  time: number | undefined; // of an instance on average, stalls included
  pause: number | undefined; // before it, on average, without the stalls in it
  parts: PhasePart[]; // of an instance on average
}

export type PeerOrder = 'busy' | 'name' | 'instances' | 'rate' | 'time' | 'pause' | 'stallShare' | 'failed' | 'roundTrip';

const FAILED_CALLS: readonly FailedCall[] = ['Rejected', 'Incomplete', 'Refused', 'Timeout', 'Unreachable', 'Unresolved', 'Tls'];

// The failures of instances, and of associations that were never established
function listFailures({ Outcomes, Associations = {} }: PeerTraffic): { count: number; reason: string }[] {
  const calls = FAILED_CALLS.map((key) => ({ count: Associations[key] ?? 0, reason: key.toLowerCase() }));
  return [{ count: Outcomes.Failed, reason: 'instances' }, ...calls].filter(({ count }) => count > 0);
}

const WITHIN_MACHINE = 50e-6; // seconds: a shorter round trip crosses no network, whose rate it could tell

function toRow(peer: Peer, direction: Direction, traffic: PeerTraffic): PeerRow {
  const tcp = traffic.Tcp;
  const window = direction === 'Receive' ? tcp?.ReceiveWindow : tcp?.SendWindow;
  // The smoothed one has the peer's delayed ACKs in it, which are not the network's
  const roundTrip = tcp?.MinimumRoundTrip ?? tcp?.RoundTrip;
  const { Instances: instances } = traffic;
  const parts = splitPhases(traffic.PhaseTimes, direction, traffic).map((part) => ({
    ...part, time: part.time / Math.max(instances, 1),
  }));
  const failures = listFailures(traffic);
  return {
    key: `${direction} ${peer.Name}`,
    name: peer.Name,
    address: peer.Address === peer.Name || peer.Address === '::' ? '' : peer.Address,
    direction,
    toolkit: nameToolkit(traffic.ImplementationVersion ?? '–'),
    instances,
    rate: traffic.InstancesPerSecond,
    byteRate: traffic.BytesPerSecond,
    roundTrip,
    window,
    ceiling: window && roundTrip !== undefined && roundTrip >= WITHIN_MACHINE ? window / roundTrip : undefined,
    pduLength: traffic.MaximumPduLength,
    open: traffic.Associations?.Open,
    stalls: traffic.Stalls,
    stallShare: getStallShare(parts),
    failed: failures.reduce((sum, { count }) => sum + count, 0),
    failures: failures.map(({ count, reason }) => (failures.length > 1 ? `${count} ${reason}` : reason)).join(', '),
    rejection: traffic.Associations?.LatestRejection,
    time: instances > 0 ? sumParts(parts) : undefined,
    pause: instances > 0 ? (getPause(traffic.PhaseTimes, traffic) ?? 0) / instances : undefined,
    parts,
  };
}

// Images of each of them since Orthanc started
export function countImages(peers: readonly Peer[], names: readonly string[], direction: Direction): number[] {
  return names.map((name) => peers.find(({ Name }) => Name === name)?.[direction]?.Instances ?? 0);
}

function compare(a: PeerRow, b: PeerRow, order: PeerOrder): number {
  switch (order) {
    case 'busy':
      return b.byteRate - a.byteRate || b.instances - a.instances;
    case 'name':
      return 0;
    default:
      return (b[order] ?? -1) - (a[order] ?? -1);
  }
}

// The largest first, by name where they are equal; "busy" are those that move most now, then those that have moved most
export function listPeers(peers: readonly Peer[], order: PeerOrder = 'busy'): PeerRow[] {
  const rows = peers.flatMap((peer) =>
    (['Receive', 'Send'] as const).flatMap((direction) => {
      const traffic = peer[direction];
      return traffic === undefined ? [] : [toRow(peer, direction, traffic)];
    }),
  );
  return rows.sort((a, b) => compare(a, b, order) || a.name.localeCompare(b.name) || a.key.localeCompare(b.key));
}
