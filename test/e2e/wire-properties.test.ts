/** Properties of the service over random input; fast-check prints the seed that reproduces a failure. */
import fc from 'fast-check';
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { bodyOf, BOUNDARY } from '../http/multipart-support.ts';
import { ask, jsonOf } from '../support/http.ts';
import { startApp, type RunningApp } from '../support/service.ts';
import { idOf, metadataOf, packagePath, pattern } from '../support/stores.ts';
import { MULTIPART, post, publish } from '../support/uploads.ts';
import { exchange, head } from '../support/wire.ts';

const ID = idOf(1);
const BYTES = Buffer.from(pattern(1000));

let running: RunningApp;
let next = 1000;
beforeAll(async () => {
  running = await startApp();
  expect((await publish(running.url, ID, { ids: { dtype: 'uint8', bytes: BYTES } })).status).toBe(201);
});
afterAll(() => running.close());

/** Bytes that like to look like delimiters. */
const payload = fc
  .array(
    fc.oneof(
      fc.constantFrom('\r', '\n', '\r\n', '--', `\r\n--${BOUNDARY}`.slice(0, -1), BOUNDARY, '--\r\n'),
      fc.uint8Array({ maxLength: 40 }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))))
  .filter(
    (bytes) => !bytes.includes(`\r\n--${BOUNDARY}`) && !bytes.toString('latin1').startsWith(`--${BOUNDARY}`),
  );

describe('whatever is sent', () => {
  it('as payloads, in whatever order, is stored and given back to the byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/u), payload, { maxKeys: 5 }),
        fc.boolean(),
        async (arrays, reversed) => {
          const id = idOf((next += 1));
          const keys = Object.keys(arrays);
          const parts = (reversed ? keys.toReversed() : keys).map((key) => ({
            name: `array-${key}.bin`,
            payload: arrays[key]!,
          }));
          const document = {
            snapshot: metadataOf(id),
            arrays: Object.fromEntries(keys.map((key) => [key, { dtype: 'uint8' }])),
          };
          const answer = await post(running.url, Buffer.from(JSON.stringify(document)), parts);
          expect(answer.status).toBe(201);
          for (const key of keys) {
            expect(
              (await ask(running.url, `/snapshots/${id}/array-${key}.bin`)).body.equals(arrays[key]!),
            ).toBe(true);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('as text in metadata comes back as that text, escaped in every document but the manifest itself', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), async (text) => {
        const id = idOf((next += 1));
        const arrays = { ids: { dtype: 'uint8', bytes: Buffer.from('x') } };
        const answer = await publish(running.url, id, arrays, { source_namespace: text });
        const isLegal = !/\p{Surrogate}/u.test(text);
        expect(answer.status).toBe(isLegal ? 201 : 422);
        if (!isLegal) return;
        expect(jsonOf(answer).snapshot.source_namespace).toBe(text);
        const listed = jsonOf(
          await ask(running.url, `/snapshots?limit=1&source_namespace=${encodeURIComponent(text)}`),
        );
        expect(listed.snapshots[0].source_namespace).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  it('as bytes of a body is never published as anything else, and never a failure of the service', async () => {
    const whole = bodyOf([
      {
        name: 'metadata',
        payload: JSON.stringify({ snapshot: metadataOf(idOf(2)), arrays: { ids: { dtype: 'uint8' } } }),
      },
      { name: 'ids', payload: 'abc' },
    ]);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.nat(8),
        fc.uint8Array({ maxLength: 6 }),
        async (at, cut, inserted) => {
          const damaged = Buffer.concat([whole.subarray(0, at), inserted, whole.subarray(at + cut)]);
          const start = head('POST', '/snapshots', [
            `Content-Type: ${MULTIPART}`,
            `Content-Length: ${damaged.length}`,
          ]);
          const answer = await exchange(running.url, Buffer.concat([Buffer.from(start), damaged]));
          expect(answer?.status).toBeLessThan(500);
          if (answer?.status !== 201) return;
          // What was published is what the damaged body says: its digest fits the bytes that lie there.
          const { snapshot, arrays } = jsonOf(answer);
          for (const entry of Object.values<{ file: string; sha256: string }>(arrays)) {
            const stored = fs.readFileSync(packagePath(running.root, snapshot.snapshot_id, entry.file));
            expect(sha256Hex(stored)).toBe(entry.sha256);
            expect(damaged.includes(stored)).toBe(true);
          }
          fs.rmSync(packagePath(running.root, snapshot.snapshot_id), { recursive: true });
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('whatever is asked for', () => {
  const position = fc.oneof(
    fc.constant(''),
    fc.nat(1100).map(String),
    fc.constantFrom('18446744073709551616', '1e2', '-5', ' 1'),
  );

  it('as ranges gives exactly those bytes, all of them, or a refusal', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(position, position), { minLength: 1, maxLength: 3 }),
        async (ranges) => {
          const range = `bytes=${ranges.map((pair) => pair.join('-')).join(',')}`;
          const answer = await ask(running.url, `/snapshots/${ID}/array-ids.bin`, { headers: { range } });
          const found = /^bytes (\d+)-(\d+)\/1000$/u.exec(answer.headers['content-range'] ?? '');
          if (answer.status === 200) expect(answer.body.equals(BYTES)).toBe(true);
          else if (answer.status === 206) {
            const [first, last] = [Number(found?.[1]), Number(found?.[2])];
            expect(answer.body.equals(BYTES.subarray(first, last + 1))).toBe(true);
            const [from = '', to = ''] = ranges[0] ?? [];
            expect(first).toBe(from === '' ? Math.max(0, 1000 - Number(to)) : Number(from));
          } else expect(answer.status).toBe(416);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('as a path is an answer below 500', async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        'snapshots',
        ID,
        'array-ids.bin',
        '..',
        '.',
        '%2e%2e',
        '%2f',
        '%00',
        '%',
        '%zz',
        '',
        '*',
        'incomplete',
      ),
      fc
        .string({ unit: 'grapheme', maxLength: 20 })
        .map((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '')).slice(0, 120)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(segment, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('GET', 'HEAD', 'DELETE', 'OPTIONS'),
        async (segments, method) => {
          const answer = await exchange(
            running.url,
            head(method, `/${segments.join('/')}`, ['Content-Length: 0']),
          );
          expect(answer?.status).toBeLessThan(500);
        },
      ),
      { numRuns: 200 },
    );
  });
});
