// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the latest instances are shown.
import type { Direction } from '../model/answers';
import { view } from './state';

// The same peer once more: all peers again
export function pickPeer(name: string, direction: Direction): void {
  const isPicked = view.peer === name && view.direction === direction;
  view.peer = isPicked ? '' : name;
  view.direction = direction;
  view.heldInstances = null;
  document.getElementById('waterfall')?.scrollIntoView({ block: 'nearest' });
}

export function pickFailed(): void {
  view.onlyFailed = !view.onlyFailed;
  view.heldInstances = null;
  document.getElementById('waterfall')?.scrollIntoView({ block: 'nearest' });
}

export function showAll(): void {
  view.peer = '';
  view.onlyFailed = false;
  view.heldInstances = null;
}
