// SPDX-License-Identifier: GPL-3.0-or-later
// The clock of the reader's machine, which may be set while the page is open.
import { afterAll, beforeAll, test } from 'vitest';
import { closeBrowser, isLive, openBrowser, visit } from './page';

beforeAll(openBrowser);
afterAll(closeBrowser);

test('a clock that is set back an hour does not stop the page', async () => {
  const { page } = await visit();
  await isLive(page);
  await page.evaluate(() => {
    const read = Date.now;
    Date.now = () => read() - 3_600_000;
  });
  for (let i = 0; i < 3; i += 1) { // what was asked for before may be answered yet
    await page.waitForResponse('**/perf/status');
  }
  await page.close();
});
