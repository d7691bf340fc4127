// SPDX-License-Identifier: GPL-3.0-or-later
// The changes that this page has made, and those that the server tells of, as one list.
import type { HistoryAnswer, Json, JsonObject, Tuning, TuningAuthor } from './answers';
import { compareAround, type Point, type Speed } from './history';

type Told = HistoryAnswer['TuningChanges'][number];

// A change of the tuning, made here or by someone else
export interface Change {
  id: number;
  time: number; // seconds since 1970
  change: JsonObject; // as it was asked for, if it was made here
  made: JsonObject; // the keys that are different since, with their new values
  inverse: JsonObject | null; // null: a plugin that does not tell what was before
  author?: TuningAuthor; // as the server tells it
  isTold: boolean; // by the server, whose time it then is
}

// Seconds between what this page takes for the time of its change and what the server tells
const SAME_CHANGE = 60;

function listKeys(document: JsonObject): [string, string, Json][] {
  return Object.entries(document).flatMap(([section, keys]) =>
    Object.entries((keys ?? {}) as JsonObject).map(([key, value]): [string, string, Json] => [section, key, value]),
  );
}

// Whether the told change can be the one that was made here: it has the same keys
function isSame(told: Told, own: Change): boolean {
  const keys = new Set(listKeys(told.Change).map(([section, key]) => `${section}.${key}`));
  return (
    !own.isTold &&
    Math.abs(told.Time - own.time) < SAME_CHANGE &&
    listKeys(own.made).every(([section, key]) => keys.has(`${section}.${key}`))
  );
}

// In the order of their times; the known list itself if nothing is new
export function mergeChanges(
  known: readonly Change[], told: readonly Told[], makeId: () => number,
): readonly Change[] {
  let changes = known;
  for (const one of told) {
    const text = JSON.stringify(one.Change);
    if (changes.some(({ isTold, time, made }) => isTold && time === one.Time && JSON.stringify(made) === text)) {
      continue;
    }
    const own = changes.find((change) => isSame(one, change));
    const merged: Change = {
      id: own?.id ?? makeId(),
      time: one.Time,
      change: own?.change ?? one.Change,
      made: one.Change,
      inverse: one.Undo ?? own?.inverse ?? null,
      isTold: true,
    };
    if (one.By !== undefined) {
      merged.author = one.By;
    }
    changes = [...changes.filter((change) => change !== own), merged];
  }
  return changes === known ? known : [...changes].sort((a, b) => a.time - b.time || a.id - b.id);
}

// Who asked for it, in words; empty: not known
export function describeAuthor(author: TuningAuthor | undefined): string {
  if (author?.Origin === 'Internal') {
    return 'by a script or another plugin';
  }
  const who = [author?.User, author?.Address].filter((part) => part !== undefined);
  return who.length === 0 ? '' : `by ${who.join(', ')}`;
}

// Whether all that the document sets is so
export function isInForce(document: JsonObject, tuning: Tuning | undefined): boolean {
  const inForce = tuning as unknown as Record<string, JsonObject | undefined> | undefined;
  return inForce !== undefined && listKeys(document).every(([section, key, value]) => inForce[section]?.[key] === value);
}

// The name of the preset follows from the other settings
function dropPreset(document: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(document).map(([section, keys]) => {
      const { Preset: _, ...others } = keys as JsonObject;
      return [section, others];
    }),
  );
}

// Whether all that the change made is still so: only then does taking it back undo it and nothing
// else
export function canUndo(change: Change, tuning: Tuning | undefined): boolean {
  return change.inverse !== null && isInForce(dropPreset(change.made), tuning);
}

export interface Effect {
  number: number;
  change: Change;
  before: Speed | null;
  after: Speed | null;
  factor: number | null; // of the instances a second
}

// What each change did to the speed, in the order of the changes
export function measureEffects(changes: readonly Change[], points: readonly Point[]): Effect[] {
  return changes.map((change, index) => {
    const earlier = changes[index - 1]?.time ?? 0;
    const later = changes[index + 1]?.time ?? Number.POSITIVE_INFINITY;
    const { before, after } = compareAround(points, change.time, earlier, later);
    const factor = before !== null && after !== null ? after.instances / before.instances : null;
    return { number: index + 1, change, before, after, factor };
  });
}
