// SPDX-License-Identifier: GPL-3.0-or-later
// Where AllowTuning is false.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, isLive, openBrowser, visit } from './page';

beforeAll(openBrowser);
afterAll(closeBrowser);

test('what is forbidden is shown so before anyone tries', async () => {
  const { page, troubles } = await visit();
  await isLive(page);
  await page.locator('#tuning').getByText(/^You may not change the tuning.*AllowTuning/).waitFor();
  const control = page.getByRole('switch', { name: 'Send at once' });
  expect(await control.getAttribute('aria-checked')).toBe('true');
  expect(await control.isDisabled()).toBe(true);
  const presets = page.getByRole('group', { name: 'Preset of all socket settings' });
  expect(await presets.getByRole('radio', { name: 'Stock' }).isDisabled()).toBe(true);
  expect(await presets.getByRole('radio', { name: 'Tuned' }).isChecked()).toBe(true);
  expect(troubles).toEqual([]);
  await page.close();
});
