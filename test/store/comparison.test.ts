/** How two snapshots differ: exactly, in the terms of the contract, and never from bytes that were not proven. */
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';

import type { Comparison } from '../../src/contract/comparison.ts';
import { comparison } from '../../src/contract/comparison.ts';
import { Violations } from '../../src/contract/violations.ts';
import type { ArrayInput } from '../../src/store/arrivals.ts';
import type { CompareOptions } from '../../src/store/comparison.ts';
import { FaultFileSystem } from '../support/fault-file-system.ts';
import {
  idOf,
  metadataOf,
  packagePath,
  publishExample,
  refusalOf,
  storeAt,
  temporaryRoot,
  temporaryStore,
  type TestStore,
} from '../support/stores.ts';

const FROM = idOf(1);
const TO = idOf(2);
type Arrays = Record<string, ArrayInput>;

async function pairOf(from: Arrays, to: Arrays, changes: Record<string, unknown> = {}): Promise<TestStore> {
  const made = temporaryStore();
  await publishExample(made.store, FROM, from);
  await publishExample(made.store, TO, to, changes);
  return made;
}

async function compare(
  from: Arrays,
  to: Arrays,
  options: CompareOptions = {},
  changes: Record<string, unknown> = {},
): Promise<Comparison> {
  const { store } = await pairOf(from, to, changes);
  const found = await store.compareSnapshots(FROM, TO, options);
  const violations = new Violations();
  comparison(JSON.parse(JSON.stringify(found)), '', violations);
  expect(violations.list()).toEqual([]);
  return found;
}

const NONE = { differing: '0', first: null, last: null, examples: [] };

