// SPDX-License-Identifier: GPL-3.0-or-later
// What came of the findings that the reader has applied.
import { isInForce, measureEffects } from '../model/changes';
import { getDirection, type Outcome } from '../model/findings';
import { COMPARED, countAfter } from '../model/history';
import { countImages } from '../model/peers';
import { state, type AppliedFinding } from './state';

// Of the peer with the fewest: only its own images prove that a peer is well. A restart of Orthanc counts from zero again.
function countSince({ id, time, peers, images }: AppliedFinding): number {
  if (peers.length === 0) {
    return countAfter(state.seconds, time);
  }
  const subtract = (count: number, before = 0) => (count < before ? count : count - before);
  return Math.min(...countImages(state.peers, peers, getDirection(id)).map((count, index) => subtract(count, images[index])));
}

const getKey = ({ id, time }: AppliedFinding) => `${id} ${time}`;

// To be called before the findings are asked for: they tell of all these images
export function countApplied(): Readonly<Record<string, number>> {
  return Object.fromEntries(state.applied.map((one) => [getKey(one), countSince(one)]));
}

// The change itself and its neighbours are enough: up to them its speed is measured
export function getOutcome(applied: AppliedFinding): Outcome {
  const index = state.changes.findIndex(({ Time }) => Time === applied.time);
  const near = state.changes.slice(Math.max(index - 1, 0), index + 2);
  const points = state.seconds[getDirection(applied.id)];
  const effect = measureEffects(near, points).find(({ change }) => change.Time === applied.time);
  const isOver = (points.at(-1)?.time ?? 0) > applied.time + COMPARED;
  return {
    images: state.counted[getKey(applied)] ?? 0,
    factor: effect?.factor ?? null,
    isMeasured: !effect?.before || effect.after !== null || isOver,
  };
}

// Applied on this page, and still in force
export function findApplied(id: string): AppliedFinding | undefined {
  return state.applied.find((one) => one.id === id && isInForce(one.document, state.tuning));
}
