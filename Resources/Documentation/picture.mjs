// SPDX-License-Identifier: GPL-3.0-or-later
// node picture.mjs WEBAPP ADDRESS FILE: for make-page.py. Waits for the finding of stalls,
// applies it, and takes the picture when its effect stands in the chart.
import { createRequire } from 'node:module';

const [webApp, address, file] = process.argv.slice(2);
const { chromium } = createRequire(`${webApp}/package.json`)('playwright-core');

const BEFORE = 30_000; // milliseconds of stalls to be seen
const AFTER = 22_000;

const isRoot = process.getuid?.() === 0;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--disable-gpu', ...(isRoot ? ['--no-sandbox'] : [])],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 940 }, colorScheme: 'light' });
page.setDefaultTimeout(120_000);
await page.goto(`${address}/perf`);
const finding = page.locator('.finding').filter({ hasText: 'stall' });
await finding.getByRole('button', { name: /^Apply/ }).first().waitFor();
await page.waitForTimeout(BEFORE);
await finding.getByRole('button', { name: /^Apply/ }).first().click();
await page.mouse.move(5, 5);
await page.waitForTimeout(AFTER);
await page.evaluate(() => document.activeElement.blur());
await page.screenshot({ path: file });
await browser.close();
