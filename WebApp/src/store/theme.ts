// SPDX-License-Identifier: GPL-3.0-or-later
// Light, dark, or as the system has it.
import { keep, recall } from './kept';
import { view, type Theme } from './state';

const NAME = 'theme';
const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

function show(theme: Theme): void {
  view.theme = theme;
  document.documentElement.dataset.theme = theme;
}

export function restoreTheme(): void {
  const kept = recall(NAME);
  show(THEMES.find((theme) => theme === kept) ?? 'auto');
}

export function switchTheme(): void {
  const next = THEMES[(THEMES.indexOf(view.theme) + 1) % THEMES.length] ?? 'auto';
  show(next);
  keep(NAME, next);
}
