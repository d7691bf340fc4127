// SPDX-License-Identifier: GPL-3.0-or-later
// The changes that this page has made, and those that the server tells of, as one list.
import type { HistoryAnswer, Json, JsonObject } from './answers';

// A change of the tuning, made here or by someone else
export interface Change {
  id: number;
  time: number; // seconds since 1970
  change: JsonObject;
  inverse: JsonObject | null; // null: not made on this page, so it cannot be taken back here
  isUndone: boolean;
  isTold: boolean; // by the server, whose time it then is
}

// Seconds between what this page takes for the time of its change and what the server tells
const SAME_CHANGE = 60;

function listKeys(document: JsonObject): string[] {
  return Object.entries(document).flatMap(([section, keys]) =>
    Object.keys((keys ?? {}) as { [key: string]: Json }).map((key) => `${section}.${key}`),
  );
}

// Whether the told change can be the one whose inverse is known: it has the same keys
function isSame(told: HistoryAnswer['TuningChanges'][number], own: Change): boolean {
  const keys = new Set(listKeys(told.Change));
  return (
    !own.isTold &&
    Math.abs(told.Time - own.time) < SAME_CHANGE &&
    own.inverse !== null &&
    listKeys(own.inverse).every((key) => keys.has(key))
  );
}

// In the order of their times; the known list itself if nothing is new
export function mergeChanges(
  known: readonly Change[], told: HistoryAnswer['TuningChanges'], makeId: () => number,
): readonly Change[] {
  let changes = known;
  for (const one of told) {
    const text = JSON.stringify(one.Change);
    const isKnown = changes.some(
      (change) => change.isTold && change.time === one.Time && (change.inverse !== null || JSON.stringify(change.change) === text),
    );
    if (isKnown) {
      continue;
    }
    const own = changes.find((change) => isSame(one, change));
    changes =
      own === undefined
        ? [...changes, { id: makeId(), time: one.Time, change: one.Change, inverse: null, isUndone: false, isTold: true }]
        : changes.map((change) => (change === own ? { ...own, time: one.Time, isTold: true } : change));
  }
  return changes === known ? known : [...changes].sort((a, b) => a.time - b.time || a.id - b.id);
}
