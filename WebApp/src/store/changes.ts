// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of the tuning: made, taken back, and those that the server remembers.
import { perf, RequestError } from '../api';
import type { Finding, HistoryAnswer, JsonObject, Tuning, TuningSources } from '../model/answers';
import { canUndo, mergeChanges, type Change } from '../model/changes';
import { describeChange, findInverse } from '../model/tuning';
import { now, serverNow, state, tell } from './state';

const FORBIDDEN = 403;

let lastId = 0;

// Where each value comes from
export async function askSources(): Promise<void> {
  state.sources = await perf.get<TuningSources>('tuning?sources');
}

function note(change: JsonObject, before: Tuning, after: Tuning): void {
  const made = findInverse(after, before);
  if (Object.keys(made).length > 0) {
    const inverse = findInverse(before, after);
    state.changes = [...state.changes, { id: ++lastId, time: serverNow(), change, made, inverse, isTold: false }];
  }
}

// Sends a change, and remembers how to take it back. False: it was not accepted, and the message
// says why.
async function make(change: JsonObject, send: (before: Tuning) => Promise<Tuning>): Promise<boolean> {
  state.isChanging = true;
  try {
    const before = await perf.get<Tuning>('tuning');
    const after = await send(before);
    state.tuning = after;
    note(change, before, after);
    await askSources();
    return true;
  } catch (error) {
    state.isTuningForbidden ||= error instanceof RequestError && error.status === FORBIDDEN;
    tell(`Not changed. ${error instanceof Error ? error.message : String(error)}`, true);
    // The controls show again what is in force
    state.tuning = state.tuning === undefined ? undefined : { ...state.tuning };
    return false;
  } finally {
    state.isChanging = false;
  }
}

// Whether it was accepted
export async function applyChange(patch: JsonObject): Promise<boolean> {
  const isMade = await make(patch, () => perf.put<Tuning>('tuning', patch));
  if (isMade) {
    tell(`Changed. ${describeChange(patch)}`);
  }
  return isMade;
}

export async function applyFinding(finding: Finding): Promise<void> {
  const { Tuning: document } = finding.Remedy;
  if (document !== undefined && (await applyChange(document))) {
    const others = state.applied.filter(({ id }) => id !== finding.ID);
    state.applied = [...others, { id: finding.ID, title: finding.Title, document, time: now() }];
  }
}

export async function resetTuning(): Promise<void> {
  if (await make({}, () => perf.delete<Tuning>('tuning'))) {
    tell('The tuning of the configuration is in force');
  }
}

// Someone else may have changed the same settings since the page last looked
function undoUnlessChanged(undone: Change, inverse: JsonObject) {
  return async (before: Tuning): Promise<Tuning> => {
    if (!canUndo(undone, before)) {
      state.tuning = before;
      throw new Error('These settings have been changed again since');
    }
    return perf.put<Tuning>('tuning', inverse);
  };
}

export async function undo(undone: Change): Promise<void> {
  const { inverse } = undone;
  if (inverse !== null && (await make(inverse, undoUnlessChanged(undone, inverse)))) {
    tell(`Undone. ${describeChange(inverse)}`);
  }
}

// Changes that the server tells of: those made here get its time, others are added
export function adoptChanges(told: HistoryAnswer['TuningChanges']): void {
  const changes = mergeChanges(state.changes, told, () => ++lastId);
  if (changes !== state.changes) {
    state.changes = changes;
  }
}
