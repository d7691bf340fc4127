// SPDX-License-Identifier: GPL-3.0-or-later
// Light, dark, or as the system has it.
import { keep, recall } from './kept';
import { view, type Theme } from './state';

const NAME = 'theme';
const SYSTEM = matchMedia('(prefers-color-scheme: dark)');
const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

function paint(): void {
  view.isDark = view.theme === 'auto' ? SYSTEM.matches : view.theme === 'dark';
  document.documentElement.dataset.theme = view.isDark ? 'dark' : 'light';
}

export function restoreTheme(): void {
  const kept = recall(NAME);
  view.theme = THEMES.find((theme) => theme === kept) ?? 'auto';
  paint();
  SYSTEM.addEventListener('change', paint);
}

export function switchTheme(): void {
  view.theme = THEMES[(THEMES.indexOf(view.theme) + 1) % THEMES.length] ?? 'auto';
  keep(NAME, view.theme);
  paint();
}
