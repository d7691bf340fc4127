// SPDX-License-Identifier: GPL-3.0-or-later
// Behind a reverse proxy with a path prefix, with Orthanc's authentication: PERF_USER, PERF_PASSWORD.
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, isLive, openBrowser, visit } from './page';

const httpCredentials = {
  username: process.env.PERF_USER ?? '',
  password: process.env.PERF_PASSWORD ?? '',
};

beforeAll(openBrowser);
afterAll(closeBrowser);

test.each(['/perf', '/perf/', '/perf?_=1'])('%s works below the prefix', async (path) => {
  const { page, troubles } = await visit(path, { httpCredentials });
  await isLive(page);
  await page.locator('.peers').getByText('CT_ROOM_1').waitFor();
  await page.getByRole('switch', { name: 'Send at once' }).click();
  await page.getByText('Changed. Send at once').waitFor();
  await page.getByRole('button', { name: /^Undo/ }).first().click();
  await page.getByText('Undone.').waitFor();
  await page.getByRole('button', { name: 'List the latest series…' }).click();
  await expect.poll(() => page.getByLabel('Series').locator('option').count()).toBeGreaterThan(0);
  // The challenge that the browser answers with the password
  expect(troubles.filter((trouble) => !trouble.includes('401'))).toEqual([]);
  await page.close();
});

test('a route that the proxy forbids keeps nothing else from being shown', async () => {
  const { page } = await visit('/perf', { httpCredentials });
  await isLive(page);
  const forbid = (route: Route) => route.fulfill({ status: 403, body: 'Forbidden' });
  await page.route('**/perf/instances*', forbid);
  await page.getByText('A part of this page is missing').waitFor();
  expect((await page.waitForResponse('**/perf/advice')).status()).toBe(200);
  await isLive(page);

  await page.unroute('**/perf/instances*', forbid);
  await page.getByText('A part of this page is missing').waitFor({ state: 'detached' });
  await page.close();
});

test('Orthanc Explorer has a button that opens it', async () => {
  const { page } = await visit('/app/explorer.html', { httpCredentials });
  await page.getByRole('link', { name: 'Performance' }).click();
  await page.waitForURL('**/perf');
  await isLive(page);
  await page.close();
});
