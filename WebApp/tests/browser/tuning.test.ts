// SPDX-License-Identifier: GPL-3.0-or-later
// Every control of the tuning, during a transfer, held against what Orthanc says.
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tuning } from '../../src/model/answers';
import { ask, closeBrowser, findBarriers, isLive, openBrowser, ORTHANC, visit, type Visit } from './page';

let current: Visit;

beforeAll(openBrowser);
afterAll(closeBrowser);

beforeEach(async () => {
  current = await visit();
  await isLive(current.page);
  return async () => {
    expect(current.troubles).toEqual([]);
    await current.page.close();
  };
});

async function getSetting(page: Page, section: keyof Tuning, key: string): Promise<unknown> {
  const tuning = await ask<Record<string, Record<string, unknown>>>(page, '/perf/tuning');
  return tuning[section]?.[key];
}

// Of the latest change, which must be this one: until the server has told of it, another stands there
async function findUndo(page: Page, text: string): Promise<Locator> {
  const card = page.locator('.strip-card').first();
  await expect.poll(() => card.innerText()).toContain(text);
  return card.getByRole('button', { name: /^Undo/ });
}

const SWITCHES = [
  { name: 'Send at once', section: 'DicomSockets', key: 'TcpNoDelay' },
  { name: 'Acknowledge at once', section: 'DicomSockets', key: 'TcpQuickAck' },
  { name: 'Verify', section: 'IngestTranscoding', key: 'Verify' },
] as const;

test.each(SWITCHES)('the switch "$name" changes $key, and Undo takes it back', async ({ name, section, key }) => {
  const { page } = current;
  const control = page.getByRole('switch', { name });
  const before = await getSetting(page, section, key);
  expect(await control.getAttribute('aria-checked')).toBe(String(before));
  await control.click();
  await expect.poll(() => getSetting(page, section, key)).toBe(!before);
  await expect.poll(() => control.getAttribute('aria-checked')).toBe(String(!before));
  await (await findUndo(page, `${name}: ${before === true ? 'off' : 'on'}`)).click();
  await expect.poll(() => getSetting(page, section, key)).toBe(before);
});

test('a value says that it was set over REST, and what is configured', async () => {
  const { page } = current;
  await page.getByRole('switch', { name: 'Acknowledge at once' }).click();
  const row = page.locator('.setting').filter({ hasText: 'Acknowledge at once' });
  await row.getByText('set over REST, configured: on').waitFor();
  await page.locator('.strip-card').first().getByText('by 127.0.0.1').waitFor();
  await page.getByRole('button', { name: 'Back to the configuration', exact: true }).click();
  await row.getByText('set over REST').waitFor({ state: 'detached' });
});

test('a change can be undone after a reload, as long as nobody has changed the same again', async () => {
  const { page } = current;
  await page.getByRole('switch', { name: 'Acknowledge at once' }).click();
  await expect.poll(() => getSetting(page, 'DicomSockets', 'TcpQuickAck')).toBe(false);
  await page.reload();
  await isLive(page);
  await (await findUndo(page, 'Acknowledge at once: off')).click();
  await expect.poll(() => getSetting(page, 'DicomSockets', 'TcpQuickAck')).toBe(true);
  // Of the change and of its undoing, the latter alone is still in force
  await page.reload();
  await isLive(page);
  const cards = page.locator('.strip-card').filter({ hasText: 'Acknowledge at once' });
  await (await findUndo(page, '')).waitFor();
  expect(await cards.nth(1).getByRole('button').count()).toBe(0);
});

test('a switch is worked by the keyboard', async () => {
  const { page } = current;
  const control = page.getByRole('switch', { name: 'Send at once' });
  await control.focus();
  await page.keyboard.press('Space');
  await expect.poll(() => getSetting(page, 'DicomSockets', 'TcpNoDelay')).toBe(false);
  await expect.poll(() => control.getAttribute('aria-checked')).toBe('false');
  await page.keyboard.press('Space');
  await expect.poll(() => getSetting(page, 'DicomSockets', 'TcpNoDelay')).toBe(true);
});

test('the presets set all socket settings, and each change has its mark', async () => {
  const { page } = current;
  await page.getByRole('radio', { name: 'Stock' }).click();
  await expect.poll(() => getSetting(page, 'DicomSockets', 'Preset')).toBe('stock');
  await page.locator('.strip-card').filter({ hasText: 'Preset: stock' }).first().waitFor();
  await page.getByRole('radio', { name: 'Tuned' }).click();
  await expect.poll(() => getSetting(page, 'DicomSockets', 'Preset')).toBe('tuned');
});

test('a buffer can have a fixed size, which must be allowed', async () => {
  const { page } = current;
  await page.getByLabel('Receive buffer', { exact: true }).selectOption('Fixed size');
  await expect.poll(() => getSetting(page, 'DicomSockets', 'ReceiveBuffer')).toBe(262144);
  const size = page.getByLabel('Receive buffer in bytes');
  await size.fill('1');
  await size.press('Tab');
  await page.waitForTimeout(500);
  expect(await getSetting(page, 'DicomSockets', 'ReceiveBuffer')).toBe(262144);
  await size.fill('65536');
  await size.press('Tab');
  await expect.poll(() => getSetting(page, 'DicomSockets', 'ReceiveBuffer')).toBe(65536);
  await page.getByRole('button', { name: 'Back to the configuration', exact: true }).click();
  await expect.poll(() => getSetting(page, 'DicomSockets', 'ReceiveBuffer')).toBe('auto');
});