describe('by position', () => {
  test('equal snapshots: nothing differs but what names them', async () => {
    const arrays = { ids: new BigUint64Array([1n, 2n]), none: new Int8Array(0) };
    const found = await compare(arrays, arrays);
    expect(found).toMatchObject({ from: FROM, to: TO, equal: true, comparable: true, obstacles: [] });
    expect(found.metadata).toEqual([{ path: 'snapshot.snapshot_id', from: FROM, to: TO }]);
    expect(found.arrays['ids']).toMatchObject({ status: 'equal', ...NONE });
    expect(found.arrays['none']).toMatchObject({ status: 'equal', ...NONE });
    expect(Object.keys(found)).toEqual([
      ...['from', 'to', 'equal', 'comparable', 'obstacles', 'metadata', 'arrays'],
    ]);
  });

  test('a snapshot is equal to itself', async () => {
    const { store } = await pairOf({ a: new Int8Array([1]) }, {});
    const found = await store.compareSnapshots(FROM, FROM);
    expect(found).toMatchObject({ from: FROM, to: FROM, equal: true, metadata: [] });
  });

  const limits: Record<string, { from: ArrayInput; to: ArrayInput; texts: [string, string] }> = {
    int8: { from: Int8Array.of(-128), to: Int8Array.of(127), texts: ['-128', '127'] },
    int16: { from: Int16Array.of(-32768), to: Int16Array.of(32767), texts: ['-32768', '32767'] },
    int32: {
      from: Int32Array.of(-(2 ** 31)),
      to: Int32Array.of(2 ** 31 - 1),
      texts: ['-2147483648', '2147483647'],
    },
    int64: {
      from: BigInt64Array.of(-(2n ** 63n)),
      to: BigInt64Array.of(2n ** 63n - 1n),
      texts: ['-9223372036854775808', '9223372036854775807'],
    },
    uint8: { from: Uint8Array.of(0), to: Uint8Array.of(255), texts: ['0', '255'] },
    uint16: { from: Uint16Array.of(0), to: Uint16Array.of(65535), texts: ['0', '65535'] },
    uint32: { from: Uint32Array.of(0), to: Uint32Array.of(2 ** 32 - 1), texts: ['0', '4294967295'] },
    uint64: {
      from: BigUint64Array.of(2n ** 53n),
      to: BigUint64Array.of(2n ** 53n + 1n),
      texts: ['9007199254740992', '9007199254740993'],
    },
  };
  test.each(Object.entries(limits))(
    'the limits of %s are told exactly',
    async (dtype, { from, to, texts }) => {
      const found = await compare({ a: from }, { a: to });
      expect(found.equal).toBe(false);
      expect(found.arrays['a']).toMatchObject({
        status: 'changed',
        from: { dtype, count: '1' },
        to: { dtype, count: '1' },
        differing: '1',
        first: '0',
        last: '0',
        examples: [{ index: '0', from: texts[0], to: texts[1] }],
      });
    },
  );

  test('64-bit elements that differ in either half', async () => {
    const from = BigInt64Array.of(1n, 1n, 1n, -1n);
    const to = BigInt64Array.of(1n, 2n, 1n + 2n ** 32n, -1n - 2n ** 40n);
    const { arrays } = await compare({ a: from }, { a: to });
    expect(arrays['a']).toMatchObject({ differing: '3', first: '1', last: '3' });
    expect(arrays['a']!.examples.map((one) => one.to)).toEqual(['2', '4294967297', '-1099511627777']);
  });

  test('elements beyond the shorter length differ, and have no value on the other side to show', async () => {
    const found = await compare(
      { a: Int16Array.of(1, 2, 3, 4, 5), b: Int8Array.of(1) },
      {
        a: Int16Array.of(1, 9),
        b: new Int8Array(0),
      },
    );
    expect(found.arrays['a']).toMatchObject({ status: 'changed', differing: '4', first: '1', last: '4' });
    expect(found.arrays['a']!.examples).toEqual([{ index: '1', from: '2', to: '9' }]);
    expect(found.arrays['b']).toMatchObject({ differing: '1', first: '0', last: '0', examples: [] });
    const { arrays } = await compare({ a: new Int8Array(0) }, { a: Int8Array.of(0, 0) });
    expect(arrays['a']).toMatchObject({ differing: '2', first: '0', last: '1', examples: [] });
  });

  test('ten examples are shown, and all are counted', async () => {
    const { arrays } = await compare({ a: new Uint8Array(100) }, { a: new Uint8Array(100).fill(7) });
    expect(arrays['a']).toMatchObject({ differing: '100', first: '0', last: '99' });
    expect(arrays['a']!.examples.map(({ index }) => index)).toEqual(
      Array.from({ length: 10 }, (_, index) => String(index)),
    );
  });

  test('added, removed and retyped arrays are named, and nothing of them is compared', async () => {
    const found = await compare(
      { gone: Int8Array.of(1), other: Int8Array.of(1), constructor: Int8Array.of(1) },
      { new: Int8Array.of(1), other: Uint8Array.of(1), constructor: Int8Array.of(2) },
    );
    expect(Object.keys(found.arrays)).toEqual(['constructor', 'gone', 'new', 'other']);
    expect(found.arrays['gone']).toMatchObject({
      status: 'removed',
      to: null,
      from: { count: '1' },
      ...NONE,
    });
    expect(found.arrays['new']).toMatchObject({ status: 'added', from: null, to: { count: '1' }, ...NONE });
    expect(found.arrays['other']).toMatchObject({ status: 'retyped', ...NONE });
    expect(found.arrays.constructor).toMatchObject({ status: 'changed', differing: '1' });
    expect(found.equal).toBe(false);
  });

  test('no arrays at all', async () => {
    expect(await compare({}, {})).toMatchObject({ equal: true, arrays: {} });
  });

  test('arrays of several blocks: the first and the last element that differ, in blocks of their own', async () => {
    const from = new BigInt64Array(500_000).map((_, index) => BigInt(index));
    const to = from.slice(0, 400_001);
    to[131_071] = -1n;
    to[131_072] = -2n;
    to[400_000] = -3n;
    const { arrays } = await compare({ a: from }, { a: to });
    expect(arrays['a']).toMatchObject({ differing: String(3 + 99_999), first: '131071', last: '499999' });
    expect(arrays['a']!.examples).toEqual([
      { index: '131071', from: '131071', to: '-1' },
      { index: '131072', from: '131072', to: '-2' },
      { index: '400000', from: '400000', to: '-3' },
    ]);
  });
});

