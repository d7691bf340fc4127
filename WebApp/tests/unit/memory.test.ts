// SPDX-License-Identifier: GPL-3.0-or-later
import { expect, test } from 'vitest';
import type { MemoryStatus } from '../../src/model/answers';
import { describeMemory } from '../../src/model/memory';

function make(changes: Partial<MemoryStatus> = {}): MemoryStatus {
  return {
    Limit: 3e9, IngestBudget: 0, Held: 0, InFlight: 0, Waiting: 0, Waits: 0, Waited: 0, GivenUp: 0,
    ...changes,
  };
}

function describe(changes: Partial<MemoryStatus> = {}): string[] {
  return describeMemory(make(changes)).map(({ name, value }) => `${name}: ${value}`);
}

test('without a budget there is only what it could be a share of', () => {
  expect(describe()).toEqual(['Budget: off, memory 3 GB']);
  const { Limit: _, ...unknown } = make();
  expect(describeMemory(unknown)).toEqual([{ name: 'Budget', value: 'off' }]);
});

test('with a budget, what is held and waits now, and the waits that there have been', () => {
  const now = { IngestBudget: 75e7, Held: 6e8, InFlight: 2, Waiting: 4 };
  expect(describe(now)).toEqual(['Budget: 750 MB of 3 GB', 'Held: 600 MB by 2', 'Waiting: 4']);
  const waits = { Waits: 5, Waited: 12.5 };
  expect(describe({ ...now, ...waits }).slice(3)).toEqual(['Waits: 5, 12.5 s', 'Given up: 0']);
});

test('waits of a budget that is off now are still told, and who has given up is marked', () => {
  const figures = describeMemory(make({ Waits: 2, Waited: 50, GivenUp: 1 }));
  expect(figures.filter(({ isBad }) => isBad).map(({ name }) => name)).toEqual(['Given up']);
});

test('before the first answer there is nothing', () => {
  expect(describeMemory(undefined)).toEqual([]);
});
