// SPDX-License-Identifier: GPL-3.0-or-later
// Requests to Orthanc, which is found from the address of the page: any path prefix of a reverse
// proxy, and "/perf" with or without a slash, will do. The host is never taken from the path: one
// that begins with "//" would be another's.
import type { Json } from './model/answers';

const PERF = new URL(`${location.origin}${location.pathname.replace(/\/$/, '')}/`); // …/perf/
const ORTHANC = new URL('../', PERF);

// Milliseconds until a server that says nothing is taken for one that does not answer
const PATIENCE = 8000;
const LONG_PATIENCE = 60_000; // for what changes something, or lists all series

const SIGNED_OUT = 401;

// An answer that is not 2xx; the message is what the server says of it. A proxy's way to its login
// page counts as 401.
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly path: string,
    message: string,
    readonly body?: unknown, // where it is JSON
  ) {
    super(message);
  }
}

// Whether what was asked for is done, nobody knows
export class NoAnswerError extends Error {}

// What an error says; of anything else that was thrown, what it is
export function getReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Undefined: it is not JSON
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(status: number, body: unknown): string {
  const { Message } = (body ?? {}) as { Message?: string };
  return Message ?? `HTTP ${status}`;
}

async function send(url: URL, options: RequestInit): Promise<{ response: Response; text: string }> {
  try {
    const response = await fetch(url, options);
    return { response, text: await response.text() };
  } catch {
    // The browsers' own words for it differ, and say less
    throw new NoAnswerError(`Orthanc does not answer ${url.pathname}`);
  }
}

async function request<Answer>(base: URL, method: string, path: string, patience: number, body?: Json) {
  const options: RequestInit = {
    method,
    signal: AbortSignal.timeout(patience),
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'manual', // Orthanc never does: it is to a login page, which may be another host's
    headers: { Accept: 'application/json' },
  };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
  }
  const url = new URL(path === '' ? base.href.replace(/\/$/, '') : path, base);
  const { response, text } = await send(url, options);
  if (response.type === 'opaqueredirect') {
    throw new RequestError(SIGNED_OUT, url.pathname, 'redirected, as to a login page');
  }
  if (!response.ok) {
    const problem = parse(text);
    throw new RequestError(response.status, url.pathname, describe(response.status, problem), problem);
  }
  try {
    return JSON.parse(text) as Answer;
  } catch {
    throw new RequestError(SIGNED_OUT, url.pathname, 'the answer is a page, as for a login');
  }
}

// Paths are relative: "status" is /perf/status, "" is /perf
export const perf = {
  get: <Answer>(path: string) => request<Answer>(PERF, 'GET', path, PATIENCE),
  put: <Answer>(path: string, body: Json) => request<Answer>(PERF, 'PUT', path, LONG_PATIENCE, body),
  post: <Answer>(path: string, body: Json) => request<Answer>(PERF, 'POST', path, LONG_PATIENCE, body),
  delete: <Answer>(path: string) => request<Answer>(PERF, 'DELETE', path, LONG_PATIENCE),
};

// Orthanc's own pages
export const EXPLORER = new URL('app/explorer.html', ORTHANC).href;

// "jobs/…" is /jobs/…
export const orthanc = {
  get: <Answer>(path: string) => request<Answer>(ORTHANC, 'GET', path, LONG_PATIENCE),
};
