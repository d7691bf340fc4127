// SPDX-License-Identifier: GPL-3.0-or-later
// The changes of the tuning that the server tells of.
import type { Json, JsonObject, Tuning, TuningAuthor, TuningChange, TuningSources } from './answers';
import { compareAround, type Point, type Speed } from './history';

// The same for the same change, whenever the server tells of it
export function getKey({ Time, Change }: TuningChange): string {
  return `${Time} ${JSON.stringify(Change)}`;
}

const KEPT = 200; // as many as the server remembers

// In the order of their times, the latest; the known list itself if nothing is new
export function mergeChanges(
  known: readonly TuningChange[], told: readonly TuningChange[],
): readonly TuningChange[] {
  const keys = new Set(known.map(getKey));
  const added = told.filter((change) => !keys.has(getKey(change)));
  return added.length === 0 ? known : [...known, ...added].sort((a, b) => a.Time - b.Time).slice(-KEPT);
}

function listKeys(document: JsonObject): [string, string, Json][] {
  return Object.entries(document).flatMap(([section, keys]) =>
    Object.entries((keys ?? {}) as JsonObject).map(([key, value]): [string, string, Json] => [section, key, value]),
  );
}

// Who asked for it, in words
export function describeAuthor(author: TuningAuthor): string {
  if (author.Origin === 'Internal') {
    return 'by a script or another plugin';
  }
  return `by ${[author.User, author.Address].filter((part) => part !== undefined).join(', ')}`;
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
export function canUndo(change: TuningChange, tuning: Tuning | undefined): boolean {
  return isInForce(dropPreset(change.Change), tuning);
}

// The changes after which the whole tuning was as it is configured, as after a DELETE. From what is in force now, each
// change is taken back in turn, as far as the known ones fit together.
export function findReturns(
  changes: readonly TuningChange[], sources: TuningSources | undefined,
): ReadonlySet<TuningChange> {
  const all = Object.entries(sources ?? {}).flatMap(([section, keys]) =>
    Object.entries(keys ?? {}).map(([key, source]) => [`${section}.${key}`, source] as const));
  const values = new Map(all.map(([name, source]) => [name, source?.Value]));
  const list = (document: JsonObject) => listKeys(dropPreset(document)).map(([section, key, value]) => [`${section}.${key}`, value] as const);
  const returns = new Set<TuningChange>();
  for (const change of [...changes].reverse()) {
    if (!list(change.Change).every(([name, value]) => values.get(name) === value)) {
      break;
    }
    if (all.every(([name, source]) => values.get(name) === (source?.Source === 'REST' ? source.Configured : source?.Value))) {
      returns.add(change);
    }
    list(change.Undo).forEach(([name, value]) => values.set(name, value));
  }
  return returns;
}

export interface Effect {
  number: number;
  change: TuningChange;
  before: Speed | null;
  after: Speed | null;
  isBrief: boolean; // of one of them there was too little for a speed
  factor: number | null; // of the instances a second
}

const NOTEWORTHY = 1.25; // a factor nearer to 1 may be chance

export type Verdict = 'good' | 'bad' | '';

// What the factor says of the change; empty: nothing
export function judgeFactor(factor: number | null): Verdict {
  if (factor === null || Math.max(factor, 1 / factor) < NOTEWORTHY) {
    return '';
  }
  return factor > 1 ? 'good' : 'bad';
}

// What each change did to the speed, in the order of the changes
export function measureEffects(changes: readonly TuningChange[], points: readonly Point[]): Effect[] {
  return changes.map((change, index) => {
    const earlier = changes[index - 1]?.Time ?? 0;
    const later = changes[index + 1]?.Time ?? Number.POSITIVE_INFINITY;
    const { before, after, isBrief } = compareAround(points, change.Time, earlier, later);
    const factor = before !== null && after !== null ? after.instances / before.instances : null;
    return { number: index + 1, change, before, after, isBrief, factor };
  });
}
