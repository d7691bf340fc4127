// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a finding in words.
import { formatNumber, formatRate, formatShare, formatSize, formatTime, spellOut } from './format';

interface Item {
  name: string;
  value: string;
}

// Times are seconds and sizes bytes; the name of a figure tells which it is
const FORMS: readonly (readonly [RegExp, (value: number) => string])[] = [
  [/(Share|Busy)$/, formatShare],
  [/(Rate|WindowLimit|BytesPerSecond)$/, formatRate],
  [/(Bytes|Buffer|Window|Size|PduLength|^Limit)$/, formatSize],
  [/(Time|RoundTrip|Duration|Seconds)$|^(Mean|Median|Estimated)/, formatTime],
];

function formatFigure(name: string, value: number): string {
  const form = FORMS.find(([pattern]) => pattern.test(name))?.[1] ?? formatNumber;
  return form(value);
}

export function describeEvidence(evidence: Record<string, number | string>): Item[] {
  return Object.entries(evidence).map(([name, value]) => ({
    name: spellOut(name),
    value: typeof value === 'number' ? formatFigure(name, value) : value,
  }));
}

// The gain is a factor of the throughput
export function describeGain(gain: number | null | undefined): string {
  return gain == null || !Number.isFinite(gain) ? '' : `up to × ${formatNumber(gain)} without it`;
}
