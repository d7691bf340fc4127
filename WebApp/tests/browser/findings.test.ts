// SPDX-License-Identifier: GPL-3.0-or-later
// Orthanc with stock sockets, and storescu sending: its stalls are a finding that can be applied.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tuning } from '../../src/model/answers';
import { ask, closeBrowser, findBarriers, isLive, openBrowser, visit } from './page';

const PATIENCE = 120_000; // a finding needs evidence, and time to be forgotten

beforeAll(openBrowser);
afterAll(closeBrowser);

test('a finding appears, is applied, goes away, and can be undone', { timeout: 600_000 }, async () => {
  const { page, troubles } = await visit();
  await isLive(page);
  const getPreset = async () => (await ask<Tuning>(page, '/perf/tuning')).DicomSockets;
  const before = await getPreset();
  const finding = page.locator('.finding').filter({ has: page.getByRole('button', { name: /^Apply/ }) }).first();
  await finding.waitFor({ timeout: PATIENCE });
  const id = (await finding.getAttribute('data-finding')) ?? '';
  await finding.getByText('Why, and the evidence').click();
  expect(await findBarriers(page)).toEqual([]);
  await finding.getByRole('button', { name: /^Apply/ }).click();
  await page.getByText(/^\s*Changed\./).waitFor();
  expect(await getPreset()).not.toEqual(before);
  await expect
    .poll(() => page.locator(`.finding[data-finding="${id}"]`).count(), { timeout: PATIENCE })
    .toBe(0);
  await page.locator('.solved').getByText('Gone:').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('button', { name: /^Undo/ }).first().click();
  await page.getByText('Undone.').waitFor();
  expect(await getPreset()).toEqual(before);
  await expect.poll(() => page.locator('.solved').count()).toBe(0);
  expect(troubles).toEqual([]);
  await page.close();
});
