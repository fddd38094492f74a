/** Documents that tests of the contract start from, and the vectors of the reference implementation. */

import { readFileSync } from 'node:fs';

import type { ErrorCode, Violation } from '../../src/contract/errors.ts';
import { SnapshotError } from '../../src/contract/errors.ts';
import type { JsonValue } from '../../src/contract/strict-json.ts';
import { parseStrictJson } from '../../src/contract/strict-json.ts';
import { metadataOf } from '../support/example.ts';

const VECTORS = new URL('../vectors/', import.meta.url);

export interface PublishCase {
  readonly name: string;
  readonly metadata_base64: string;
  readonly expect: { readonly status: number; readonly code: ErrorCode | null; readonly paths?: string[] };
}

export interface PackageCase {
  readonly case: string;
  readonly snapshot_id: string;
  readonly valid: boolean;
  readonly problem: string | null;
}

export const publishCases = JSON.parse(readVector('publish-cases.json').toString()) as PublishCase[];
export const packageCases = JSON.parse(readVector('packages/expected.json').toString()) as PackageCase[];

export function readVector(path: string): Buffer {
  return readFileSync(new URL(path, VECTORS));
}

export const ID = '0123456789abcdef0123456789abcdef';
export const PARENT = 'f'.repeat(32);
export const DIGEST = 'ab'.repeat(32);

export function validSnapshot() {
  return metadataOf(ID, { parent_id: PARENT });
}

export function validManifest() {
  return {
    format: 'pipewhy.snapshot',
    version: 1,
    array_schema_version: '1.0',
    snapshot: validSnapshot(),
    arrays: {
      ids: {
        file: 'array-ids.bin',
        dtype: 'uint64',
        count: '3',
        byte_length: '24',
        endianness: 'little',
        sha256: DIGEST,
      },
      constructor: {
        file: 'array-constructor.bin',
        dtype: 'int16',
        count: '0',
        byte_length: '0',
        endianness: 'little',
        sha256: DIGEST,
      },
    },
  };
}

/** A plain document as the strict reader would give it. */
export function asJson(value: unknown): JsonValue {
  return parseStrictJson(Buffer.from(JSON.stringify(value)));
}

/** A copy of `document` with the member at the dotted `path` set, or removed where `value` is undefined. */
export function changed<T>(document: T, path: string, value: unknown): T {
  const copy = structuredClone(document);
  const steps = path.split('.');
  const last = steps.pop()!;
  const parent = steps.reduce((node, step) => Reflect.get(node, step), copy as object);
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else Reflect.set(parent, last, value);
  return copy;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly errors: readonly Violation[];
  readonly paths: readonly string[];
  readonly error: SnapshotError;
}

/** What `action` refuses with. */
export function refusal(action: () => unknown): Refusal {
  try {
    action();
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const { errors = [] } = error.details as { errors?: readonly Violation[] };
    return { code: error.code, message: error.message, errors, paths: errors.map(({ path }) => path), error };
  }
  throw new Error('Expected a refusal, found none.');
}
