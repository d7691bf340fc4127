// SPDX-License-Identifier: GPL-3.0-or-later
// Clients with the products "viewer" and "backup" have read files and frames; Orthanc could not call
// the modality NOBODY.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, findBarriers, isLive, openBrowser, visit } from './page';

beforeAll(openBrowser);
afterAll(closeBrowser);

test('requests are found by class and by client, the latest and the slowest', async () => {
  const { page, troubles } = await visit();
  await isLive(page);
  const served = page.locator('#served');
  const rows = page.getByRole('region', { name: 'Requests one by one' }).locator('tbody tr');
  const isAllOf = async (text: string) => {
    await expect.poll(async () => {
      const texts = await rows.allInnerTexts();
      return texts.length > 0 && texts.every((one) => one.includes(text));
    }).toBe(true);
  };
  const classes = page.getByRole('region', { name: 'Requests by class' });
  await classes.getByRole('button', { name: 'frame', exact: true }).click();
  await isAllOf('frame');
  await served.getByRole('button', { name: 'Only frame' }).click();
  await expect.poll(async () => (await rows.allInnerTexts()).some((text) => text.includes('file'))).toBe(true);
  await rows.getByRole('button', { name: 'backup' }).first().click();
  await isAllOf('backup');
  await classes.getByRole('button', { name: 'frame', exact: true }).click();
  await served.getByText('No request of frame of backup.').waitFor();
  await served.getByRole('button', { name: 'Only frame of backup' }).click();
  await served.getByRole('radio', { name: 'Slowest' }).check();
  await expect.poll(() => rows.count()).toBeGreaterThan(1);
  expect(await findBarriers(page)).toEqual([]);
  expect(troubles).toEqual([]);
  await page.close();
});

test.each([360, 1440])('a destination that cannot be called says so, at a width of %i', async (width) => {
  const { page, troubles } = await visit('/perf', { viewport: { width, height: 800 } });
  await isLive(page);
  await page.locator('#peers tbody tr').filter({ hasText: 'NOBODY' }).getByText(/^\s*1\s*refused\s*$/).waitFor();
  await page.locator('#served').getByText('frame').first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  expect(await findBarriers(page)).toEqual([]);
  expect(troubles).toEqual([]);
  await page.close();
});
