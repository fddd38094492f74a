/** What the contract allows at its edges goes in and comes out as it was, through HTTP. */
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ask, jsonOf } from '../support/http.ts';
import { startApp, type RunningApp } from '../support/service.ts';
import { idOf, packagePath } from '../support/stores.ts';
import { bytesOf, publish, type ArrayPart } from '../support/uploads.ts';

let service: RunningApp;
let nextId = 1;

beforeAll(async () => {
  service = await startApp();
});
afterAll(() => service.close());

async function publishAnew(arrays: Record<string, ArrayPart>, changes = {}, fileNames = true) {
  const id = idOf(nextId++);
  const created = await publish(service.url, id, arrays, changes, { fileNames });
  expect([created.status, created.body.toString()]).toEqual([201, expect.any(String)]);
  const read = await ask(service.url, `/snapshots/${id}`);
  expect(read.body.equals(created.body)).toBe(true);
  return { id, manifest: jsonOf(read) };
}

const BOUNDARIES = [
  ['int8', new Int8Array([-128, -1, 0, 1, 127])],
  ['uint8', new Uint8Array([0, 1, 127, 128, 255])],
  ['int16', new Int16Array([-32768, -1, 0, 1, 32767])],
  ['uint16', new Uint16Array([0, 1, 32767, 32768, 65535])],
  ['int32', new Int32Array([-(2 ** 31), -1, 0, 1, 2 ** 31 - 1])],
  ['uint32', new Uint32Array([0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])],
  ['int64', new BigInt64Array([-(2n ** 63n), -1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n])],
  ['uint64', new BigUint64Array([0n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n])],
] as const;

test.each(BOUNDARIES)('the smallest, the largest and the middle of %s', async (dtype, values) => {
  const { id, manifest } = await publishAnew({ values: { dtype, bytes: bytesOf(values) } });
  const width = values.BYTES_PER_ELEMENT;
  expect(manifest.arrays.values).toMatchObject({
    dtype,
    count: '5',
    byte_length: String(5 * width),
    endianness: 'little',
  });
  const { body, headers } = await ask(service.url, `/snapshots/${id}/array-values.bin`);
  const Values = values.constructor as new (buffer: ArrayBuffer) => typeof values;
  expect(new Values(new Uint8Array(body).buffer)).toEqual(values);
  expect(headers).toMatchObject({ 'array-dtype': dtype, 'array-count': '5' });
});

test('bytes lie in little-endian order', async () => {
  const bytes = Buffer.from('0807060504030201', 'hex');
  const { id } = await publishAnew({ values: { dtype: 'uint64', bytes } });
  const { body } = await ask(service.url, `/snapshots/${id}/array-values.bin`);
  expect(body.readBigUInt64LE()).toBe(0x0102030405060708n);
});

test('an empty array of every dtype', async () => {
  const empty = Buffer.alloc(0);
  const arrays = Object.fromEntries(BOUNDARIES.map(([dtype]) => [`empty_${dtype}`, { dtype, bytes: empty }]));
  const { id, manifest } = await publishAnew(arrays);
  for (const [dtype] of BOUNDARIES) {
    expect(manifest.arrays[`empty_${dtype}`]).toMatchObject({ dtype, count: '0', byte_length: '0' });
    const answer = await ask(service.url, `/snapshots/${id}/array-empty_${dtype}.bin`);
    expect([answer.status, answer.headers['content-length'], answer.body.length]).toEqual([200, '0', 0]);
  }
});

test('no arrays at all', async () => {
  const { id, manifest } = await publishAnew({});
  expect(manifest.arrays).toEqual({});
  expect(fs.readdirSync(packagePath(service.root, id)).sort()).toEqual([
    'complete.sha256',
    'intent.json',
    'manifest.json',
  ]);
});

