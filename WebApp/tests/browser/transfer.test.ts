// SPDX-License-Identifier: GPL-3.0-or-later
// While images come in from CT_ROOM_1.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, closeBrowser, findBarriers, isLive, openBrowser, sumShifts, visit } from './page';

const LARGEST_SHIFT = 0.05; // 0.1 is what is called good; 0.03 on a machine that is very busy
const LARGEST_SCRIPT = 150_000;

beforeAll(openBrowser);
afterAll(closeBrowser);

const SIZES = [
  { width: 360, height: 740 },
  { width: 1440, height: 900 },
  { width: 3840, height: 2160 },
];

describe('during a transfer', () => {
  test('the page shows rates, phases, the latest instances and their sender', async () => {
    const { page, troubles } = await visit();
    await isLive(page);
    const rate = page.locator('.tile').filter({ hasText: 'Instances received' }).locator('.tile-value');
    await expect.poll(async () => parseFloat((await rate.textContent()) ?? '')).toBeGreaterThan(0);
    await page.locator('.phases').getByText('Receive').waitFor();
    await expect.poll(() => page.locator('.waterfall-row').count()).toBe(20);
    await page.locator('#peers').getByRole('rowheader', { name: 'CT_ROOM_1' }).waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  test('the charts are drawn', async () => {
    const { page } = await visit();
    await isLive(page);
    for (const chart of ['.chart-rates', '.chart-phases']) {
      const countColors = () =>
        page.locator(`${chart} canvas`).evaluate((canvas) => {
          const { width, height } = canvas as HTMLCanvasElement;
          const data = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data;
          return new Set(new Uint32Array(data?.buffer ?? new ArrayBuffer(0))).size;
        });
      await expect.poll(countColors).toBeGreaterThan(10);
    }
    await page.close();
  });

  test('a click on a peer shows it alone, in the charts and among the latest instances', async () => {
    const { page, troubles } = await visit();
    await isLive(page);
    await page.locator('#peers').getByRole('button', { name: 'CT_ROOM_1' }).click();
    const chart = page.getByRole('img', { name: /^Rates of CT_ROOM_1/ });
    await expect.poll(() => chart.getAttribute('aria-label')).toMatch(/: [1-9]\d* instances/);
    await expect.poll(() => page.getByRole('button', { name: /^Only CT_ROOM_1/ }).count()).toBe(2);
    await page.getByRole('button', { name: /^Only CT_ROOM_1/ }).first().click();
    await page.getByRole('img', { name: /^Rates of all peers/ }).waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  test('the charts follow the system from light to dark', async () => {
    const { page } = await visit('/perf', { colorScheme: 'light' });
    await isLive(page);
    await page.locator('.waterfall-row').first().waitFor();
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await page.waitForTimeout(3000); // what was asked for before: nothing else draws the chart again
    const getPicture = () => page.locator('.chart-rates canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const light = await getPicture();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(getPicture).not.toBe(light);
    await page.close();
  });

  test('the pointer in a chart tells the figures of that second', async () => {
    const { page } = await visit();
    await isLive(page);
    const clock = page.locator('.legend .key-time');
    await expect.poll(() => clock.textContent()).toMatch(/^\d\d:\d\d:\d\d$/);
    const chart = await page.locator('.chart-rates .u-over').boundingBox();
    if (chart === null) {
      throw new Error('no chart');
    }
    const getSeconds = async () => Date.parse(`2026-01-01T${await clock.textContent()}Z`) / 1000;
    await page.mouse.move(chart.x + chart.width - 2, chart.y + chart.height / 2);
    const late = await getSeconds();
    await page.mouse.move(chart.x + chart.width - 60, chart.y + chart.height / 2);
    await expect.poll(getSeconds).toBeLessThan(late);
    await page.close();
  });

  test.each(SIZES)('nothing moves by itself or is wider than a page with a width of $width', async (viewport) => {
    const { page } = await visit('/perf', { viewport });
    await isLive(page);
    await page.locator('.waterfall-row').first().waitFor();
    await page.waitForTimeout(8000);
    expect(await sumShifts(page)).toBeLessThan(LARGEST_SHIFT);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(viewport.width);
    await page.close();
  });

  test.each([
    { colorScheme: 'light', viewport: SIZES[0] },
    { colorScheme: 'dark', viewport: SIZES[0] },
    { colorScheme: 'light', viewport: SIZES[1] },
    { colorScheme: 'dark', viewport: SIZES[1] },
  ] as const)('axe-core finds no serious violation: $colorScheme, $viewport.width', async ({ colorScheme, viewport }) => {
    const { page } = await visit('/perf', { colorScheme, viewport: viewport ?? null });
    await isLive(page);
    await page.locator('.waterfall-row').first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('radio', { name: 'Sent' }).check();
    await page.locator('.tile').getByText('Instances sent').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.close();
  });

  test('the script is small, compressed, and kept by the browser', async () => {
    const { page } = await visit();
    await isLive(page);
    const script = (await page.locator('script[src]').getAttribute('src')) ?? '';
    const address = new URL(script, page.url()).href;
    const answer = await page.request.get(address, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(answer.headers()['content-encoding']).toBe('gzip');
    expect(Number(answer.headers()['content-length'])).toBeLessThan(LARGEST_SCRIPT);
    expect(answer.headers()['cache-control']).toContain('immutable');
    const again = await page.request.get(address, { headers: { 'If-None-Match': answer.headers().etag ?? '' } });
    expect(again.status()).toBe(304);
    await page.close();
  });

  test('the page may load nothing but its own files', async () => {
    const { page } = await visit();
    const answer = await page.request.get(page.url(), { headers: { Accept: 'text/html' } });
    const policy = answer.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(await answer.text()).not.toMatch(/<script[^>]*>[^<]|<style| style=| on[a-z]+=/);
    await page.close();
  });

  test('a row of the waterfall tells its phases, also by the keyboard, and holds still', async () => {
    const { page } = await visit();
    await isLive(page);
    const row = page.locator('.waterfall-row').first();
    await row.focus();
    await page.keyboard.press('Enter');
    await page.getByText('held while you look').waitFor();
    await expect.poll(() => page.locator('.inspector').textContent()).toContain('Prepare');
    const before = await row.textContent();
    await page.waitForTimeout(5000);
    expect(await row.textContent()).toBe(before);
    await page.close();
  });

  test('the Tab key stops once at the waterfall, arrow keys go through it', async () => {
    const { page } = await visit();
    await isLive(page);
    await expect.poll(() => page.locator('.waterfall-row').count()).toBe(20);
    expect(await page.locator('.waterfall-row[tabindex="0"]').count()).toBe(1);
    await page.locator('.waterfall-row').first().focus();
    const getPlace = () =>
      page.evaluate(() => [...document.querySelectorAll('.waterfall-row')].indexOf(document.activeElement as Element));
    for (const [key, place] of [['ArrowDown', 1], ['End', 19], ['ArrowDown', 19], ['ArrowUp', 18], ['Home', 0]] as const) {
      await page.keyboard.press(key);
      expect(await getPlace()).toBe(place);
    }
    await page.close();
  });

  test('what can be focused shows it', async () => {
    const { page } = await visit();
    await isLive(page);
    await page.locator('.waterfall-row').first().waitFor();
    const unseen: string[] = [];
    for (let i = 0; i < 45; i++) {
      await page.keyboard.press('Tab');
      const found = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const shown = element.matches('.segments input') ? (element.nextElementSibling as HTMLElement) : element;
        const { outlineStyle, outlineWidth } = getComputedStyle(shown);
        return { html: element.outerHTML.slice(0, 100), isShown: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 };
      });
      if (!found.isShown && !found.html.startsWith('<body')) {
        unseen.push(found.html);
      }
    }
    expect(unseen).toEqual([]);
    await page.close();
  });

  test('what is read aloud by itself are words that seldom change', async () => {
    const { page } = await visit();
    await isLive(page);
    await page.locator('.waterfall-row').first().waitFor();
    const readAloud = () => page.locator('[aria-live], [role=status], [role=alert]').allInnerTexts();
    // A finding may come or go once
    const didStay = async () => {
      const before = await readAloud();
      await page.waitForTimeout(6000);
      return (await readAloud()).join() === before.join();
    };
    expect((await didStay()) || (await didStay()) || (await didStay())).toBe(true);
    await page.close();
  });

  test('colours follow the switch, and stay after a reload', async () => {
    const { page } = await visit('/perf', { colorScheme: 'light' });
    const getBackground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await getBackground();
    const button = page.getByRole('button', { name: /^Colours/ });
    await button.click();
    await button.click();
    await page.getByRole('button', { name: 'Colours: Dark' }).waitFor();
    const dark = await getBackground();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Colours: Dark' }).waitFor();
    expect(await getBackground()).toBe(dark);
    await page.close();
  });

  test('a page that nobody sees asks for nothing', async () => {
    const { page } = await visit();
    await isLive(page);
    let requests = 0;
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    page.on('request', () => requests++);
    const countWhile = async (milliseconds: number) => {
      const before = requests;
      await page.waitForTimeout(milliseconds);
      return requests - before;
    };
    await expect.poll(() => countWhile(3000)).toBe(0); // after what was under way
    expect(await countWhile(5000)).toBe(0);
    requests = 0;
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => false });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await expect.poll(() => requests).toBeGreaterThan(0);
    await page.close();
  });

  test('the routes are JSON for those who do not ask for a page', async () => {
    const { page } = await visit();
    expect(await ask<object>(page, '/perf')).toHaveProperty('/perf/status');
    await page.close();
  });
});
