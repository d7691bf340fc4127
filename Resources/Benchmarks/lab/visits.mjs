// SPDX-License-Identifier: GPL-3.0-or-later
// node visits.mjs WEBAPP ADDRESS: a Chromium that does what is asked for by lines on the standard
// input, and answers each by a line of JSON. "visit": a visit with an empty cache, and what it
// cost. "open": the page stays open, until "close".
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [webApp, address] = process.argv.slice(2);
const { chromium } = createRequire(`${webApp}/package.json`)('playwright-core');

const ARGUMENTS = [
  '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const WATCHED = 6000; // milliseconds, for layout shifts
const VIEWPORT = { width: 1440, height: 900 };

// In the page, before its own script
function recordShifts() {
  window.shifts = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      window.shifts += entry.hadRecentInput ? 0 : entry.value;
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

// In the page. Times are seconds since the visit began, sizes those on the wire.
function describeVisit() {
  const [navigation] = performance.getEntriesByType('navigation');
  const resources = performance.getEntriesByType('resource');
  const sum = (entries) => entries.reduce((total, entry) => total + entry.encodedBodySize, 0);
  const scripts = resources.filter((entry) => entry.initiatorType === 'script');
  const files = resources.filter((entry) => !['fetch', 'xmlhttprequest'].includes(entry.initiatorType));
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return {
    FirstPaint: paint.startTime / 1000,
    ScriptBytes: sum(scripts),
    PageBytes: navigation.encodedBodySize + sum(files),
    LayoutShift: window.shifts,
  };
}

async function openPage(browser) {
  // A context of its own has an empty cache
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.addInitScript(recordShifts);
  await page.goto(`${address}/perf`);
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

async function visit(browser) {
  const page = await openPage(browser);
  const figures = await page.evaluate(() => performance.now() / 1000);
  await page.waitForTimeout(WATCHED);
  const found = await page.evaluate(describeVisit);
  await page.context().close();
  return { ...found, FiguresShown: figures };
}

const isRoot = process.getuid?.() === 0;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: isRoot ? [...ARGUMENTS, '--no-sandbox'] : ARGUMENTS,
});
let page;
console.log(JSON.stringify({ Version: browser.version() }));
for await (const line of createInterface({ input: process.stdin })) {
  let answer = {};
  if (line === 'visit') {
    answer = await visit(browser);
  } else if (line === 'open') {
    page = await openPage(browser);
  } else {
    await page?.context().close();
  }
  console.log(JSON.stringify(answer));
}
await browser.close();
