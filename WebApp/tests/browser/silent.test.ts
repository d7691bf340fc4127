// SPDX-License-Identifier: GPL-3.0-or-later
// Orthanc (PERF_PID) is halted while the page is open: it holds its connections, and says nothing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeBrowser, isLive, openBrowser, visit } from './page';

const ORTHANC_PROCESS = Number(process.env.PERF_PID);

beforeAll(openBrowser);
afterAll(() => {
  process.kill(ORTHANC_PROCESS, 'SIGCONT');
  return closeBrowser();
});

test('a server that does not answer is not shown as live, and is found again', async () => {
  const { page } = await visit();
  await isLive(page);
  process.kill(ORTHANC_PROCESS, 'SIGSTOP');
  await page.getByText(/^No answer from Orthanc since \d\d:\d\d:\d\d, trying again$/).waitFor();
  process.kill(ORTHANC_PROCESS, 'SIGCONT');
  await isLive(page);
  expect(await page.locator('.tile').count()).toBe(5);
  await page.close();
});
