// SPDX-License-Identifier: GPL-3.0-or-later
// Peers as rows of a table: one for each direction.
import type { Direction, Peer, PeerTraffic } from './answers';
import { splitPhases, sumParts, type PhasePart } from './phases';
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
  parts: PhasePart[];
}

function toRow(peer: Peer, direction: Direction, traffic: PeerTraffic): PeerRow {
  const tcp = traffic.Tcp;
  const window = direction === 'Receive' ? tcp?.ReceiveWindow : tcp?.SendWindow;
  // The smoothed one has the peer's delayed ACKs in it, which are not the network's
  const roundTrip = tcp?.MinimumRoundTrip ?? tcp?.RoundTrip;
  const parts = splitPhases(traffic.PhaseTimes, direction);
  const time = sumParts(parts) + (traffic.PhaseTimes.Idle ?? 0);
  return {
    key: `${direction} ${peer.Name}`,
    name: peer.Name,
    address: peer.Address === peer.Name ? '' : peer.Address,
    direction,
    toolkit: nameToolkit(traffic.ImplementationVersion ?? '–'),
    instances: traffic.Instances,
    rate: traffic.InstancesPerSecond,
    byteRate: traffic.BytesPerSecond,
    roundTrip,
    window,
    ceiling: window !== undefined && roundTrip !== undefined && roundTrip > 0 ? window / roundTrip : undefined,
    pduLength: traffic.MaximumPduLength,
    open: traffic.Associations?.Open,
    stalls: traffic.Stalls,
    stallShare: time > 0 ? (traffic.StallTime ?? 0) / time : 0,
    parts,
  };
}

// Those that are busy first, then those that have moved most
export function listPeers(peers: readonly Peer[]): PeerRow[] {
  const rows = peers.flatMap((peer) =>
    (['Receive', 'Send'] as const).flatMap((direction) => {
      const traffic = peer[direction];
      return traffic === undefined ? [] : [toRow(peer, direction, traffic)];
    }),
  );
  return rows.sort((a, b) => b.byteRate - a.byteRate || b.instances - a.instances || a.key.localeCompare(b.key));
}
