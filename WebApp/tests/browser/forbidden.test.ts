// SPDX-License-Identifier: GPL-3.0-or-later
// Where AllowTuning is false, or names others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, isLive, openBrowser, visit } from './page';

beforeAll(openBrowser);
afterAll(closeBrowser);

test('a change that is forbidden says so, and is not shown as made', async () => {
  const { page } = await visit();
  await isLive(page);
  const control = page.getByRole('switch', { name: 'Send at once' });
  await control.click();
  await page.locator('#tuning').getByText(/^Changes are not allowed to you.*AllowTuning/).waitFor();
  expect(await control.getAttribute('aria-checked')).toBe('true');
  expect(await control.isDisabled()).toBe(true);
  await page.close();
});

test('a preset that is forbidden is not shown as chosen', async () => {
  const { page } = await visit();
  await isLive(page);
  const presets = page.getByRole('group', { name: 'Preset of all socket settings' });
  await presets.getByRole('radio', { name: 'Stock' }).click();
  await page.locator('#tuning').getByText(/^Changes are not allowed to you.*AllowTuning/).waitFor();
  expect(await presets.getByRole('radio', { name: 'Stock' }).isChecked()).toBe(false);
  expect(await presets.getByRole('radio', { name: 'Tuned' }).isChecked()).toBe(true);
  await page.close();
});

test('a change that something else than AllowTuning forbids says what does, and may be tried again', async () => {
  const { page } = await visit();
  await isLive(page);
  const Error = 'A page of another server may not change anything here';
  await page.route('**/perf/tuning', (route) => {
    const isChange = route.request().method() === 'PUT';
    return isChange ? route.fulfill({ status: 403, json: { Error } }) : route.fallback();
  });
  const control = page.getByRole('switch', { name: 'Send at once' });
  await control.click();
  await page.getByText(`Not changed. ${Error}`).waitFor();
  await expect.poll(() => control.isEnabled()).toBe(true);
  expect(await page.getByText('AllowTuning').count()).toBe(0);
  await page.close();
});