const LONGEST = `k${'_9'.repeat(31)}z`;
describe.each([
  ['with file names', true],
  ['without file names', false],
])('keys that mean something elsewhere, the parts %s,', (_, fileNames) => {
  test.each(['metadata', 'con', 'nul', 'manifest', 'snapshot', 'array', 'hasown', 'x', LONGEST])(
    'are keys like any other: %s',
    async (key) => {
      const bytes = Buffer.from('some payload');
      const { id, manifest } = await publishAnew({ [key]: { dtype: 'uint8', bytes } }, {}, fileNames);
      expect(Object.keys(manifest.arrays)).toEqual([key]);
      const { body } = await ask(service.url, `/snapshots/${id}/array-${key}.bin`);
      expect(body.equals(bytes)).toBe(true);
    },
  );

  test('constructor arrives under its file name', async () => {
    const bytes = Buffer.from('some payload');
    const constructor = { dtype: 'uint8', bytes, name: 'array-constructor.bin' };
    const { id, manifest } = await publishAnew({ constructor }, {}, fileNames);
    expect(Object.keys(manifest.arrays)).toEqual(['constructor']);
    const { body } = await ask(service.url, `/snapshots/${id}/array-constructor.bin`);
    expect(body.equals(bytes)).toBe(true);
  });
});

test.each([
  ['U+0000', '\0'],
  ['U+0000 inside', 'a\0b'],
  ['a blank', ' '],
  ['a newline', '\n'],
  ['control characters', '\u0001\u001f\u007f\u0080'],
  ['an astral character', '\u{1f40d}\u{10ffff}'],
  ['U+2028 and U+2029', '\u2028\u2029'],
  ['a byte order mark', '\ufeff'],
  ['quotes and backslashes', '"\\/\u0008'],
  ['text that is not normalized', 'e\u0301\u00e9'],
  ['a non-character', '\uffff\ufdd0'],
  ['a long text', 'ä'.repeat(80_000)],
])('text of %s', async (_, text) => {
  const changes = { source_namespace: text, scope: text, source_version: text, source_consistency: text };
  const coverage = {
    status: 'PARTIAL',
    expected_records: null,
    returned_records: '3',
    failure_reasons: [text, text],
  };
  const { id, manifest } = await publishAnew({}, { ...changes, coverage });
  expect(manifest.snapshot).toMatchObject({ ...changes, coverage });
  const query = new URLSearchParams({ source_namespace: text, limit: '2' }).toString();
  if (query.length > 10_000) return;
  const { snapshots } = jsonOf(await ask(service.url, `/snapshots?${query}`));
  expect(snapshots.map((one: { snapshot_id: string }) => one.snapshot_id)).toEqual([id]);
});

test('times and counts up to the last uint64', async () => {
  const changes = {
    started_at_ns: '18446744073709551614',
    finished_at_ns: '18446744073709551615',
    coverage: {
      status: 'COMPLETE',
      expected_records: '18446744073709551615',
      returned_records: '18446744073709551615',
      failure_reasons: [],
    },
  };
  const { id, manifest } = await publishAnew({}, changes);
  expect(manifest.snapshot).toMatchObject(changes);
  const { snapshots } = jsonOf(await ask(service.url, `/snapshots`));
  expect(snapshots.find((one: { snapshot_id: string }) => one.snapshot_id === id)).toMatchObject({
    started_at_ns: changes.started_at_ns,
    finished_at_ns: changes.finished_at_ns,
  });
});

test('as many arrays as the limit allows, in whatever order they arrive', async () => {
  const keys = Array.from({ length: 200 }, (_, index) => `k${(index * 7919) % 200}`);
  const arrays = Object.fromEntries(keys.map((key) => [key, { dtype: 'uint8', bytes: Buffer.from(key) }]));
  const { id, manifest } = await publishAnew(arrays);
  expect(Object.keys(manifest.arrays)).toEqual([...keys].sort());
  const { body } = await ask(service.url, `/snapshots/${id}/array-k77.bin`);
  expect(body.toString()).toBe('k77');
});