describe('metadata', () => {
  test('every field that differs, by its path; identity, resolution and scope are obstacles and stop nothing', async () => {
    const { fingerprint, coverage } = metadataOf(FROM);
    const changes = {
      parent_id: FROM,
      scope: 'some rows',
      resolution: 'value',
      finished_at_ns: '1761782401000000002',
      coverage: { ...coverage, status: 'PARTIAL', expected_records: null, failure_reasons: ['a', 'b'] },
    };
    const found = await compare({ a: Int8Array.of(1) }, { a: Int8Array.of(1) }, {}, changes);
    expect(fingerprint.mode).toBe('ordered');
    expect(found.metadata).toEqual([
      { path: 'snapshot.coverage.expected_records', from: '3', to: null },
      { path: 'snapshot.coverage.failure_reasons', from: [], to: ['a', 'b'] },
      { path: 'snapshot.coverage.status', from: 'COMPLETE', to: 'PARTIAL' },
      { path: 'snapshot.finished_at_ns', from: '1761782401000000001', to: '1761782401000000002' },
      { path: 'snapshot.parent_id', from: null, to: FROM },
      { path: 'snapshot.resolution', from: 'record', to: 'value' },
      { path: 'snapshot.scope', from: 'all rows', to: 'some rows' },
      { path: 'snapshot.snapshot_id', from: FROM, to: TO },
    ]);
    expect(found.obstacles.map(({ path }) => path)).toEqual(['snapshot.resolution', 'snapshot.scope']);
    expect(found).toMatchObject({ comparable: false, equal: false });
    expect(found.arrays['a']).toMatchObject({ status: 'equal' });
  });

  test('ids, parents and times do not make snapshots differ, coverage does', async () => {
    const later = { parent_id: FROM, started_at_ns: '1', finished_at_ns: '2', source_version: 'v2' };
    expect(await compare({}, {}, {}, later)).toMatchObject({ equal: true, comparable: true });
    const { coverage } = metadataOf(FROM);
    const fewer = { coverage: { ...coverage, expected_records: '2', returned_records: '2' } };
    expect(await compare({}, {}, {}, fewer)).toMatchObject({ equal: false, comparable: true });
  });
});

