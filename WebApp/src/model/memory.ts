// SPDX-License-Identifier: GPL-3.0-or-later
// What the budget for large images does, in words.
import type { MemoryStatus } from './answers';
import { formatCount, formatSize, formatTime } from './format';

export interface Figure {
  name: string;
  value: string;
  isBad?: boolean;
}

function describeBudget({ IngestBudget: budget, Limit: limit }: MemoryStatus): Figure {
  const ofLimit = limit === undefined ? '' : ` of ${formatSize(limit)}`;
  return budget === 0
    ? { name: 'Budget', value: limit === undefined ? 'off' : `off, memory ${formatSize(limit)}` }
    : { name: 'Budget', value: `${formatSize(budget)}${ofLimit}` };
}

// Waits since Orthanc started, and how they ended where they did not end with room
function describeWaits(memory: MemoryStatus): Figure[] {
  const figures: Figure[] = [
    { name: 'Waits', value: `${formatCount(memory.Waits)}, ${formatTime(memory.Waited)}` },
    { name: 'Given up', value: formatCount(memory.GivenUp), isBad: memory.GivenUp > 0 },
  ];
  return memory.Waits > 0 ? figures : [];
}

// Empty: not known yet
export function describeMemory(memory: MemoryStatus | undefined): Figure[] {
  if (memory === undefined) {
    return [];
  }
  const now: Figure[] = [
    { name: 'Held', value: `${formatSize(memory.Held)} by ${formatCount(memory.InFlight)}` },
    { name: 'Waiting', value: formatCount(memory.Waiting) },
  ];
  const isOn = memory.IngestBudget > 0;
  return [describeBudget(memory), ...(isOn ? now : []), ...describeWaits(memory)];
}
