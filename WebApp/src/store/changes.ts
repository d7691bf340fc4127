// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of the tuning: made, taken back, and those that the server remembers.
import { perf, RequestError } from '../api';
import type { HistoryAnswer, JsonObject, Tuning } from '../model/answers';
import { mergeChanges, type Change } from '../model/changes';
import { describeChange, findInverse } from '../model/tuning';
import { serverNow, state } from './state';

const FORBIDDEN = 403;

let lastId = 0;

function note(change: JsonObject, inverse: JsonObject): void {
  const made: Change = { id: ++lastId, time: serverNow(), change, inverse, isUndone: false, isTold: false };
  state.changes = [...state.changes, made];
}

// Sends a change and remembers how to take it back. Undefined: it was not accepted, and the
// message says why.
async function change(send: () => Promise<Tuning>): Promise<JsonObject | undefined> {
  state.isChanging = true;
  try {
    const before = await perf.get<Tuning>('tuning');
    const after = await send();
    state.tuning = after;
    return findInverse(before, after);
  } catch (error) {
    state.isTuningForbidden ||= error instanceof RequestError && error.status === FORBIDDEN;
    state.message = `Not changed. ${error instanceof Error ? error.message : String(error)}`;
    // The controls show again what is in force
    state.tuning = state.tuning === undefined ? undefined : { ...state.tuning };
    return undefined;
  } finally {
    state.isChanging = false;
  }
}

export async function applyChange(patch: JsonObject): Promise<void> {
  const inverse = await change(() => perf.put<Tuning>('tuning', patch));
  if (inverse !== undefined) {
    state.message = `Changed. ${describeChange(patch)}`;
    if (Object.keys(inverse).length > 0) {
      note(patch, inverse);
    }
  }
}

export async function resetTuning(): Promise<void> {
  const inverse = await change(() => perf.delete<Tuning>('tuning'));
  if (inverse !== undefined) {
    state.message = 'The tuning of the configuration is in force';
    if (Object.keys(inverse).length > 0) {
      note({}, inverse);
    }
  }
}

export async function undo(id: number): Promise<void> {
  const undone = state.changes.find((one) => one.id === id);
  if (undone?.inverse == null) {
    return;
  }
  const patch = undone.inverse;
  const inverse = await change(() => perf.put<Tuning>('tuning', patch));
  if (inverse !== undefined) {
    state.changes = state.changes.map((one) => (one.id === id ? { ...one, isUndone: true } : one));
    state.message = `Undone. ${describeChange(patch)}`;
    note(patch, inverse);
  }
}

// Changes that the server tells of: those made here get its time, others are added
export function adoptChanges(told: HistoryAnswer['TuningChanges']): void {
  const changes = mergeChanges(state.changes, told, () => ++lastId);
  if (changes !== state.changes) {
    state.changes = changes;
  }
}