test('numbers and names are taken', async () => {
  const { page } = current;
  await page.getByLabel('Keep-alive').fill('30');
  await page.getByLabel('Keep-alive').press('Enter');
  await expect.poll(() => getSetting(page, 'DicomSockets', 'KeepAliveSeconds')).toBe(30);
  await page.getByLabel('Congestion control').fill('cubic');
  await page.getByLabel('Congestion control').press('Enter');
  await expect.poll(() => getSetting(page, 'DicomSockets', 'CongestionControl')).toBe('cubic');
  await page.getByRole('button', { name: 'Back to the configuration', exact: true }).click();
  await expect.poll(() => getSetting(page, 'DicomSockets', 'KeepAliveSeconds')).toBe(60);
});

test('what is being typed outlives the changes of others', async () => {
  const { page } = current;
  const field = page.getByRole('textbox', { name: 'Congestion control' });
  await field.fill('cub');
  await page.request.put(`${ORTHANC}/perf/tuning`, { data: { IngestTranscoding: { Verify: true } } });
  await expect.poll(() => page.getByRole('switch', { name: 'Verify' }).getAttribute('aria-checked')).toBe('true');
  expect(await field.inputValue()).toBe('cub');
  await field.press('End');
  await field.pressSequentially('ic');
  await field.press('Enter');
  await expect.poll(() => getSetting(page, 'DicomSockets', 'CongestionControl')).toBe('cubic');
  // What others make of the same comes through
  await page.request.put(`${ORTHANC}/perf/tuning`, { data: { DicomSockets: { CongestionControl: 'reno' } } });
  await expect.poll(() => field.inputValue()).toBe('reno');
  await page.getByRole('button', { name: 'Back to the configuration', exact: true }).click();
  await expect.poll(() => field.inputValue()).toBe('');
});

test('the budget for large images is a share or a size, and its chart comes with it', async () => {
  const { page } = current;
  const chart = page.getByRole('img', { name: /^Memory of large images/ });
  const figures = page.locator('.memory');
  await figures.getByText(/^off/).waitFor();
  expect(await chart.count()).toBe(0);
  await page.getByLabel('Ingest budget', { exact: true }).selectOption('Share of the memory');
  await expect.poll(() => getSetting(page, 'Memory', 'IngestBudget')).toBe('25%');
  const share = page.getByLabel('Ingest budget in percent');
  await share.fill('101');
  await share.press('Tab');
  await page.waitForTimeout(500);
  expect(await getSetting(page, 'Memory', 'IngestBudget')).toBe('25%');
  await share.fill('50');
  await share.press('Tab');
  await expect.poll(() => getSetting(page, 'Memory', 'IngestBudget')).toBe('50%');
  await chart.waitFor();
  await figures.getByText('Held').waitFor();
  await page.getByLabel('Ingest budget', { exact: true }).selectOption('Fixed size');
  await expect.poll(() => getSetting(page, 'Memory', 'IngestBudget')).toBe(1000000000);
  const size = page.getByLabel('Ingest budget in megabytes');
  await size.fill('67.108864');
  await size.press('Tab');
  await expect.poll(() => getSetting(page, 'Memory', 'IngestBudget')).toBe(67108864);
  expect(await findBarriers(page)).toEqual([]);
  await (await findUndo(page, 'Ingest budget: 67.1 MB')).click();
  await expect.poll(() => getSetting(page, 'Memory', 'IngestBudget')).toBe(1000000000);
  await page.getByRole('button', { name: 'Back to the configuration', exact: true }).click();
  await expect.poll(() => getSetting(page, 'Memory', 'IngestBudget')).toBe(0);
});

test('what a change did stands in figures before and after it', async () => {
  const { page } = current;
  await page.waitForTimeout(6000); // since the change of the test before
  await page.getByRole('radio', { name: 'Stock' }).click();
  const card = page.locator('.strip-card').filter({ hasText: 'Preset: stock' }).first();
  await expect.poll(() => card.locator('.factor').textContent()).toContain('×');
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('radio', { name: 'Tuned' }).click();
  await expect.poll(() => getSetting(page, 'DicomSockets', 'Preset')).toBe('tuned');
});

test('a change that something else than AllowTuning forbids says what does, and may be tried again', async () => {
  const { page } = current;
  const Message = 'A page of another server may not change anything here';
  await page.route('**/perf/tuning', (route) => {
    const isChange = route.request().method() === 'PUT';
    return isChange ? route.fulfill({ status: 403, json: { Message } }) : route.fallback();
  });
  const control = page.getByRole('switch', { name: 'Send at once' });
  await control.click();
  await page.getByText(`Not changed. ${Message}`).waitFor();
  await expect.poll(() => control.isEnabled()).toBe(true);
  expect(await page.getByText('AllowTuning').count()).toBe(0);
  current.troubles.length = 0; // the 403
});
