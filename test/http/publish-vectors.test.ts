/** `POST /snapshots` judged by the cases of the reference implementation, over a real connection. */
import { describe, expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import type { ErrorCode } from '../../src/contract/errors.ts';
import { readVector } from '../contract/examples.ts';
import { jsonOf, pathsOf, problemOf, type Json } from '../support/http.ts';
import { MEDIA, servedForTest } from '../support/media.ts';
import { post } from '../support/uploads.ts';

interface PublishCase {
  readonly name: string;
  readonly metadata_base64: string;
  readonly parts: readonly { readonly name: string; readonly data_base64: string }[];
  readonly expect: { readonly status: number; readonly code: ErrorCode | null; readonly paths?: string[] };
}

const cases = JSON.parse(readVector('publish-cases.json').toString()) as PublishCase[];
/** With the names of every object in order; what is then written compactly is the canonical form. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

const bytes = (text: string): Buffer => Buffer.from(text, 'base64');

describe.each(
  MEDIA.flatMap((medium) => [
    { on: medium.name, parts: 'with file names', fileNames: true, medium },
    { on: medium.name, parts: 'without file names', fileNames: false, medium },
  ]),
)('on $on, a case of the reference implementation, its parts $parts,', ({ medium, fileNames }) => {
  test.skipIf(medium.missing).each(cases)(
    'gets its answer and leaves its traces: $name',
    async ({ metadata_base64, parts, expect: expected }) => {
      const { url, ...served } = await servedForTest(medium);
      const answer = await post(
        url,
        bytes(metadata_base64),
        parts.map(({ name, data_base64 }) => ({ name, payload: bytes(data_base64) })),
        { fileNames },
      );
      const published = await served.published();
      if (expected.code === null) {
        expect(answer.status).toBe(expected.status);
        expect(answer.headers['content-type']).toBe('application/json');
        const id = jsonOf(answer).snapshot.snapshot_id as string;
        expect(published).toEqual([id]);
        expect(await served.store.inspectIncomplete()).toEqual({ incomplete: [], next: null });
        const stored = await served.read(id, 'manifest.json');
        expect(answer.body.equals(stored)).toBe(true);
        expect(stored.toString('utf8')).toBe(JSON.stringify(sorted(JSON.parse(stored.toString('utf8')))));
        expect((await served.read(id, 'complete.sha256')).toString('latin1')).toBe(`${sha256Hex(stored)}\n`);
        for (const { name, data_base64 } of parts) {
          const file = name.startsWith('array-') ? name : `array-${name}.bin`;
          expect((await served.read(id, file)).equals(bytes(data_base64))).toBe(true);
        }
      } else {
        const problem = problemOf(answer, expected.code);
        expect(answer.status).toBe(expected.status);
        expect(pathsOf(problem)).toEqual(expect.arrayContaining(expected.paths ?? []));
        if (expected.status === 422) expect(problem.errors).not.toEqual([]);
        expect(published).toEqual([]);
      }
    },
  );
});
