// SPDX-License-Identifier: GPL-3.0-or-later
// Which parts of the page that can be folded are open.
import { keep, recall } from './kept';
import { view } from './state';

const NAME = 'open';

export function restoreFolds(): void {
  view.open = (recall(NAME) ?? '').split(' ').filter(Boolean);
}

export function switchFold(id: string): void {
  view.open = view.open.includes(id) ? view.open.filter((one) => one !== id) : [...view.open, id];
  keep(NAME, view.open.join(' '));
}
