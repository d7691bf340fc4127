// SPDX-License-Identifier: GPL-3.0-or-later
// node fleet_pages.mjs WEBAPP USER PASSWORD: a Chromium that does what is asked for by lines of JSON
// on the standard input, and answers each by a line. {"Open": NAME, "Url": …}: the dashboard of this
// server stays open under that name. {"Show": NAME, "File": …}: a picture of what stands there now.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [webApp, username, password] = process.argv.slice(2);
const { chromium } = createRequire(`${webApp}/package.json`)('playwright-core');

const VIEWPORT = { width: 1280, height: 680 }; // figures and charts
const PATIENCE = 120_000; // milliseconds, of a machine that is busy with much else

const isRoot = process.getuid?.() === 0;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--disable-gpu', ...(isRoot ? ['--no-sandbox'] : [])],
});
const context = await browser.newContext({
  viewport: VIEWPORT,
  colorScheme: 'light',
  httpCredentials: { username, password },
});
context.setDefaultTimeout(PATIENCE);
const pages = {};

async function open(name, url) {
  await pages[name]?.close();
  pages[name] = await context.newPage();
  await pages[name].goto(`${url}/perf`);
  await pages[name].getByText('Live', { exact: true }).waitFor();
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  if (asked.Open) {
    await open(asked.Open, asked.Url);
  } else {
    await pages[asked.Show].screenshot({ path: asked.File });
  }
  console.log(JSON.stringify(asked));
}
await browser.close();