describe('by key', () => {
  test('rows that ascend on both sides: added, removed, changed and same, with the arrays that differ', async () => {
    const from = {
      ids: BigInt64Array.of(-5n, 1n, 3n, 7n),
      x: Int8Array.of(0, 1, 3, 7),
      y: Uint16Array.of(0, 1, 3, 7),
    };
    const to = {
      ids: BigInt64Array.of(1n, 2n, 3n, 7n),
      x: Int8Array.of(1, 2, 4, 8),
      y: Uint16Array.of(1, 2, 3, 9),
    };
    const found = await compare(from, to, { key: 'ids' });
    expect(found.rows).toEqual({
      ...{ key: 'ids', added: '1', removed: '1', changed: '2', same: '1' },
      examples: [
        { key: '-5', kind: 'removed', arrays: [] },
        { key: '2', kind: 'added', arrays: [] },
        { key: '3', kind: 'changed', arrays: ['x'] },
        { key: '7', kind: 'changed', arrays: ['x', 'y'] },
      ],
    });
    expect(found.arrays['ids']).toMatchObject({ status: 'changed', ...NONE });
    expect(found.arrays['x']).toMatchObject({
      ...{ status: 'changed', differing: '2', first: '2', last: '3' },
      examples: [
        { index: '2', from: '3', to: '4' },
        { index: '3', from: '7', to: '8' },
      ],
    });
  });

  test('rows in any order are aligned, and what only moved is the same', async () => {
    const from = { ids: Uint32Array.of(9, 4, 7, 2 ** 32 - 1), x: Int32Array.of(90, 40, 70, 1) };
    const to = { ids: Uint32Array.of(7, 2 ** 32 - 1, 4, 5), x: Int32Array.of(70, 2, 40, 50) };
    const found = await compare(from, to, { key: 'ids' });
    expect(found.rows).toMatchObject({ added: '1', removed: '1', changed: '1', same: '2' });
    expect(found.rows!.examples.map(({ key }) => key)).toEqual(['5', '9', '4294967295']);
    expect(found.arrays['x']).toMatchObject({ differing: '1', first: '3', last: '3' });
    const moved = await compare({ ids: Int8Array.of(1, 2) }, { ids: Int8Array.of(2, 1) }, { key: 'ids' });
    expect(moved.rows).toMatchObject({ added: '0', removed: '0', changed: '0', same: '2' });
    expect(moved).toMatchObject({ equal: false, arrays: { ids: { status: 'changed', differing: '0' } } });
  });

  test('an array of equal bytes may differ in rows, and one of another length is compared by position', async () => {
    const from = { ids: Int8Array.of(1, 2), x: Int8Array.of(5, 6), other: Int8Array.of(1) };
    const to = { ids: Int8Array.of(2, 3), x: Int8Array.of(5, 6), other: Int8Array.of(2) };
    const found = await compare(from, to, { key: 'ids' });
    expect(found.arrays['x']).toMatchObject({
      ...{ status: 'equal', differing: '1', first: '1', last: '1' },
      examples: [{ index: '1', from: '6', to: '5' }],
    });
    expect(found.arrays['other']).toMatchObject({ status: 'changed', differing: '1', first: '0' });
    expect(found.rows).toMatchObject({ added: '1', removed: '1', changed: '1', same: '0' });
  });

  test.each([
    [
      'int64 and uint64',
      BigInt64Array.of(-1n, 0n, 2n ** 63n - 1n),
      BigUint64Array.of(0n, 2n ** 63n - 1n, 2n ** 64n - 1n),
    ],
    ['int8 and uint64', Int8Array.of(-1, 0, 127), BigUint64Array.of(0n, 127n, 2n ** 64n - 1n)],
    ['int32 and uint8', Int32Array.of(-(2 ** 31), 0, 255), Uint8Array.of(0, 254, 255)],
  ])('keys of another dtype are aligned by their values: %s', async (_, ids, others) => {
    const found = await compare(
      { ids, x: Int8Array.of(1, 2, 3) },
      { ids: others, x: Int8Array.of(2, 3, 3) },
      {
        key: 'ids',
      },
    );
    expect(found.rows).toMatchObject({ added: '1', removed: '1' });
    expect(Number(found.rows!.changed) + Number(found.rows!.same)).toBe(2);
    expect(found.arrays['ids']).toMatchObject({ status: 'retyped', ...NONE });
    const reverse = await compare({ ids: ids.slice().reverse() }, { ids: others }, { key: 'ids' });
    expect(reverse.rows).toMatchObject({ added: '1', removed: '1', same: '2' });
  });

  test('empty sides', async () => {
    const none = { ids: new Int16Array(0) };
    expect((await compare(none, none, { key: 'ids' })).rows).toMatchObject({ same: '0', examples: [] });
    const two = { ids: Int16Array.of(1, 2) };
    expect((await compare(none, two, { key: 'ids' })).rows).toMatchObject({ added: '2', removed: '0' });
    expect((await compare(two, none, { key: 'ids' })).rows).toMatchObject({ added: '0', removed: '2' });
  });

  test.each([
    ['side by side', [1, 2, 2, 3], 1, 2],
    ['apart', [5, 1, 4, 5], 0, 3],
  ])('a value that repeats %s is refused by name and index', async (_, values, first, second) => {
    const { store } = await pairOf({ ids: Int8Array.of(1) }, { ids: Int8Array.from(values) });
    for (const [from, to] of [
      [FROM, TO],
      [TO, FROM],
    ] as const) {
      const { message, errors } = await refusalOf(
        store.compareSnapshots(from, to, { key: 'ids' }),
        'invalid_request',
      );
      expect(errors).toMatchObject([{ path: 'key' }]);
      expect(message).toContain(
        `ids of snapshot ${TO} holds ${values[first]} at index ${first} and again at index ${second}`,
      );
    }
  });

  test('a key that one side lacks is refused by the name of that side', async () => {
    const { store } = await pairOf({ ids: Int8Array.of(1) }, {});
    for (const [from, to] of [
      [FROM, TO],
      [TO, FROM],
    ] as const) {
      const refusal = await refusalOf(store.compareSnapshots(from, to, { key: 'ids' }), 'array_not_found');
      expect(refusal.details).toEqual({ snapshot_id: TO, array: 'ids' });
    }
  });

  test('windows of rows: what crosses them is aligned, and the indexes are those of the arrays', async () => {
    const count = 600_000;
    const ids = new Uint32Array(count).map((_, index) => 3 * index);
    const others = ids.slice();
    // All rows up to here come later on the other side.
    const shift = 300_000;
    for (let index = 0; index < shift; index += 1) others[index] = 2 ** 31 + index;
    others.sort();
    const x = new Int16Array(count).map((_, index) => index);
    const y = new Int16Array(count);
    for (let index = 0; index < count; index += 1)
      y[index] = others[index]! < 2 ** 31 ? others[index]! / 3 : 0;
    y[count - shift - 1]! += 1;
    const found = await compare({ ids, x }, { ids: others, x: y }, { key: 'ids' });
    expect(found.rows).toMatchObject({
      added: `${shift}`,
      removed: `${shift}`,
      changed: '1',
      same: `${count - shift - 1}`,
    });
    expect(found.arrays['x']).toMatchObject({ differing: '1', first: `${count - 1}`, last: `${count - 1}` });
  });

  test('windows of rows, the other way round, and a row at the same place of two windows', async () => {
    const count = 600_000;
    const ids = new Uint32Array(count).map((_, index) => index);
    const others = ids.map((id) => (id < 300_000 ? id : id + 300_000));
    const x = new Int8Array(count);
    const y = new Int8Array(count);
    y[5] = 1;
    y[262_144 + 5] = 1;
    for (const [from, to] of [
      [
        { ids, x },
        { ids: others, x: y },
      ],
      [
        { ids: others, x: y },
        { ids, x },
      ],
    ] as const) {
      const found = await compare(from, to, { key: 'ids' });
      expect(found.rows).toMatchObject({ added: '300000', removed: '300000', changed: '2', same: '299998' });
      expect(found.arrays['x']).toMatchObject({ differing: '2', first: '5', last: '262149' });
    }
  });

  test('keys that stop ascending, or repeat, where a window ends', async () => {
    const ids = new Uint32Array(262_144 + 2).map((_, index) => 2 * index);
    const back = ids.slice();
    back[262_144] = 1;
    const moved = await compare({ ids }, { ids: back }, { key: 'ids' });
    expect(moved.rows).toMatchObject({ added: '1', removed: '1', same: '262145' });
    const again = ids.slice();
    again[262_144] = again[262_143]!;
    const { store } = await pairOf({ ids }, { ids: again });
    const { message } = await refusalOf(store.compareSnapshots(FROM, TO, { key: 'ids' }), 'invalid_request');
    expect(message).toContain('holds 524286 at index 262143 and again at index 262144');
  });

  test('more rows than are sorted are refused with what to do, unless they ascend', async () => {
    const many = new Int32Array(2 * 1024 * 1024 + 1).map((_, index) => index);
    const mixed = many.slice();
    mixed[0] = 1;
    mixed[1] = 0;
    const { store } = await pairOf({ ids: many }, { ids: mixed });
    const { message } = await refusalOf(store.compareSnapshots(FROM, TO, { key: 'ids' }), 'invalid_request');
    expect(message).toMatch(/does not ascend on both sides.*2097153.*ascending order of ids/u);
    expect((await store.compareSnapshots(FROM, FROM, { key: 'ids' })).rows).toMatchObject({
      same: '2097153',
    });
  });
});

