// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import { compareAround, countUp, findGaps, mergePoints, thinOut, toPoints } from '../../src/model/history';
import type { Instance } from '../../src/model/answers';
import { toMoment } from '../../src/model/format';
import { makeHistory, makeInstance } from './answers';

function makePoints(begin: number, instances: number[]) {
  return toPoints(makeHistory(begin, instances), 'Receive');
}

test('a point of a minute is a rate a second', () => {
  const [point] = toPoints(makeHistory(0, [120], 60), 'Receive');
  expect(point).toMatchObject({ time: 0, instances: 2, bytes: 2000, phases: { Receive: 0.002 } });
});

test('stalls are unknown, not none, where nobody looked for them', () => {
  const answer = makeHistory(0, [1, 1, 1]);
  expect(toPoints(answer, 'Receive').map(({ stallTime }) => stallTime)).toEqual([0, 0, 0]);
  const { StallSeconds: _, StallIdleSeconds: __, ...unobserved } = answer.Receive;
  const points = toPoints({ ...answer, Receive: unobserved }, 'Receive');
  expect(points.map(({ stallTime }) => stallTime)).toEqual([undefined, undefined, undefined]);
  expect(thinOut(points, 1)[0]?.stallTime).toBeUndefined();
});

test('what large images hold and how many wait is no rate, and keeps its peaks', () => {
  const points = toPoints(makeHistory(0, [60, 120, 0, 180], 60), 'Send');
  expect(points[1]).toMatchObject({ held: 120e6, waiting: 120 });
  expect(thinOut(points, 2).map(({ held, waiting }) => [held, waiting])).toEqual([[120e6, 120], [180e6, 180]]);
});

test("a peer's instances are points of their seconds, with nothing between them and until now", () => {
  const at = (time: number) => makeInstance({ FinishedAt: toMoment(time), Size: 500, StallTime: 0.04, StallTimeInIdle: 0.03, Phases: { Receive: 0.5 } });
  const points = countUp([at(103.9), at(100.2), at(100.1)], 102);
  expect(points.map(({ time, instances, bytes }) => [time, instances, bytes])).toEqual([[100, 2, 1000], [101, 0, 0], [102, 0, 0]]);
  expect(points[0]).toMatchObject({ stallTime: 0.08, stallTimeInIdle: 0.06, phases: { Receive: 1 } });
  expect(countUp([], 102)).toEqual([]);
});

test("a peer's failure of long ago does not tell of what was stored since, and is forgotten", () => {
  const failed = makeInstance({ Outcome: 'Failed', FinishedAt: toMoment(1000) });
  const stored = makeInstance({ FinishedAt: toMoment(3400) });
  const list = (instances: Instance[]) => countUp(instances, 3401).map(({ time, instances: count }) => [time, count]);
  expect(list([stored, failed])).toEqual([[3400, 1], [3401, 0]]);
  expect(list([failed])[0]).toEqual([1000, 1]);
});

test('newer points follow, replace those of the same time, and push out the old ones', () => {
  const merged = mergePoints(makePoints(10, [1, 2, 3]), makePoints(12, [30, 40]), 2);
  expect(merged.map(({ time, instances }) => [time, instances])).toEqual([[11, 2], [12, 30], [13, 40]]);
});

test('no new points leave the known ones', () => {
  expect(mergePoints(makePoints(10, [1, 2]), [], 100)).toHaveLength(2);
});

test('points are averaged to as many as can be seen, in groups that stay where they are', () => {
  const all = makePoints(100, [1, 3, 5, 7, 9, 11]);
  expect(thinOut(all, 3).map(({ instances }) => instances)).toEqual([2, 6, 10]);
  expect(thinOut(all.slice(1), 3).map(({ instances }) => instances)).toEqual([3, 6, 10]);
});

test('a gap behind the first point leaves the others as they are', () => {
  const points = [...makePoints(100, [1]), ...makePoints(10_000, [1, 3, 5, 7, 9])];
  expect(thinOut(points, 3).map(({ instances }) => instances)).toEqual([1, 2, 6, 9]);
});

test('the speeds around a change are those of seconds that were busy from end to end', () => {
  // Each burst begins and ends somewhere in a second; the change is in one of its own
  const points = makePoints(100, [5, 20, 20, 7, 0, 0, 11, 300, 300, 40, 0]);
  const { before, after, isBrief } = compareAround(points, 105, 0, Number.POSITIVE_INFINITY);
  expect([before?.instances, after?.instances, isBrief]).toEqual([20, 300, false]);
});

// 60 images with the preset "stock", then with "tuned": 3.4 s and 0.4 s
test.each([[[60]], [[25, 35]]])('a burst of %j has no speed, as nobody knows how long it took', (burst) => {
  const points = makePoints(100, [9, 18, 18, 15, 0, 0, 0, ...burst, 0]);
  const { before, after, isBrief } = compareAround(points, 105, 0, Number.POSITIVE_INFINITY);
  expect([before?.instances, after, isBrief]).toEqual([18, null, true]);
});

test('the second of the change is on neither side', () => {
  const points = makePoints(100, [10, 10, 10, 10, 70, 200, 200, 200, 200]);
  const { before, after } = compareAround(points, 104, 0, Number.POSITIVE_INFINITY);
  expect([before?.instances, after?.instances]).toEqual([10, 200]);
});

test('another change ends the comparison', () => {
  const points = makePoints(100, [1, 1, 1, 5, 10, 10, 10, 10, 50, 100, 100, 100, 100]);
  const { before, after } = compareAround(points, 103, 98, 108);
  expect([before, after?.instances]).toEqual([null, 10]);
  expect(compareAround(points, 108, 103, 200).before?.instances).toBe(10);
});

test('where nothing went through there is no speed', () => {
  const nothing = { before: null, after: null, isBrief: false };
  expect(compareAround(makePoints(100, [0, 0]), 101, 0, 200)).toEqual(nothing);
});

test('what lies between a restart of the server and what was known before is a gap', () => {
  expect(findGaps([])).toEqual([]);
  expect(findGaps([10, 11, 12, 13])).toEqual([]);
  expect(findGaps([10, 11, 12, 40, 41, 42])).toEqual([[12, 40]]);
  // Of groups, the first one may have lost its beginning
  expect(findGaps([17, 20, 30, 40, 50])).toEqual([]);
  expect(findGaps([17, 20, 30, 40, 87, 90, 100, 110])).toEqual([[40, 87]]);
});
