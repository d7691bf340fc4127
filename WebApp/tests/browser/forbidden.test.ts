// SPDX-License-Identifier: GPL-3.0-or-later
// Where AllowTuning is false, or a filter of Orthanc refuses changes by PERF_USER.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, isLive, openBrowser, visit } from './page';

const { PERF_USER: username, PERF_PASSWORD: password = '', PERF_REASON: reason = '' } = process.env;

beforeAll(openBrowser);
afterAll(closeBrowser);

test('what is forbidden is shown so before anyone tries', async () => {
  const { page, troubles } = await visit('/perf', username ? { httpCredentials: { username, password } } : {});
  await isLive(page);
  const notice = page.locator('#tuning').getByText(/^You may not change the tuning/);
  await expect.poll(() => notice.textContent()).toContain(reason);
  const control = page.getByRole('switch', { name: 'Send at once' });
  await expect.poll(() => control.getAttribute('aria-checked')).toBe('true');
  expect(await control.isDisabled()).toBe(true);
  const presets = page.getByRole('group', { name: 'Preset of all socket settings' });
  expect(await presets.getByRole('radio', { name: 'Stock' }).isDisabled()).toBe(true);
  expect(await presets.getByRole('radio', { name: 'Tuned' }).isChecked()).toBe(true);
  const ofComparison = page.locator('#transcoding').getByText(/^You may not compare engines/);
  expect(await ofComparison.count()).toBe(username ? 1 : 0);
  // The challenge that the browser answers with the password, and the filter's refusal
  const expected = username ? /401|403/ : /^$/;
  expect(troubles.filter((trouble) => !expected.test(trouble))).toEqual([]);
  await page.close();
});
