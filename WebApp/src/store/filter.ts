// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the latest instances are shown.
import type { Direction } from '../model/answers';
import { view } from './state';

function choose(peer: string, onlyFailed: boolean): void {
  view.peer = peer;
  view.onlyFailed = onlyFailed;
  view.heldInstances = null;
}

function showWaterfall(): void {
  document.getElementById('waterfall')?.scrollIntoView({ block: 'nearest' });
}

// The same peer once more: all peers again
export function pickPeer(name: string, direction: Direction): void {
  const isPicked = view.peer === name && view.direction === direction;
  view.direction = direction;
  choose(isPicked ? '' : name, view.onlyFailed);
  showWaterfall();
}

export function pickFailed(): void {
  choose(view.peer, !view.onlyFailed);
  showWaterfall();
}

export function showAll(): void {
  choose('', false);
}
