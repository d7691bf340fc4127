// SPDX-License-Identifier: GPL-3.0-or-later
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { explainFinding, PANELS } from '../../src/model/documentation';

const COMPONENTS = new URL('../../src/components/', import.meta.url);

test('each panel has an explanation', () => {
  const headings = readdirSync(COMPONENTS).flatMap((name) =>
    /<BasePanel [^>]*heading="([^"]+)"/.exec(readFileSync(new URL(name, COMPONENTS), 'utf8'))?.[1] ?? []);
  expect(headings.length).toBeGreaterThan(5);
  expect(headings.filter((heading) => !PANELS[heading])).toEqual([]);
});

test('what a panel shows is a noun', () => {
  expect(PANELS['Transcoding engines']).toBe('a comparison of engines on a series of yours');
});

// As the server sends them
function listFindings(): string[] {
  const file = new URL('../../../Plugin/Advisor/Findings.json', import.meta.url);
  const findings = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { Documentation: { BothWays?: boolean } }>;
  return Object.entries(findings).flatMap(([id, { Documentation }]) => (Documentation.BothWays ? [id, `${id}-sending`] : id));
}

test('each finding tells when it is reported, in plain text that ends', () => {
  const findings = listFindings();
  expect(findings).toContain('delayed-ack-sending');
  expect(explainFinding('delayed-ack-sending')?.join(' ')).toContain('At least 10 stalls');
  expect(findings.filter((id) => {
    const text = explainFinding(id)?.join(' ') ?? '';
    return !text.endsWith('.') || /[`*]|\]\(/.test(text);
  })).toEqual([]);
});

test('a finding with variants tells of each', () => {
  expect(explainFinding('slow-reads')?.map((text) => text.split(/(?<=:)/)[0])).toEqual([
    expect.stringMatching(/WaitsFor says what they waited for:$/), 'Client:', 'Database:', 'Storage:', expect.stringMatching(/^In five minutes/),
  ]);
  expect(explainFinding('window-sending')).toContain('Kernel: Autotuning has reached its limit. Evidence: The same with the receive window in force, which is 40 % or more of the last value of tcp_rmem.');
});
