// SPDX-License-Identifier: GPL-3.0-or-later
// Light, dark, or as the system has it; kept in the browser where that is allowed.
import { view, type Theme } from './state';

const KEY = 'orthanc-perf-theme';
const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

function show(theme: Theme): void {
  view.theme = theme;
  document.documentElement.dataset.theme = theme;
}

export function restoreTheme(): void {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // A browser that keeps nothing
  }
  show(THEMES.find((theme) => theme === kept) ?? 'auto');
}

export function switchTheme(): void {
  const next = THEMES[(THEMES.indexOf(view.theme) + 1) % THEMES.length] ?? 'auto';
  show(next);
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // As above
  }
}
