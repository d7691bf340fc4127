// SPDX-License-Identifier: GPL-3.0-or-later
// What the browser keeps of the reader's choices, where that is allowed.
const PREFIX = 'orthanc-perf-';

export function recall(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null; // A browser that keeps nothing
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // As above
  }
}
