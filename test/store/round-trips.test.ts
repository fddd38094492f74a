import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';

import { DTYPE_NAMES, DTYPES } from '../../src/contract/dtypes.ts';
import { parseDraft } from '../../src/contract/manifest.ts';
import { parseStrictJson } from '../../src/contract/strict-json.ts';
import type { ArrayInput } from '../../src/store/arrivals.ts';
import {
  attemptsOf,
  collect,
  idOf,
  inPieces,
  metadataOf,
  packagePath,
  pattern,
  publishExample,
  refusalOf,
  temporaryStore,
} from '../support/stores.ts';

const ID = idOf(0xabc);
const MIB = 1024 * 1024;
const LONG_KEY = `k${'_9'.repeat(31)}z`;

/** Values at and around the limits, and their little-endian bytes written down by hand. */
const BOUNDARIES: Record<string, { array: ArrayInput; values: (number | bigint)[]; hex: string }> = {
  int8: { array: new Int8Array([-128, -1, 0, 1, 127]), values: [-128, -1, 0, 1, 127], hex: '80 ff 00 01 7f' },
  int16: {
    array: new Int16Array([-32768, -1, 0, 258, 32767]),
    values: [-32768, -1, 0, 258, 32767],
    hex: '0080 ffff 0000 0201 ff7f',
  },
  int32: {
    array: new Int32Array([-2147483648, -1, 16909060, 2147483647]),
    values: [-2147483648, -1, 16909060, 2147483647],
    hex: '00000080 ffffffff 04030201 ffffff7f',
  },
  int64: {
    array: new BigInt64Array([-(2n ** 63n), -1n, 72623859790382856n, 2n ** 63n - 1n]),
    values: [-9223372036854775808n, -1n, 72623859790382856n, 9223372036854775807n],
    hex: '0000000000000080 ffffffffffffffff 0807060504030201 ffffffffffffff7f',
  },
  uint8: { array: new Uint8Array([0, 1, 128, 255]), values: [0, 1, 128, 255], hex: '00 01 80 ff' },
  uint16: {
    array: new Uint16Array([0, 258, 32768, 65535]),
    values: [0, 258, 32768, 65535],
    hex: '0000 0201 0080 ffff',
  },
  uint32: {
    array: new Uint32Array([0, 16909060, 2147483648, 4294967295]),
    values: [0, 16909060, 2147483648, 4294967295],
    hex: '00000000 04030201 00000080 ffffffff',
  },
  uint64: {
    array: new BigUint64Array([0n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]),
    values: [0n, 9007199254740993n, 9223372036854775808n, 18446744073709551615n],
    hex: '0000000000000000 0100000000002000 0000000000000080 ffffffffffffffff',
  },
};

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function stored(root: string, file: string, id = ID): Buffer {
  return fs.readFileSync(packagePath(root, id, file));
}

