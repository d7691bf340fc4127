// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a finding in words.
import type { Finding } from './answers';
import { formatNumber, formatRate, formatShare, formatSize, formatTime, spellOut } from './format';

interface Item {
  name: string;
  value: string;
}

// Times are seconds and sizes bytes; the name of a figure tells which it is
const FORMS: readonly (readonly [RegExp, (value: number) => string])[] = [
  [/(Share|Pressure|^FirstOnTheirConnection)$/, formatShare],
  [/(Rate|WindowLimit|BytesPerSecond)$/, formatRate],
  [/(Bytes|Buffer|Window|Size|Capacity|PduLength|Budget|LargestInstance|^(Limit|Memory|Peak|UnderWay))$/, formatSize],
  [/(Time|RoundTrip|Duration|Seconds|Latency|^(Waited|Busy|WindowLimited))$|^(Mean|Median|Estimated)/, formatTime],
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

export interface FindingGroup {
  key: string;
  findings: [Finding, ...Finding[]]; // the costliest first
}

function getCost(finding: Finding): number {
  return finding.Cost?.ShareOfIngestTime ?? 0;
}

// The same finding of several peers is one to the reader, where one remedy helps them all
export function groupFindings(findings: readonly Finding[]): FindingGroup[] {
  const groups = new Map<string, FindingGroup>();
  for (const finding of findings) {
    const key = `${finding.ID} ${JSON.stringify(finding.Remedy)}`;
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { key, findings: [finding] });
    } else {
      group.findings.push(finding);
      group.findings.sort((a, b) => getCost(b) - getCost(a));
    }
  }
  return [...groups.values()];
}

// The gain is a factor of the throughput
export function describeGain(gain: number | null | undefined): string {
  return gain == null || !Number.isFinite(gain) ? '' : `up to × ${formatNumber(gain)} without it`;
}
