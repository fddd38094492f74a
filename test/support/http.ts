/** Requests exactly as written: no redirects, no decoding, no header that the test did not ask for but Host. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { expect } from 'vitest';

import { PROBLEMS } from '../../src/contract/problems.ts';
import type { ErrorCode } from '../../src/contract/errors.ts';

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Resolves once the answer ended cleanly; rejects where the connection breaks before. `path` is sent as it is. */
export function ask(
  url: string,
  path: string,
  { method = 'GET', headers = {}, body }: Ask = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          if (!response.complete) reject(new Error('The answer was cut short.'));
          else
            resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) });
        })
        .on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** JSON as it comes: a wrong assumption about it fails the test by itself. */
export type Json = ReturnType<typeof JSON.parse>;

export function jsonOf(answer: Answer): Json {
  return JSON.parse(answer.body.toString('utf8'));
}

const REQUEST_URN = /^urn:request:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

/** The problem document of a refusal, after everything that all of them promise was checked. */
export function problemOf(answer: Answer, code: ErrorCode): Json {
  const problem = jsonOf(answer);
  expect(problem).toMatchObject({
    type: `/problems/${code}`,
    title: PROBLEMS[code].title,
    status: PROBLEMS[code].status,
    code,
    instance: expect.stringMatching(REQUEST_URN),
    detail: expect.stringMatching(/\S/u),
  });
  expect(answer.status).toBe(PROBLEMS[code].status);
  expectProblemHeaders(answer);
  // Neither absolute paths nor stacks.
  expect(answer.body.toString('utf8')).not.toMatch(/\/tmp\/|node_modules|\.ts:\d|\.js:\d|\n/u);
  for (const error of problem.errors ?? []) {
    expect(error).toEqual({ path: expect.any(String), message: expect.stringMatching(/\S/u) });
  }
  return problem;
}

/** What a refusal's headers say, also where there is no body to say it (HEAD). */
export function expectProblemHeaders({ headers }: Answer): void {
  expect(headers['content-type']).toBe('application/problem+json');
  expect(headers['cache-control']).toBe('no-store');
  for (const name of ['etag', 'repr-digest', 'content-disposition', 'array-dtype', 'link', 'location']) {
    expect(headers, `a refusal must not carry ${name}`).not.toHaveProperty(name);
  }
}

/** The dotted paths of a problem's errors. */
export function pathsOf(problem: { errors?: { path: string }[] }): string[] {
  return (problem.errors ?? []).map(({ path }) => path);
}

/** Headers without those that differ from one answer to the next. */
export function stableHeaders({ headers }: Answer): IncomingHttpHeaders {
  const { date: _date, ...stable } = headers;
  return stable;
}