/** Canonical JSON written apart from the contract's: enough for documents of strings, integers and null. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

describe('what is published comes back exactly', () => {
  test('the table of boundaries covers all eight dtypes', () => {
    expect(Object.keys(BOUNDARIES).sort()).toEqual([...DTYPE_NAMES].sort());
  });

  test.each(DTYPE_NAMES)('the boundary values of %s, as typed array and as byte stream', async (dtype) => {
    const { array, values, hex } = BOUNDARIES[dtype]!;
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const { root, store } = temporaryStore({ onDisk: true });
    await publishExample(store, ID, { typed: array, streamed: { dtype, data: inPieces(bytes, 1, 3) } });
    expect(stored(root, 'array-typed.bin')).toEqual(bytes);
    expect(stored(root, 'array-streamed.bin')).toEqual(bytes);

    const { arrays, manifest } = await store.open(ID);
    for (const key of ['typed', 'streamed']) {
      expect(arrays[key]).toBeInstanceOf(DTYPES[dtype].arrayType);
      expect([...(arrays[key] as Iterable<number | bigint>)]).toEqual(values);
      expect(manifest.arrays[key]).toEqual({
        file: `array-${key}.bin`,
        dtype,
        count: String(values.length),
        byte_length: String(bytes.length),
        endianness: 'little',
        sha256: sha256(bytes),
      });
    }
  });

  test('the package holds exactly intent, payloads, manifest and marker, byte for byte', async () => {
    const { root, store } = temporaryStore({ onDisk: true });
    await publishExample(store, ID, { n: new Int16Array([1, -1]) });
    const expected = canonical({
      format: 'pipewhy.snapshot',
      version: 1,
      array_schema_version: '1.0',
      snapshot: metadataOf(ID),
      arrays: {
        n: {
          file: 'array-n.bin',
          dtype: 'int16',
          count: '2',
          byte_length: '4',
          endianness: 'little',
          sha256: sha256(Buffer.from('0100ffff', 'hex')),
        },
      },
    });
    expect(fs.readdirSync(packagePath(root, ID)).sort()).toEqual([
      'array-n.bin',
      'complete.sha256',
      'intent.json',
      'manifest.json',
    ]);
    expect(stored(root, 'manifest.json').toString()).toBe(expected);
    expect(stored(root, 'complete.sha256').toString()).toBe(`${sha256(Buffer.from(expected))}\n`);
    expect(stored(root, 'intent.json').toString()).toBe(`{"snapshot_id":"${ID}"}`);
    expect(attemptsOf(root)).toEqual([]);
  });

  test('empty arrays of every dtype, and no arrays at all', async () => {
    const { root, store } = temporaryStore({ onDisk: true });
    const empty = Object.fromEntries(DTYPE_NAMES.map((dtype) => [dtype, new DTYPES[dtype].arrayType()]));
    await publishExample(store, ID, { ...empty, streamed: { dtype: 'int64', data: [] } });
    await publishExample(store, idOf(2), {});
    const { arrays } = await store.open(ID);
    expect(Object.keys(arrays).sort()).toEqual([...DTYPE_NAMES, 'streamed'].sort());
    for (const key of Object.keys(arrays)) {
      expect(arrays[key]).toHaveLength(0);
      expect(stored(root, `array-${key}.bin`)).toHaveLength(0);
    }
    expect(Object.keys((await store.open(idOf(2))).arrays)).toEqual([]);
    expect((await store.listSnapshots()).snapshots.map((summary) => summary.array_count)).toEqual([0, 9]);
  });

  test('keys that are names of the language, of the protocol or of old devices', async () => {
    const { root, store } = temporaryStore({ onDisk: true });
    const keys = ['constructor', 'metadata', 'con', 'x', LONG_KEY];
    expect(LONG_KEY).toHaveLength(64);
    const arrays = Object.fromEntries(keys.map((key, at) => [key, new Uint8Array([at])]));
    await publishExample(store, ID, arrays);
    const opened = await store.open(ID);
    expect(Object.keys(opened.arrays).sort()).toEqual([...keys].sort());
    for (const [at, key] of keys.entries()) {
      expect([...stored(root, `array-${key}.bin`)]).toEqual([at]);
      const payload = await store.openArray(ID, key);
      expect([...(await collect(payload.blocks()))]).toEqual([at]);
      await payload.close();
    }
    await publishExample(store, idOf(2), { y: new Uint8Array(1) });
    await refusalOf(store.openArray(idOf(2), 'constructor'), 'array_not_found');
  });

  test('U+0000, blanks, astral and separator characters, and times at the end of 64 bits', async () => {
    const { root, store } = temporaryStore({ onDisk: true });
    const metadata = metadataOf(ID, {
      source_namespace: '\u0000',
      source_version: ' ',
      source_consistency: 'a\u2028b\u2029c\u007f\u0080',
      scope: '😀 \ud800\udc00 é e\u0301 "\\/\b\f\n\r\t\u001f',
      started_at_ns: '18446744073709551614',
      finished_at_ns: '18446744073709551615',
      coverage: {
        status: 'PARTIAL',
        expected_records: null,
        returned_records: '18446744073709551615',
        failure_reasons: ['\u0000', '𝔘'],
      },
    });
    await store.publish(metadata, {});
    const { metadata: read, manifestBytes } = await store.open(ID);
    expect(read).toEqual(metadata);
    expect(stored(root, 'manifest.json')).toEqual(Buffer.from(manifestBytes));
    expect(Buffer.from(manifestBytes).toString()).toContain(canonical(metadata));
    expect((await store.listSnapshots()).snapshots[0]).toMatchObject({
      started_at_ns: '18446744073709551614',
      finished_at_ns: '18446744073709551615',
      source_namespace: '\u0000',
    });
  });

  test.each([
    [MIB + 7, 1],
    [MIB + 7, 3],
    [MIB + 7, 7],
    [3 * MIB + 7, 4096],
    [3 * MIB + 7, 65_537],
    [3 * MIB + 7, 1_000_003],
    [3 * MIB + 7, 5_000_000],
  ])('a stream of %i bytes in chunks of %i bytes', async (size, chunk) => {
    const { root, store } = temporaryStore({ onDisk: true });
    const bytes = pattern(size);
    const { manifest } = await publishExample(store, ID, {
      n: { dtype: 'uint8', data: inPieces(bytes, chunk) },
    });
    expect(stored(root, 'array-n.bin').equals(bytes)).toBe(true);
    expect(manifest.arrays['n']).toMatchObject({
      sha256: sha256(bytes),
      byte_length: String(bytes.length),
    });
    const opened = (await store.open(ID)).arrays['n'] as unknown as Uint8Array;
    expect(Buffer.from(opened).equals(bytes)).toBe(true);
  });

  test.each([MIB - 1, MIB, MIB + 1, 2 * MIB, 2 * MIB + 1, 3 * MIB + 7])(
    'an array of %i bytes, around the edges of the blocks, read whole and in parts',
    async (size) => {
      const { root, store } = temporaryStore({ onDisk: true });
      const bytes = pattern(size);
      await publishExample(store, ID, { n: bytes });
      expect(stored(root, 'array-n.bin').equals(bytes)).toBe(true);
      const payload = await store.openArray(ID, 'n');
      expect((await collect(payload.blocks())).equals(bytes)).toBe(true);
      const ranges: [number, number][] = [
        [0, 1],
        [size - 1, size],
        [5, 5],
        [MIB - 2, size],
        [1, Math.min(size, MIB + 1)],
      ];
      for (const [start, end] of ranges) {
        const part = await collect(payload.blocks(start, end));
        expect(part.equals(bytes.subarray(start, end))).toBe(true);
      }
      await payload.close();
    },
  );

  test('the stored manifest and payloads, published into an empty store, make an identical package', async () => {
    const first = temporaryStore({ onDisk: true });
    await publishExample(first.store, ID, { a: new Uint16Array([1, 2]), b: pattern(MIB + 3) });
    const draft = parseDraft(parseStrictJson(stored(first.root, 'manifest.json')));
    const files = ['array-b.bin', 'array-a.bin'];
    const second = temporaryStore({ onDisk: true });
    async function* payloads() {
      for (const name of files) yield { name, chunks: inPieces(stored(first.root, name), 999) };
    }
    await second.store.publishDraft(draft, payloads());
    for (const file of [...files, 'manifest.json', 'complete.sha256', 'intent.json']) {
      expect(stored(second.root, file).equals(stored(first.root, file))).toBe(true);
    }
  });
});

describe('the store owns what it keeps', () => {
  test('a part of a larger buffer, a Buffer and shared memory are stored as what they show', async () => {
    const { root, store } = temporaryStore({ onDisk: true });
    const whole = new Uint32Array([9, 1, 2, 9]);
    const shared = new Uint16Array(new SharedArrayBuffer(4));
    shared.set([7, 8]);
    await publishExample(store, ID, { part: whole.subarray(1, 3), buffer: Buffer.from('abc'), shared });
    expect(stored(root, 'array-part.bin').toString('hex')).toBe('0100000002000000');
    expect(stored(root, 'array-buffer.bin').toString()).toBe('abc');
    expect(stored(root, 'array-shared.bin').toString('hex')).toBe('07000800');
  });

  test('a producer that fills one buffer again and again is stored as it was at each step', async () => {
    const { root, store } = temporaryStore({ onDisk: true });
    async function* reusing() {
      const buffer = new Uint8Array(300_000);
      for (let turn = 0; turn < 12; turn += 1) {
        buffer.fill(turn);
        yield buffer;
      }
      buffer.fill(255);
    }
    await publishExample(store, ID, { n: { dtype: 'uint8', data: reusing() } });
    const expected = Buffer.concat(Array.from({ length: 12 }, (_, turn) => Buffer.alloc(300_000, turn)));
    expect(stored(root, 'array-n.bin').equals(expected)).toBe(true);
  });

  test('changes to the inputs after publishing, and to what was opened, reach nobody else', async () => {
    const { store } = temporaryStore({ onDisk: true });
    const input = new Int32Array([1, 2, 3]);
    const large = pattern(MIB + 1);
    const metadata = metadataOf(ID);
    await store.publish(metadata, { small: input, large });
    input.fill(9);
    metadata.scope = 'changed';

    const first = await store.open(ID);
    (first.arrays['small'] as unknown as Int32Array).fill(7);
    (first.arrays['large'] as unknown as Uint8Array).fill(7);
    first.manifestBytes.fill(0);
    Object.assign(first.metadata, { scope: 'changed' });

    const second = await store.open(ID);
    expect([...(second.arrays['small'] as unknown as Int32Array)]).toEqual([1, 2, 3]);
    expect(Buffer.from(second.arrays['large'] as unknown as Uint8Array).equals(large)).toBe(true);
    expect(second.metadata.scope).toBe('all rows');
    expect((await store.readManifest(ID)).manifestSha256).toBe(second.manifestSha256);
  });

  test.each([
    ['wider elements', [new Uint16Array([1, 258])]],
    ['text', ['abc']],
    ['plain bytes instead of chunks of them', new Uint8Array([1, 2])],
    ['nothing', [null]],
  ])('a stream of %s is refused, never cut down to bytes', async (_, data) => {
    const { root, store } = temporaryStore({ onDisk: true });
    const error = await refusalOf(
      publishExample(store, ID, { n: { dtype: 'uint8', data: data as never } }),
      'contract_violation',
    );
    expect(error.details.errors[0]?.path).toBe('arrays.n');
    expect(fs.readdirSync(packagePath(root, ''))).toEqual([]);
  });
});
