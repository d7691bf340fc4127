// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a finding in words.
import type { Direction, Finding } from './answers';
import { judgeFactor } from './changes';
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

// The same finding of several peers is one to the reader, where one remedy helps them all; its text may differ in figures
export function groupFindings(findings: readonly Finding[]): FindingGroup[] {
  const groups = new Map<string, FindingGroup>();
  for (const finding of findings) {
    const { Text: text, ...others } = finding.Remedy;
    const key = `${finding.ID} ${JSON.stringify(others)} ${text.replace(/\d+(\.\d+)?/g, '#')}`;
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

// What the finding is about: "delayed-ack-sending", "receiver-bottleneck"
export function getDirection(id: string): Direction {
  return /-sending$|^receiver-/.test(id) ? 'Send' : 'Receive';
}

// Of those that the plugin does not look for while their remedy is in force: what is not seen is not gone
export const UNWATCHED: Readonly<Partial<Record<string, string>>> = {
  'ingest-memory': 'While a budget is set, the plugin no longer looks for this.',
  'answer-compression': 'At a level of the tuning, the plugin no longer measures this.',
  transcoding: 'With the engine "auto", the plugin no longer looks for this.',
};

// Other than the time of all instances in that direction
const BASES: Readonly<Partial<Record<string, string>>> = {
  'slow-reads': 'of the time of requests',
  'answer-compression': 'of the time of such requests',
  'failed-instances': 'of the images',
  'stuck-instances': 'of the time with these waits and the senders’ pauses',
};

// What its cost is a share of; between two sent images, the pauses are Orthanc's own
export function describeBase(id: string): string {
  return BASES[id] ?? `of the time with the ${getDirection(id) === 'Send' ? '' : 'senders’ '}pauses`;
}

export const PROOF = 20; // images after a change, before anything is said of its outcome

// The outcome of a change that was to end a finding. The factor is that of the images a second, if it is known.
export interface Outcome {
  images: number; // since the change, until the latest look for findings
  factor: number | null;
  isMeasured: boolean; // or there will be no factor
}

export function isProven({ images, isMeasured }: Outcome): boolean {
  return images >= PROOF && isMeasured;
}

export function describeWait({ images }: Outcome): string {
  return images < PROOF ? `Waiting for ${PROOF} new images (${images} of ${PROOF}).` : 'Measuring the speed.';
}

export function describeFactor({ factor }: Outcome): string {
  if (factor === null) {
    return '';
  }
  const text = `× ${formatNumber(factor)}`;
  return { good: text, bad: `but images come more slowly (${text})`, '': `no change in speed (${text})` }[judgeFactor(factor)];
}

// The gain is a factor of the throughput
export function describeGain(gain: number | null | undefined): string {
  return gain == null || !Number.isFinite(gain) ? '' : `up to × ${formatNumber(gain)} without it`;
}
