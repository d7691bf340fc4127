// SPDX-License-Identifier: GPL-3.0-or-later
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FINDINGS, PANELS } from '../../src/model/documentation';

const COMPONENTS = new URL('../../src/components/', import.meta.url);

test('each panel has an explanation', () => {
  const headings = readdirSync(COMPONENTS).flatMap((name) =>
    /<BasePanel [^>]*heading="([^"]+)"/.exec(readFileSync(new URL(name, COMPONENTS), 'utf8'))?.[1] ?? []);
  expect(headings.length).toBeGreaterThan(5);
  expect(headings.filter((heading) => !PANELS[heading])).toEqual([]);
});

test('each finding tells when it is reported, in plain text', () => {
  expect(FINDINGS['delayed-ack']).toContain('At least 10 stalls');
  expect(Object.entries(FINDINGS).filter(([, text]) => !text || /[`*]|\]\(/.test(text))).toEqual([]);
});
