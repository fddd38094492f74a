/** What every generated client has to be able to do with a service, and what the arrays of it are. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** What goes to `publish`: the example's document, typed by what it is and not by any generator. */
export type Metadata = ReturnType<typeof metadataOf>;
export type Parts = Record<string, Blob>;

interface Answered {
  readonly snapshot: { readonly snapshot_id: string };
  readonly arrays: Readonly<Record<string, { readonly sha256: string; readonly count: string } | undefined>>;
}

/** One generated client behind one face; whatever is refused is thrown as the `code` of its problem document. */
export interface GeneratedClient {
  readonly publish: (metadata: Metadata, parts: Parts) => Promise<Answered>;
  /** The same with the one array `ids`, written by name: only so does the compiler ask whether the types have it. */
  readonly publishIds: (metadata: Metadata, ids: Blob) => Promise<Answered>;
  readonly manifest: (snapshotId: string) => Promise<Answered>;
  readonly array: (snapshotId: string, key: string) => Promise<ArrayBuffer>;
  /** The ids of a page of at most `limit`, the newest first. */
  readonly newest: (limit: number) => Promise<string[]>;
}

export class Refused extends Error {
  readonly code: unknown;

  constructor(problem: unknown) {
    super(JSON.stringify(problem));
    this.code =
      typeof problem === 'object' && problem !== null && 'code' in problem ? problem.code : undefined;
  }
}

function required(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

/** Of a service that asks for a token. */
export const URL_OF_SERVICE = required('SERVICE_URL');
export const TOKEN = required('SERVICE_TOKEN');

/** Keys that are the name of the first part, or of a member of every object, travel under their file names. */
const ARRAYS = {
  ids: {
    dtype: 'uint64',
    part: 'ids',
    bytes: bytesOf(new BigUint64Array([1n, 2n ** 53n + 1n, 2n ** 64n - 1n])),
  },
  metadata: { dtype: 'int16', part: 'array-metadata.bin', bytes: bytesOf(new Int16Array([-1, 0, 1])) },
  constructor: {
    dtype: 'uint8',
    part: 'array-constructor.bin',
    bytes: bytesOf(new Uint8Array([13, 10, 45, 45, 0])),
  },
  nothing: { dtype: 'int32', part: 'nothing', bytes: new Uint8Array(0) },
} as const;

function bytesOf({ buffer }: { readonly buffer: ArrayBuffer }): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer);
}

function metadataOf(snapshotId: string, keys = Object.keys(ARRAYS) as (keyof typeof ARRAYS)[]) {
  return {
    snapshot: {
      snapshot_id: snapshotId,
      parent_id: null,
      source_namespace: 'generated.clients',
      source_version: '1',
      source_consistency: 'written by a test',
      scope: 'everything',
      started_at_ns: '1793491200000000001',
      finished_at_ns: String(BigInt(Date.now()) * 1_000_000n),
      resolution: 'value' as const,
      coverage: {
        status: 'COMPLETE' as const,
        expected_records: '3',
        returned_records: '3',
        failure_reasons: [],
      },
      fingerprint: {
        algorithm_name: 'example-fingerprint',
        algorithm_id: 'example-fingerprint/1',
        context_id: 'example-context',
        normalization_profile_id: 'example-normalization/1',
        source_schema_id: 'example-schema/1',
        mode: 'ordered',
      },
    },
    arrays: Object.fromEntries(keys.map((key) => [key, { dtype: ARRAYS[key].dtype }])),
  };
}

async function refusalOf(answer: Promise<unknown>): Promise<unknown> {
  const error = await answer.then(
    () => assert.fail('was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof Refused) return error.code;
  throw error;
}

export function roundTrip(client: GeneratedClient): void {
  const id = randomBytes(16).toString('hex');
  const parts = Object.fromEntries(Object.values(ARRAYS).map(({ part, bytes }) => [part, new Blob([bytes])]));

  test('publishes arrays and reads back manifest and bytes', async () => {
    const published = await client.publish(metadataOf(id), parts);
    const stored = await fetch(`${URL_OF_SERVICE}/snapshots/${id}/manifest.json`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    assert.deepEqual(published, await stored.json());
    assert.deepEqual(await client.manifest(id), published);
    assert.deepEqual(Object.keys(published.arrays).sort(), Object.keys(ARRAYS).sort());
    for (const [key, { bytes }] of Object.entries(ARRAYS)) {
      assert.deepEqual(new Uint8Array(await client.array(id, key)), bytes, key);
    }
    assert.deepEqual(await client.newest(1), [id]);
  });

  test('publishes an array by name', async () => {
    const metadata = metadataOf(randomBytes(16).toString('hex'), ['ids']);
    const published = await client.publishIds(metadata, new Blob([ARRAYS.ids.bytes]));
    assert.equal(published.arrays['ids']?.count, '3');
  });

  test('publishes the example that is shipped', async () => {
    const folder = new URL('../../../../../examples/npm-packages/', import.meta.url);
    const { arrays } = JSON.parse(readFileSync(new URL('metadata.json', folder), 'utf8')) as {
      arrays: Metadata['arrays'];
    };
    const files = Object.keys(arrays).map((key) => {
      const file = `array-${key}.bin`;
      return [file, new Blob([new Uint8Array(readFileSync(new URL(file, folder)))])] as const;
    });
    const again = { ...metadataOf(randomBytes(16).toString('hex')), arrays };
    const published = await client.publish(again, Object.fromEntries(files));
    const expected = JSON.parse(readFileSync(new URL('expected-manifest.json', folder), 'utf8')) as Answered;
    assert.deepEqual(published.arrays, expected.arrays);
  });

  test('sees the code of a refusal', async () => {
    assert.equal(await refusalOf(client.publish(metadataOf(id), parts)), 'snapshot_exists');
    const { ids: _, ...fewer } = parts;
    const other = metadataOf(randomBytes(16).toString('hex'));
    assert.equal(await refusalOf(client.publish(other, fewer)), 'array_mismatch');
    assert.equal(await refusalOf(client.manifest(other.snapshot.snapshot_id)), 'snapshot_not_found');
    assert.equal(await refusalOf(client.array(id, 'absent')), 'array_not_found');
  });
}
