// SPDX-License-Identifier: GPL-3.0-or-later
// The last change of the tuning is in force, but could not be saved; the next one can be.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, isLive, openBrowser, visit } from './page';

beforeAll(openBrowser);
afterAll(closeBrowser);

test('a change that is not saved says so until one is', async () => {
  const { page, troubles } = await visit();
  await isLive(page);
  const notice = page.locator('#tuning').getByText('is not saved');
  await notice.waitFor();
  await page.getByRole('switch', { name: 'Send at once' }).click();
  await page.getByText('Changed. Send at once').waitFor();
  await notice.waitFor({ state: 'detached' });
  expect(troubles).toEqual([]);
  await page.close();
});
