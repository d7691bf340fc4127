// SPDX-License-Identifier: GPL-3.0-or-later
// The engines compared on a stored series.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, findBarriers, isLive, openBrowser, visit } from './page';

beforeAll(openBrowser);
afterAll(closeBrowser);

test('a comparison runs on a chosen series, and shows each engine', async () => {
  const { page, troubles } = await visit();
  await isLive(page);
  await page.getByRole('button', { name: 'List the latest series…' }).click();
  const series = page.getByLabel('Series');
  await expect.poll(() => series.locator('option').count()).toBeGreaterThan(0);
  await series.selectOption({ index: 0 });
  await page.getByLabel('RLE Lossless').check();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('progressbar').or(page.locator('.results')).first().waitFor();
  await expect.poll(() => page.getByRole('progressbar').count(), { timeout: 180_000 }).toBe(0);
  const best = page.locator('.results .best');
  await expect.poll(() => best.count()).toBe(2); // one for each target
  expect(await best.first().textContent()).toContain('identical');
  for (const [width, colorScheme] of [[360, 'light'], [360, 'dark'], [1440, 'dark'], [1440, 'light']] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    for (const cell of await page.locator('.results .best .pixels').all()) {
      expect((await cell.boundingBox())?.height).toBeLessThan(40); // one line
    }
  }
  expect(troubles).toEqual([]);
  await page.close();
});

test('a comparison is followed to its end, though Orthanc does not answer for a moment', async () => {
  const { page } = await visit();
  await isLive(page);
  await page.getByRole('button', { name: 'List the latest series…' }).click();
  await expect.poll(() => page.getByLabel('Series').locator('option').count()).toBeGreaterThan(0);
  await page.route('**/jobs/*', (route) => route.abort(), { times: 1 });
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('.results').or(page.getByText('No comparison.')).first().waitFor();
  expect(await page.getByText('No comparison.').count()).toBe(0);
  await page.close();
});
