import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { DraftArray, DraftManifest } from '../../src/contract/manifest.ts';
import { parseSnapshotMetadata } from '../../src/contract/manifest.ts';
import type { IncomingPayload } from '../../src/store/arrivals.ts';
import type { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import { FaultFileSystem } from '../support/fault-file-system.ts';
import { flip } from '../support/package-damage.ts';
import {
  attemptsOf,
  idOf,
  metadataOf,
  packagePath,
  pattern,
  publishExample,
  refusalOf,
  storeAt,
  temporaryRoot,
  temporaryStore,
  treeOf,
} from '../support/stores.ts';

const ID = idOf(1);

function draftOf(arrays: Record<string, Partial<DraftArray>>): DraftManifest {
  return {
    snapshot: parseSnapshotMetadata(metadataOf(ID)),
    arrays: Object.assign(Object.create(null), arrays) as DraftManifest['arrays'],
  };
}

async function* parts(...given: [string, string][]): AsyncGenerator<IncomingPayload> {
  for (const [name, hex] of given) {
    yield { name, chunks: one(Buffer.from(hex.replaceAll(' ', ''), 'hex')) };
    await Promise.resolve();
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
  await Promise.resolve();
}

describe('what lies under an id is never overwritten', () => {
  const occupants: Record<string, (path: string) => void> = {
    'an empty directory': (path) => fs.mkdirSync(path),
    'a directory with a file': (path) => {
      fs.mkdirSync(path);
      fs.writeFileSync(join(path, 'x'), 'x');
    },
    'a file': (path) => fs.writeFileSync(path, 'x'),
    'an empty file': (path) => fs.writeFileSync(path, ''),
    'a link to a directory': (path) => fs.symlinkSync('..', path),
    'a dangling link': (path) => fs.symlinkSync('nowhere', path),
  };

  test.each(Object.keys(occupants))('%s', async (name) => {
    const { root, store } = temporaryStore();
    await store.prepare();
    occupants[name]!(packagePath(root, ID));
    const before = treeOf(root);
    const error = await refusalOf(publishExample(store, ID), 'snapshot_exists');
    expect(error.details).toEqual({ snapshot_id: ID, location: `snapshots/${ID}` });
    expect(treeOf(root)).toEqual(before);
  });

  test('a published package, whose digest the refusal gives for comparison', async () => {
    const { root, store } = temporaryStore();
    const { sha256 } = await publishExample(store, ID);
    const before = treeOf(root);
    const error = await refusalOf(publishExample(store, ID, {}), 'snapshot_exists');
    expect(error.details.manifest_sha256).toBe(sha256);
    expect(treeOf(root)).toEqual(before);
  });

  test.each(Object.keys(occupants))('%s that appears while the payloads arrive', async (name) => {
    const { root, store } = temporaryStore();
    async function* late() {
      yield new Uint8Array([1]);
      await Promise.resolve();
      occupants[name]!(packagePath(root, ID));
    }
    const error = await refusalOf(
      publishExample(store, ID, { n: { dtype: 'uint8', data: late() } }),
      'snapshot_exists',
    );
    expect(error.attempt).toBe(`staging/${attemptsOf(root)[0]!}`);
    const { incomplete } = await store.inspectIncomplete();
    expect(incomplete).toMatchObject([{ phase: 'VALIDATED', snapshot_id: ID, path: error.attempt }]);
    expect(fs.existsSync(packagePath(root, ID, 'manifest.json'))).toBe(false);
  });
});

describe('one publication of an id at a time in one process', () => {
  test('the second is refused at once, before anything is made, and may come after the first', async () => {
    const { root, store } = temporaryStore();
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* slow() {
      yield new Uint8Array([1]);
      await held;
      throw new Error('the producer went away');
    }
    const first = refusalOf(publishExample(store, ID, { n: { dtype: 'uint8', data: slow() } }));
    while (!fs.existsSync(join(root, 'staging')) || attemptsOf(root).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const error = await refusalOf(publishExample(store, ID), 'publication_in_progress');
    expect(error.details).toMatchObject({ snapshot_id: ID, retry_after_seconds: 1 });
    expect(attemptsOf(root)).toHaveLength(1);
    await publishExample(store, idOf(2));
    finish();
    expect((await first).code).toBe('publication_failed');
    await publishExample(store, ID);
    expect((await store.readManifest(ID)).manifest.arrays).toHaveProperty('ids');
    expect(attemptsOf(root)).toHaveLength(1);
  });
});

describe('a parent must be published and valid', () => {
  async function refuseParent(store: LocalSnapshotStore, root: string, parent: string) {
    const error = await refusalOf(
      publishExample(store, ID, {}, { parent_id: parent }),
      'parent_not_complete',
    );
    expect(error.details).toMatchObject({ parent_id: parent, errors: [{ path: 'snapshot.parent_id' }] });
    expect(attemptsOf(root)).toEqual([]);
    expect(fs.existsSync(packagePath(root, ID))).toBe(false);
  }

  test('one that is', async () => {
    const { store } = temporaryStore();
    await publishExample(store, idOf(2));
    await publishExample(store, ID, {}, { parent_id: idOf(2) });
    expect((await store.open(ID)).metadata.parent_id).toBe(idOf(2));
    expect((await store.listSnapshots({ parentId: idOf(2) })).snapshots).toMatchObject([{ snapshot_id: ID }]);
  });

  test('one that does not exist', async () => {
    const { root, store } = temporaryStore();
    await store.prepare();
    await refuseParent(store, root, idOf(2));
  });

  test('one with a flipped byte in a payload', async () => {
    const { root, store } = temporaryStore();
    await publishExample(store, idOf(2));
    const file = packagePath(root, idOf(2), 'array-ids.bin');
    const bytes = fs.readFileSync(file);
    bytes[3]! ^= 1;
    fs.writeFileSync(file, bytes);
    await refuseParent(store, root, idOf(2));
  });

  test('one that is only staged', async () => {
    const { root, store } = temporaryStore();
    await publishExample(store, idOf(2));
    const staged = join(root, 'staging', 'a'.repeat(32));
    fs.renameSync(packagePath(root, idOf(2)), staged);
    const error = await refusalOf(
      publishExample(store, ID, {}, { parent_id: idOf(2) }),
      'parent_not_complete',
    );
    expect(error.details.parent_id).toBe(idOf(2));
  });

  test('not the snapshot itself', async () => {
    const { store } = temporaryStore();
    const error = await refusalOf(publishExample(store, ID, {}, { parent_id: ID }), 'contract_violation');
    expect(error.details.errors.map(({ path }) => path)).toEqual(['snapshot.parent_id']);
  });

  test('a child stays readable when its parent is gone', async () => {
    const { root, store } = temporaryStore();
    await publishExample(store, idOf(2));
    await publishExample(store, ID, {}, { parent_id: idOf(2) });
    fs.rmSync(packagePath(root, idOf(2)), { recursive: true });
    expect((await store.open(ID)).metadata.parent_id).toBe(idOf(2));
  });
});

describe('what arrives must be what was declared', () => {
  const cases: Record<
    string,
    { arrays: Record<string, Partial<DraftArray>>; given: [string, string][]; paths: string[] }
  > = {
    'a missing array': { arrays: { a: { dtype: 'uint8' } }, given: [], paths: ['arrays.a'] },
    'two missing arrays, both named': {
      arrays: { a: { dtype: 'uint8' }, b: { dtype: 'int8' }, c: { dtype: 'int8' } },
      given: [['b', '01']],
      paths: ['arrays.a', 'arrays.c'],
    },
    'an undeclared array': { arrays: {}, given: [['a', '01']], paths: ['arrays.a'] },
    'an undeclared array called constructor': {
      arrays: {},
      given: [['constructor', '01']],
      paths: ['arrays.constructor'],
    },
    'a name that is no key': { arrays: {}, given: [['../a', '01']], paths: ['arrays'] },
    'an array twice': {
      arrays: { a: { dtype: 'uint8' } },
      given: [
        ['a', '01'],
        ['a', '01'],
      ],
      paths: ['arrays.a'],
    },
    'an array by its key and by its file name': {
      arrays: { a: { dtype: 'uint8' } },
      given: [
        ['a', '01'],
        ['array-a.bin', '01'],
      ],
      paths: ['arrays.a'],
    },
    'half an element': { arrays: { a: { dtype: 'int16' } }, given: [['a', '010203']], paths: ['arrays.a'] },
    'another count': {
      arrays: { a: { dtype: 'int16', count: '2' } },
      given: [['a', '0102']],
      paths: ['arrays.a.count'],
    },
    'fewer bytes': {
      arrays: { a: { dtype: 'uint8', byte_length: '3' } },
      given: [['a', '0102']],
      paths: ['arrays.a.byte_length'],
    },
    'more bytes': {
      arrays: { a: { dtype: 'uint8', byte_length: '1' } },
      given: [['a', '0102']],
      paths: ['arrays.a.byte_length'],
    },
    'another digest': {
      arrays: { a: { dtype: 'uint8', sha256: 'ab'.repeat(32) } },
      given: [['a', '0102']],
      paths: ['arrays.a.sha256'],
    },
    'everything wrong at once': {
      arrays: { a: { dtype: 'int16', count: '9', byte_length: '18', sha256: 'ab'.repeat(32) } },
      given: [['a', '0102']],
      paths: ['arrays.a.count', 'arrays.a.byte_length', 'arrays.a.sha256'],
    },
  };

  test.each(Object.keys(cases))('%s is refused and the attempt stays', async (name) => {
    const { arrays, given, paths } = cases[name]!;
    const { root, store } = temporaryStore();
    const error = await refusalOf(store.publishDraft(draftOf(arrays), parts(...given)), 'array_mismatch');
    expect(error.details.errors.map(({ path }) => path)).toEqual(paths);
    const { incomplete } = await store.inspectIncomplete();
    expect(incomplete).toMatchObject([{ path: error.attempt, phase: 'STAGING', snapshot_id: ID }]);
    expect(fs.readdirSync(packagePath(root, ''))).toEqual([]);
  });

  test('right declarations are taken, by file name and in any order', async () => {
    const { store } = temporaryStore();
    const digest = '4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a';
    const draft = draftOf({
      constructor: { dtype: 'uint8', count: '1', byte_length: '1', sha256: digest } as DraftArray,
      b: { dtype: 'int16' },
    });
    await store.publishDraft(draft, parts(['b', '0100'], ['array-constructor.bin', '01']));
    expect(Object.keys((await store.open(ID)).arrays).sort()).toEqual(['b', 'constructor']);
  });

  test('limits on arrays and bytes', async () => {
    const { root, store } = temporaryStore({ limits: { arrays: 2, arrayBytes: 4, snapshotBytes: 6 } });
    const bytes = (length: number) => new Uint8Array(length);
    const limitOf = async (arrays: Record<string, Uint8Array>) => {
      const { details } = await refusalOf(publishExample(store, ID, arrays), 'limit_exceeded');
      return details.limit;
    };
    expect(await limitOf({ a: bytes(0), b: bytes(0), c: bytes(0) })).toBe('arrays');
    expect(attemptsOf(root)).toEqual([]);
    expect(await limitOf({ a: bytes(5) })).toBe('array_bytes');
    expect(await limitOf({ a: bytes(4), b: bytes(3) })).toBe('snapshot_bytes');
    await publishExample(store, ID, { a: bytes(4), b: bytes(2) });
  });
});

describe('documents and values that break the contract are refused before anything is made', () => {
  test.each([
    ['an array of floats', new Float64Array([1])],
    ['a clamped array', new Uint8ClampedArray([1])],
    ['plain numbers', [1, 2]],
    ['a stream without a known dtype', { dtype: 'float64', data: [] as Uint8Array[] }],
    ['nothing', null],
  ])('%s', async (_, array) => {
    const { root, store } = temporaryStore();
    await store.prepare();
    const error = await refusalOf(publishExample(store, ID, { n: array as never }), 'contract_violation');
    expect(error.details.errors).toMatchObject([{ path: 'arrays.n.dtype' }]);
    expect(attemptsOf(root)).toEqual([]);
  });

  test('keys that are none, all of them named', async () => {
    const { store } = temporaryStore();
    const keys = ['A', '9a', 'a-b', '', 'a'.repeat(65), 'é', 'a\n'];
    const arrays = Object.fromEntries(keys.map((key) => [key, new Uint8Array(1)]));
    const { details } = await refusalOf(publishExample(store, ID, arrays), 'contract_violation');
    expect(details.errors).toHaveLength(keys.length);
  });

  test('a fingerprint unlike its declared context', async () => {
    const { root, store } = temporaryStore();
    await store.prepare();
    const { fingerprint } = metadataOf(ID);
    const changes = { fingerprint: { ...fingerprint, mode: 'other' } };
    const { details } = await refusalOf(
      publishExample(store, ID, {}, changes),
      'fingerprint_context_mismatch',
    );
    expect(details.errors).toMatchObject([{ path: 'snapshot.fingerprint.mode' }]);
    expect(attemptsOf(root)).toEqual([]);
  });

  test('a disk with less room than the reserve', async () => {
    const { root, store } = temporaryStore({ reserveBytes: Number.MAX_SAFE_INTEGER });
    await store.prepare();
    await refusalOf(publishExample(store, ID), 'insufficient_storage');
    expect(attemptsOf(root)).toEqual([]);
  });
});

describe('an attempt that somebody changes while it is staged is never published', () => {
  const arrays = { small: new Uint8Array([1, 2, 3]), large: pattern(4 * 1024 * 1024 + 9) };

  test.each([
    ['array-small.bin', 'complete.sha256', 'after it was proven, before the marker'],
    ['array-large.bin', 'complete.sha256', 'after it was proven, before the marker'],
    ['manifest.json', 'complete.sha256', 'after it was proven, before the marker'],
    ['intent.json', 'complete.sha256', 'after it was proven, before the marker'],
    ['array-large.bin', 'manifest.json', 'after it was read back'],
    ['array-small.bin', 'manifest.json', 'before it was read back'],
  ])('%s, when %s is made: %s', async (file, next) => {
    const root = temporaryRoot();
    const fileSystem = new FaultFileSystem(root);
    fileSystem.hook = ({ method, path }) => {
      if (method === 'createFile' && path.endsWith(next)) flip(2)(join(root, dirname(path), file));
    };
    await refusalOf(publishExample(storeAt(root, { fileSystem }), ID, arrays), 'publication_failed');
    expect(fs.readdirSync(packagePath(root, ''))).toEqual([]);
    expect(attemptsOf(root)).toHaveLength(1);
    expect(fileSystem.open.size).toBe(0);
  });

  test('a block of a large array that arrives slowly, between its chunks', async () => {
    const { root, store } = temporaryStore();
    async function* slow() {
      yield arrays.large.subarray(0, 3 * 1024 * 1024);
      await new Promise((resolve) => setTimeout(resolve, 100));
      flip(2)(join(root, 'staging', attemptsOf(root)[0]!, 'array-n.bin'));
      yield arrays.large.subarray(3 * 1024 * 1024);
    }
    const data = { dtype: 'uint8', data: slow() } as const;
    await refusalOf(publishExample(store, ID, { n: data }), 'publication_failed');
    expect(fs.readdirSync(packagePath(root, ''))).toEqual([]);
  });
});
