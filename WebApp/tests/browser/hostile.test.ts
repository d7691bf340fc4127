// SPDX-License-Identifier: GPL-3.0-or-later
// Peers with the names in PERF_TITLES (JSON) have sent images, others have sent nonsense, or a link.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, findBarriers, isLive, openBrowser, visit } from './page';

const TITLES = JSON.parse(process.env.PERF_TITLES ?? '[]') as string[];

beforeAll(openBrowser);
afterAll(closeBrowser);

test.each([360, 1440])('names are text and nothing else, at a width of %i', async (width) => {
  const { page, troubles } = await visit('/perf', { viewport: { width, height: 800 } });
  await isLive(page);
  const names = () => page.locator('#peers tbody th').allTextContents();
  for (const title of TITLES) {
    await expect.poll(async () => (await names()).some((name) => name.includes(title)), { message: title }).toBe(true);
  }
  await page.locator('.waterfall-row').first().click();
  expect(await page.locator('img, script:not([src]), iframe, b.evil').count()).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  expect(await findBarriers(page)).toEqual([]);
  expect(troubles).toEqual([]);
  await page.close();
});

test.each([360, 1440])('what keeps the server from storing is text and nothing else, at a width of %i', async (width) => {
  const { page, troubles } = await visit('/perf', { viewport: { width, height: 800 } });
  await isLive(page);
  const Problems = Object.fromEntries(TITLES.map((title) => [title, `${title} ${'x'.repeat(400)}`]));
  await page.route('**/perf/health', (route) => route.fulfill({ status: 503, json: { Healthy: false, Problems } }));
  const findings = page.locator('#findings');
  await findings.getByRole('alert').getByText('This server cannot store as it should.').waitFor();
  const told = await findings.locator('.notice li').allTextContents();
  expect(told.sort()).toEqual(Object.entries(Problems).map(([name, text]) => `${name}: ${text}`).sort());
  expect(await findings.getByText('No finding.').count()).toBe(0);
  expect(await page.locator('img, script:not([src]), iframe, b.evil').count()).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  expect(await findBarriers(page)).toEqual([]);
  await page.unrouteAll();
  await findings.getByRole('alert').waitFor({ state: 'detached' });
  expect(troubles).toEqual([]);
  await page.close();
});

// For Orthanc, which removes double slashes and takes a backslash for a slash, this is /perf
test('the server is the one that the page is from, whatever host its path names', async () => {
  const { page, troubles } = await visit('//127.0.0.9/..%5C/perf');
  await isLive(page);
  await page.getByRole('button', { name: 'List the latest series…' }).click();
  await expect.poll(() => page.getByLabel('Series').locator('option').count()).toBeGreaterThan(0);
  expect(troubles).toEqual([]);
  await page.close();
});
