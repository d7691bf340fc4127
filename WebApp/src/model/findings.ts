// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a finding in words.
import { formatNumber, formatRate, formatShare, formatSize, formatTime, spellOut } from './format';

interface Item {
  name: string;
  value: string;
}

// Times are seconds and sizes bytes; the name of a figure tells which it is
function formatFigure(name: string, value: number): string {
  if (/Share|Part|Ratio$/.test(name)) {
    return formatShare(value);
  }
  if (/BytesPerSecond$|Throughput$|Ceiling$/.test(name)) {
    return formatRate(value);
  }
  if (/Time$|RoundTrip$|Duration$|Seconds$|Pause$|Idle$|Mean$|Median$|Latency$|Setup$/.test(name)) {
    return formatTime(value);
  }
  if (/Bytes$|Buffer$|Window$|Size$|PduLength$|Max$|Product$/.test(name)) {
    return formatSize(value);
  }
  return formatNumber(value);
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
