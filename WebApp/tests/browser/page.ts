// SPDX-License-Identifier: GPL-3.0-or-later
// The dashboard in a real Chromium, and all that must not happen in it. Orthanc is started by
// Resources/IntegrationTests/test_dashboard.py, which names its address in PERF_URL.
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
const PATIENCE = 90_000; // milliseconds, for a machine that is busy with much else
const ARGUMENTS = [
  '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

export const ORTHANC = process.env.PERF_URL ?? '';

export interface Visit {
  page: Page;
  troubles: string[]; // errors in the console, requests to other hosts, answers of 400 and above but 503 of health
}

let browser: Browser | undefined;

export async function openBrowser(): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    timeout: PATIENCE,
    args: isRoot ? [...ARGUMENTS, '--no-sandbox'] : ARGUMENTS,
  });
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
}

// Which may answer 503 for a moment, on a machine whose disk is busy
function isHealth(url: string): boolean {
  return new URL(url, ORTHANC).pathname.endsWith('/perf/health');
}

function watch(page: Page): string[] {
  const troubles: string[] = [];
  const origin = new URL(ORTHANC).origin;
  page.on('console', (message) => {
    const isProblem = message.type() === 'error' || message.type() === 'warning';
    if (isProblem && !isHealth(message.location().url)) {
      troubles.push(`console: ${message.text()}`);
    }
  });
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) {
      troubles.push(`request to another host: ${request.url()}`);
    }
  });
  page.on('response', (response) => {
    const isUnwell = response.status() === 503 && isHealth(response.url());
    if (response.status() >= 400 && !isUnwell) {
      troubles.push(`${response.status()}: ${response.url()}`);
    }
  });
  return troubles;
}

// Runs in the page, before its own script
function recordShifts(): void {
  const shifts: number[] = [];
  Object.assign(window, { shifts });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
      if (!entry.hadRecentInput) {
        shifts.push(entry.value);
      }
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

export async function visit(path = '/perf', options: BrowserContextOptions = {}): Promise<Visit> {
  if (browser === undefined) {
    throw new Error('no browser is open');
  }
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  page.setDefaultTimeout(PATIENCE);
  const troubles = watch(page);
  await page.addInitScript(recordShifts);
  await page.addInitScript(() => localStorage.setItem('orthanc-perf-open', 'tuning transcoding'));
  await page.goto(ORTHANC + path);
  return { page, troubles };
}

export async function isLive(page: Page): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
}

export async function sumShifts(page: Page): Promise<number> {
  const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
  return shifts.reduce((sum, shift) => sum + shift, 0);
}

// The violations that axe-core calls serious or critical
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}

// What Orthanc answers to the same user
export async function ask<Answer>(page: Page, path: string): Promise<Answer> {
  const response = await page.request.get(ORTHANC + path, { headers: { Accept: 'application/json' } });
  return (await response.json()) as Answer;
}
