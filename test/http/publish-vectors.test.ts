/** `POST /snapshots` judged by the cases of the reference implementation, over a real connection. */
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import type { ErrorCode } from '../../src/contract/errors.ts';
import { readVector } from '../contract/examples.ts';
import { jsonOf, pathsOf, problemOf, type Json } from '../support/http.ts';
import { appForTest } from '../support/service.ts';
import { packagePath } from '../support/stores.ts';
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

describe.each([
  ['with file names', true],
  ['without file names', false],
])('a case of the reference implementation, its parts %s,', (_, fileNames) => {
  test.each(cases)(
    'gets its answer and leaves its traces: $name',
    async ({ metadata_base64, parts, expect: expected }) => {
      const { url, root } = await appForTest();
      const answer = await post(
        url,
        bytes(metadata_base64),
        parts.map(({ name, data_base64 }) => ({ name, payload: bytes(data_base64) })),
        { fileNames },
      );
      const published = fs.readdirSync(join(root, 'snapshots'));
      if (expected.code === null) {
        expect(answer.status).toBe(expected.status);
        expect(answer.headers['content-type']).toBe('application/json');
        const id = jsonOf(answer).snapshot.snapshot_id as string;
        expect(published).toEqual([id]);
        expect(fs.readdirSync(join(root, 'staging'))).toEqual([]);
        const stored = fs.readFileSync(packagePath(root, id, 'manifest.json'));
        expect(answer.body.equals(stored)).toBe(true);
        expect(stored.toString('utf8')).toBe(JSON.stringify(sorted(JSON.parse(stored.toString('utf8')))));
        expect(fs.readFileSync(packagePath(root, id, 'complete.sha256'), 'latin1')).toBe(
          `${sha256Hex(stored)}\n`,
        );
        for (const { name, data_base64 } of parts) {
          const file = name.startsWith('array-') ? name : `array-${name}.bin`;
          expect(fs.readFileSync(packagePath(root, id, file)).equals(bytes(data_base64))).toBe(true);
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
