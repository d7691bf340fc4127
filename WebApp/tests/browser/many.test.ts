// SPDX-License-Identifier: GPL-3.0-or-later
// PERF_PEERS peers with names such as MODALITY_007 have sent an image each.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, findBarriers, isLive, openBrowser, visit } from './page';

const PEERS = Number(process.env.PERF_PEERS);
const MOST_ELEMENTS = 12_000;

beforeAll(openBrowser);
afterAll(closeBrowser);

test('many peers do not make the page large, and each can be found', async () => {
  const { page, troubles } = await visit();
  await isLive(page);
  const rows = page.locator('#peers tbody tr');
  await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(PEERS);
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(MOST_ELEMENTS);
  expect(await findBarriers(page)).toEqual([]);
  for (const name of ['modality_007', `MODALITY_${PEERS - 1}`]) {
    await page.getByLabel('Find a peer by its name').fill(name);
    await expect.poll(() => rows.count()).toBe(1);
    expect((await rows.textContent())?.toLowerCase()).toContain(name.toLowerCase());
  }
  expect(troubles).toEqual([]);
  await page.close();
});
