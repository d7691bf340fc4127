// SPDX-License-Identifier: GPL-3.0-or-later
// Behind a reverse proxy with a path prefix, with Orthanc's authentication: PERF_USER, PERF_PASSWORD.
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, isLive, openBrowser, ORTHANC, visit } from './page';

const httpCredentials = {
  username: process.env.PERF_USER ?? '',
  password: process.env.PERF_PASSWORD ?? '',
};

beforeAll(openBrowser);
afterAll(closeBrowser);

test.each(['/perf', '/perf/', '/perf?_=1'])('%s works below the prefix', async (path) => {
  const { page, troubles } = await visit(path, { httpCredentials });
  await isLive(page);
  await page.locator('#peers').getByText('CT_ROOM_1').waitFor();
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

test('routes that the proxy forbids, drops or sends to its login keep nothing else from being shown', async () => {
  const { page } = await visit('/perf', { httpCredentials });
  await isLive(page);
  await page.route('**/perf/instances*', (route) => route.fulfill({ status: 403, body: 'Forbidden' }));
  await page.route('**/perf/peers', (route) => route.abort());
  await page.route('**/perf/tuning*', (route) => route.fulfill({ status: 302, headers: { Location: '/login' } }));
  await page.getByText('A part of this page is missing').waitFor();
  expect((await page.waitForResponse('**/perf/advice')).status()).toBe(200);
  await isLive(page);

  await page.unrouteAll();
  await page.getByText('A part of this page is missing').waitFor({ state: 'detached' });
  await page.close();
});

test('a login that has run out is told as such, and the page goes on after the next one', async () => {
  const { page } = await visit('/perf', { httpCredentials });
  await isLive(page);
  const answerLogin = (route: Route) => route.fulfill({ contentType: 'text/html', body: '<h1>Sign in</h1>' });
  await page.route('**/perf/*', answerLogin);
  await page.getByText('Not allowed: sign in and reload').waitFor();

  await page.unroute('**/perf/*', answerLogin);
  await isLive(page);
  await page.close();
});

test('a change that the proxy loses patience with is shown as it is', async () => {
  const { page } = await visit('/perf', { httpCredentials });
  await isLive(page);
  const control = page.getByRole('switch', { name: 'Send at once' });
  const before = await control.getAttribute('aria-checked');
  const loseAnswer = async (route: Route) => {
    if (route.request().method() !== 'PUT') {
      return route.fallback();
    }
    const change = await page.request.put(`${ORTHANC}/perf/tuning`, { data: route.request().postData() ?? '' });
    expect(change.status()).toBe(200);
    return route.fulfill({ status: 504, body: 'Gateway Time-out' });
  };
  await page.route('**/perf/tuning', loseAnswer);
  await control.click();
  await page.getByText('It may have been changed, or not. HTTP 504').waitFor();
  await expect.poll(() => control.getAttribute('aria-checked')).not.toBe(before);

  await page.unroute('**/perf/tuning', loseAnswer);
  await page.getByRole('button', { name: 'Back to the configuration', exact: true }).click();
  await page.getByText('The tuning of the configuration is in force').waitFor();
  await page.close();
});

test('Orthanc Explorer has a button that opens it', async () => {
  const { page } = await visit('/app/explorer.html', { httpCredentials });
  await page.getByRole('link', { name: 'Performance' }).click();
  await page.waitForURL('**/perf');
  await isLive(page);
  await page.close();
});