describe('proof', () => {
  const large = (value: number): Arrays => ({ n: new Uint8Array(3 * 1024 * 1024 + 5).fill(value) });

  test.each([
    ['from', FROM],
    ['to', TO],
  ])('a damaged side is refused by its name: %s', async (_, id) => {
    const { store, root } = await pairOf(large(1), large(2));
    fs.appendFileSync(packagePath(root, id, 'array-n.bin'), 'x');
    const refusal = await refusalOf(store.compareSnapshots(FROM, TO), 'storage_integrity');
    expect(refusal.details).toMatchObject({ snapshot_id: id, location: 'array-n.bin', problem: 'length' });
    expect(refusal.message).toContain(id);
  });

  test('also where only an array that both have is damaged, of which nothing would be read', async () => {
    const { store, root } = await pairOf(large(1), large(1));
    const file = packagePath(root, TO, 'array-n.bin');
    const bytes = fs.readFileSync(file);
    bytes[7]! ^= 1;
    fs.writeFileSync(file, bytes);
    const refusal = await refusalOf(store.compareSnapshots(FROM, TO), 'storage_integrity');
    expect(refusal.details).toMatchObject({ snapshot_id: TO, problem: 'checksum' });
  });

  test('once one side is refused, nothing more of the other is proven', async () => {
    const root = temporaryRoot();
    await publishExample(storeAt(root), TO, { n: new Uint8Array(64 * 1024 * 1024) });
    const fileSystem = new FaultFileSystem(root);
    await refusalOf(storeAt(root, { fileSystem }).compareSnapshots(FROM, TO), 'snapshot_not_found');
    await expect.poll(() => fileSystem.open.size).toBe(0);
    expect(fileSystem.count('readSync')).toBeLessThan(20);
  });

  test('an id that is not there is not found', async () => {
    const { store } = await pairOf({}, {});
    for (const [from, to] of [
      [FROM, idOf(9)],
      [idOf(9), TO],
    ] as const) {
      const refusal = await refusalOf(store.compareSnapshots(from, to), 'snapshot_not_found');
      expect(refusal.details).toEqual({ snapshot_id: idOf(9) });
    }
  });

  test.each([
    ['by position', {}],
    ['by key', { key: 'ids' }],
  ])(
    'bytes that stop being what was proven yield no answer, %s, and nothing stays open',
    async (_, options) => {
      const root = temporaryRoot();
      const ids = new BigUint64Array(400_000).map((_, index) => BigInt(index));
      const values = ids.slice();
      values[5] = 9n;
      await publishExample(storeAt(root), FROM, { ids, n: ids });
      await publishExample(storeAt(root), TO, { ids, n: values });
      const fileSystem = new FaultFileSystem(root);
      const store = storeAt(root, { fileSystem });
      const size = ids.byteLength;
      const read = fileSystem.readSync.bind(fileSystem);
      let wholeReads = 0;
      fileSystem.readSync = (file, buffer, offset, length, position) => {
        const count = read(file, buffer, offset, length, position);
        // The end of a payload is looked for once in each proof: four arrays.
        if (position === size) wholeReads += 1;
        if (wholeReads === 4 && position === 1024 * 1024) buffer[offset + 17]! ^= 1;
        return count;
      };
      const refusal = await refusalOf(store.compareSnapshots(FROM, TO, options), 'storage_integrity');
      expect(refusal.details).toMatchObject({ problem: 'checksum' });
      expect(fileSystem.open.size).toBe(0);
      wholeReads = -99;
      expect((await store.compareSnapshots(FROM, TO, options)).arrays['n']).toMatchObject({ differing: '1' });
      expect(fileSystem.open.size).toBe(0);
    },
  );

  test('equal arrays are proven and not read again', async () => {
    const root = temporaryRoot();
    for (const id of [FROM, TO]) await publishExample(storeAt(root), id, large(3));
    const fileSystem = new FaultFileSystem(root);
    const before = fileSystem.count('readSync');
    await storeAt(root, { fileSystem }).readManifest(FROM);
    const once = fileSystem.count('readSync') - before;
    await storeAt(root, { fileSystem }).compareSnapshots(FROM, TO);
    expect(fileSystem.count('readSync') - before).toBe(3 * once);
  });

  test.each([
    ['by position', {}],
    ['by key', { key: 'n' }],
  ])('a comparison that nobody waits for ends, %s, and nothing stays open', async (_, options) => {
    const root = temporaryRoot();
    const n = new BigInt64Array(1_000_000).map((_, index) => BigInt(index));
    await publishExample(storeAt(root), FROM, { n });
    await publishExample(storeAt(root), TO, { n: n.map((value) => value + 1n) });
    const fileSystem = new FaultFileSystem(root);
    const store = storeAt(root, { fileSystem });
    const controller = new AbortController();
    const read = fileSystem.readSync.bind(fileSystem);
    let reads = 0;
    let readsAtAbort = 0;
    fileSystem.readSync = (...given) => {
      reads += 1;
      // Both proofs have ended, and eight blocks of each side are to be read again.
      if (reads === 32) {
        readsAtAbort = reads;
        controller.abort(new Error('left'));
      }
      return read(...given);
    };
    await expect(store.compareSnapshots(FROM, TO, { ...options, signal: controller.signal })).rejects.toThrow(
      'left',
    );
    expect(readsAtAbort).toBe(32);
    expect(reads).toBeLessThan(40);
    expect(fileSystem.open.size).toBe(0);
  });
});
