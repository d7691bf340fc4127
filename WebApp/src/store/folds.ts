// SPDX-License-Identifier: GPL-3.0-or-later
// Which parts of the page that can be folded are open; kept in the browser where that is allowed.
import { view } from './state';

const KEY = 'orthanc-perf-open';

export function restoreFolds(): void {
  try {
    view.open = (localStorage.getItem(KEY) ?? '').split(' ').filter(Boolean);
  } catch {
    // A browser that keeps nothing
  }
}

export function switchFold(id: string): void {
  view.open = view.open.includes(id) ? view.open.filter((one) => one !== id) : [...view.open, id];
  try {
    localStorage.setItem(KEY, view.open.join(' '));
  } catch {
    // As above
  }
}
