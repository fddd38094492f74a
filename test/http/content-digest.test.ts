/** What a client says of its own body (RFC 9530), and what else it may ask of digests and preconditions. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { ask, problemOf, type Answer } from '../support/http.ts';
import { appForTest, type RunningApp } from '../support/service.ts';
import { attemptsOf, idOf, metadataOf } from '../support/stores.ts';
import { bytesOf, MULTIPART } from '../support/uploads.ts';
import { bodyOf } from './multipart-support.ts';

const ID = idOf(1);

function bodyWith(arrays: Readonly<Record<string, Uint8Array>>): Buffer {
  const document = {
    snapshot: metadataOf(ID),
    arrays: Object.fromEntries(Object.keys(arrays).map((key) => [key, { dtype: 'uint64' }])),
  };
  const parts = Object.entries(arrays).map(([name, bytes]) => ({ name, payload: Buffer.from(bytes) }));
  return bodyOf([{ name: 'metadata', payload: Buffer.from(JSON.stringify(document)) }, ...parts]);
}

const BODY = bodyWith({ ids: bytesOf(new BigUint64Array([1n, 2n, 3n])) });

function digestOf(body: Uint8Array, name: 'sha-256' | 'sha-512' = 'sha-256'): string {
  return `${name}=:${createHash(name.replace('-', '')).update(body).digest('base64')}:`;
}

function send(app: RunningApp, headers: Record<string, string>, body = BODY): Promise<Answer> {
  return ask(app.url, '/snapshots', {
    method: 'POST',
    headers: { 'content-type': MULTIPART, ...headers },
    body,
  });
}

function published(app: RunningApp): string[] {
  return fs.readdirSync(join(app.root, 'snapshots'));
}

const WRONG = digestOf(Buffer.from('another body'));

describe('Content-Digest of a publication', () => {
  test.each([
    ['of the whole body', digestOf(BODY)],
    ['by SHA-512', digestOf(BODY, 'sha-512')],
    ['by both', `${digestOf(BODY)}, ${digestOf(BODY, 'sha-512')}`],
    ['with parameters', `${digestOf(BODY)};note=1`],
    ['with others that are not checked', `md5=:AAAA:, ${digestOf(BODY)}, unixsum=30637`],
    ['by the last of two', `${WRONG}, ${digestOf(BODY)}`],
    ['by algorithms that are not checked alone', 'md5=:AAAAAAAAAAAAAAAAAAAAAA==:'],
  ])('lets it pass when it is right: %s', async (_, digest) => {
    const app = await appForTest();
    expect((await send(app, { 'content-digest': digest })).status).toBe(201);
  });

  test.each([
    ['of another body', WRONG],
    ['where one of two is', `${digestOf(BODY)}, ${digestOf(Buffer.from('x'), 'sha-512')}`],
    ['of the body without its last byte', digestOf(BODY.subarray(0, -1))],
  ])('refuses it before anything is published when it is wrong: %s', async (_, digest) => {
    const app = await appForTest();
    const problem = problemOf(await send(app, { 'content-digest': digest }), 'invalid_request');
    expect(problem.detail).toContain('Content-Digest');
    expect(digest).toContain(problem.expected);
    expect(problem.actual).toMatch(/^sha-(256|512)=:.+:$/u);
    expect(published(app)).toEqual([]);
    expect(attemptsOf(app.root)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/u)]);
    expect(problem.attempt).toBe(`staging/${attemptsOf(app.root)[0]!}`);
  });

  test('refuses it when there is no array whose bytes it could be wrong about', async () => {
    const app = await appForTest();
    const answer = await send(app, { 'content-digest': WRONG }, bodyWith({}));
    problemOf(answer, 'invalid_request');
    expect(published(app)).toEqual([]);
  });

  test('is checked over all pieces of a long body, and not of its beginning', async () => {
    const body = bodyWith({ ids: new Uint8Array(8 * 400_000).fill(7) });
    const app = await appForTest();
    problemOf(
      await send(app, { 'content-digest': digestOf(body.subarray(0, 65_536)) }, body),
      'invalid_request',
    );
    expect((await send(app, { 'content-digest': digestOf(body) }, body)).status).toBe(201);
  });

  test.each([
    ['', 'nothing'],
    ['sha-256', 'no value'],
    ['sha-256=', 'an empty value'],
    ['sha-256=abc', 'a token'],
    ['sha-256=:AAAA:', 'too few bytes'],
    ['sha-256=:!!!!:', 'no base64'],
    [`${digestOf(BODY)},`, 'a comma at its end'],
    [`${digestOf(BODY)} x`, 'text behind'],
    [digestOf(BODY).toUpperCase(), 'a name in capitals'],
  ])('refuses %j before it looks at the body: %s', async (digest) => {
    const app = await appForTest();
    problemOf(await send(app, { 'content-digest': digest }), 'invalid_request');
    expect(published(app)).toEqual([]);
    expect(attemptsOf(app.root)).toEqual([]);
  });
});

describe('Preconditions of a publication', () => {
  test.each(['*', '"some-tag"'])('If-None-Match: %s is kept by every publication', async (condition) => {
    const app = await appForTest();
    expect((await send(app, { 'if-none-match': condition })).status).toBe(201);
    problemOf(await send(app, { 'if-none-match': condition }), 'snapshot_exists');
  });

  test.each(['*', '"some-tag"'])(
    'If-Match: %s cannot be kept, and nothing is published',
    async (condition) => {
      const app = await appForTest();
      const problem = problemOf(await send(app, { 'if-match': condition }), 'precondition_failed');
      expect(problem.actual).toBe(condition);
      expect(published(app)).toEqual([]);
      expect(attemptsOf(app.root)).toEqual([]);
    },
  );
});

describe('Want-Repr-Digest', () => {
  test.each(['sha-256=10', 'sha-512=10', 'sha-256=0, md5=1', 'nonsense ,;'])(
    'is answered with SHA-256, whatever it asks for: %s',
    async (wish) => {
      const app = await appForTest();
      await send(app, {});
      const { headers, body } = await ask(app.url, `/snapshots/${ID}/array-ids.bin`, {
        headers: { 'want-repr-digest': wish },
      });
      expect(headers['repr-digest']).toBe(digestOf(body));
    },
  );
});
