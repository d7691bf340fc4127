// SPDX-License-Identifier: GPL-3.0-or-later
// Requests to Orthanc, which is found from the address of the page: any path prefix of a reverse
// proxy, and "/perf" with or without a slash, will do.
import type { Json } from './model/answers';

const PERF = new URL(`${location.pathname.replace(/\/$/, '')}/`, location.origin); // …/perf/
const ORTHANC = new URL('../', PERF);

// An answer that is not 2xx; the message is what the server says of it
export class RequestError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

function describe(status: number, text: string): string {
  try {
    const body = JSON.parse(text) as { Error?: string; Message?: string };
    return body.Error ?? body.Message ?? `HTTP ${status}`;
  } catch {
    return `HTTP ${status}`;
  }
}

async function request<Answer>(base: URL, method: string, path: string, body?: Json) {
  const options: RequestInit = {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: { Accept: 'application/json' },
  };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
  }
  const response = await fetch(new URL(path === '' ? base.pathname.replace(/\/$/, '') : path, base), options);
  const text = await response.text();
  if (!response.ok) {
    throw new RequestError(response.status, describe(response.status, text));
  }
  return JSON.parse(text) as Answer;
}

// Paths are relative: "status" is /perf/status, "" is /perf
export const perf = {
  get: <Answer>(path: string) => request<Answer>(PERF, 'GET', path),
  put: <Answer>(path: string, body: Json) => request<Answer>(PERF, 'PUT', path, body),
  post: <Answer>(path: string, body: Json) => request<Answer>(PERF, 'POST', path, body),
  delete: <Answer>(path: string) => request<Answer>(PERF, 'DELETE', path),
};

// "jobs/…" is /jobs/…
export const orthanc = {
  get: <Answer>(path: string) => request<Answer>(ORTHANC, 'GET', path),
};
