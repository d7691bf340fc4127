// SPDX-License-Identifier: GPL-3.0-or-later
// Whether this user may change the tuning, as the page finds out.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Status } from '../../src/model/answers';

let answerPut: () => Response;
let sent: [string | undefined, BodyInit | null | undefined][];

beforeEach(() => {
  sent = [];
  answerPut = () => Response.json({});
  vi.stubGlobal('location', { origin: 'http://localhost', pathname: '/perf' });
  vi.stubGlobal('fetch', async (_: URL, { method, body }: RequestInit) => {
    sent.push([method, body]);
    return answerPut();
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

async function ask(allowed?: boolean): Promise<string> {
  const { state } = await import('../../src/store/state');
  const { askPermission, forbidden } = await import('../../src/store/changes');
  state.status = (allowed === undefined ? {} : { Tuning: { Allowed: allowed } }) as Status;
  await askPermission();
  return forbidden.value;
}

test.each([undefined, true])('who may change the tuning is asked by a document that changes nothing', async (allowed) => {
  expect(await ask(allowed)).toBe('');
  expect(sent).toEqual([['PUT', '{}']]);
});

test('a user whom a filter refuses is told so, until it lets him', async () => {
  answerPut = () => new Response('', { status: 403 });
  expect(await ask(true)).toContain('HTTP 403');
  answerPut = () => Response.json({});
  expect(await ask(true)).toBe('');
});

test('nobody is asked where the configuration has switched changes off', async () => {
  expect(await ask(false)).toContain('AllowTuning');
  expect(sent).toEqual([]);
});

test('an error says nothing of the user', async () => {
  answerPut = () => new Response('', { status: 504 });
  await expect(ask(true)).rejects.toThrow('HTTP 504');
  const { forbidden } = await import('../../src/store/changes');
  expect(forbidden.value).toBe('');
});
