// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of the tuning: made, taken back, and remembered by the server, which tells of each in its
// history.
import { computed } from 'vue';
import { getReason, NoAnswerError, perf, RequestError } from '../api';
import type { Finding, HistoryAnswer, JsonObject, Peer, ToldChange, Tuning, TuningChange, TuningSources } from '../model/answers';
import { canUndo, isInForce, mergeChanges } from '../model/changes';
import { getDirection } from '../model/findings';
import { parseMoment, toMoment } from '../model/format';
import { countImages } from '../model/peers';
import { describeChange } from '../model/tuning';
import { now, state, tell } from './state';

const FORBIDDEN = 403;
const SERVER_ERROR = 500; // and above

const isSwitchedOff = () => state.status?.Tuning?.Allowed === false;

// Why the tuning may not be changed; empty: it may be, as far as is known
export const forbidden = computed(() =>
  isSwitchedOff() ? '"AllowTuning" of the configuration is false.' : state.tuningForbidden,
);

// Whether a filter of Orthanc, or a proxy, refuses changes by this user. An empty document changes nothing.
export async function askPermission(): Promise<void> {
  try {
    if (!isSwitchedOff()) {
      await perf.put<Tuning>('tuning', {});
    }
    state.tuningForbidden = '';
  } catch (error) {
    if (!(error instanceof RequestError && error.status === FORBIDDEN)) {
      throw error;
    }
    state.tuningForbidden = `Orthanc, or a proxy before it, refuses: ${error.message}`;
  }
}

// What was undone, by anybody, is not applied any more, even if another change brings it back
export function adoptTuning(tuning: Tuning): void {
  state.tuning = tuning;
  state.applied = state.applied.filter(({ document }) => isInForce(document, tuning));
}

// Where each value comes from
export async function askSources(): Promise<void> {
  state.sources = await perf.get<TuningSources>('tuning?sources');
}

// The change itself, with what takes it back
async function askChanges(): Promise<void> {
  const since = state.seconds.Receive.at(-1)?.time ?? 0;
  const { TuningChanges } = await perf.get<HistoryAnswer>(`history?resolution=second&since=${toMoment(since)}`);
  adoptChanges(TuningChanges);
}

// What is to be told of a change that has failed. Orthanc puts it in force before it saves it, which a
// database may keep from ending.
function describeFailure(error: unknown): string {
  const isUnknown =
    error instanceof NoAnswerError || (error instanceof RequestError && error.status >= SERVER_ERROR);
  return `${isUnknown ? 'It may have been changed, or not.' : 'Not changed.'} ${getReason(error)}`;
}

// False: the change was not accepted, as far as is known, and the message says why
async function make(send: () => Promise<Tuning>): Promise<boolean> {
  state.isChanging = true;
  try {
    adoptTuning(await send());
    // What fails here, the next look tells
    await Promise.all([askSources(), askChanges()]).catch(() => undefined);
    return true;
  } catch (error) {
    tell(describeFailure(error), true);
    // The controls show again what is in force
    state.tuning = state.tuning === undefined ? undefined : { ...state.tuning };
    await perf.get<Tuning>('tuning').then(adoptTuning, () => undefined);
    return false;
  } finally {
    state.isChanging = false;
  }
}

// Whether it was accepted
export async function applyChange(patch: JsonObject): Promise<boolean> {
  const isMade = await make(() => perf.put<Tuning>('tuning', patch));
  if (isMade) {
    tell(`Changed. ${describeChange(patch)}`);
  }
  return isMade;
}

// The same finding of several peers, whose remedy is the same
export async function applyFinding(findings: readonly [Finding, ...Finding[]]): Promise<void> {
  const finding = findings[0];
  const { Tuning: document } = finding.Remedy;
  if (document !== undefined && (await applyChange(document))) {
    const others = state.applied.filter(({ id }) => id !== finding.ID);
    const time = state.changes.at(-1)?.Time ?? state.seconds.Receive.at(-1)?.time ?? now();
    const peers = findings.flatMap(({ Peer }) => Peer ?? []);
    state.peers = await perf.get<Peer[]>('peers').catch(() => state.peers);
    const images = countImages(state.peers, peers, getDirection(finding.ID));
    state.applied = [...others, { id: finding.ID, title: finding.Title, document, time, peers, images }];
  }
}

export async function resetTuning(): Promise<void> {
  if (await make(() => perf.delete<Tuning>('tuning'))) {
    tell('The tuning of the configuration is in force');
  }
}

// Someone else may have changed the same settings since the page last looked
async function putUndo(undone: TuningChange): Promise<Tuning> {
  const before = await perf.get<Tuning>('tuning');
  if (!canUndo(undone, before)) {
    adoptTuning(before);
    throw new Error('These settings have been changed again since');
  }
  return perf.put<Tuning>('tuning', undone.Undo);
}

export async function undo(undone: TuningChange): Promise<void> {
  if (await make(() => putUndo(undone))) {
    tell(`Undone. ${describeChange(undone.Undo)}`);
  }
}

// To whole seconds, as points are
export function adoptChanges(told: readonly ToldChange[]): void {
  const changes = told.map((change) => ({ ...change, Time: Math.floor(parseMoment(change.Time)) }));
  state.changes = mergeChanges(state.changes, changes);
}
