import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { StorageIntegrityError } from '../../src/contract/errors.ts';
import { FaultFileSystem } from '../support/fault-file-system.ts';
import { DAMAGES, flip, INTRUDERS, type Damage } from '../support/package-damage.ts';
import {
  collect,
  idOf,
  makeLightRoot,
  packagePath,
  pattern,
  publishExample,
  refusalOf,
  removeRoot,
  storeAt,
  temporaryRoot,
  temporaryStore,
  treeOf,
} from '../support/stores.ts';

const ID = idOf(0xbad);
const GOOD = idOf(0x900d);
const SMALL = new BigUint64Array([1n, 2n, 3n]);
const LARGE = pattern(1024 * 1024 + 7);

let pristine: string;
beforeAll(async () => {
  pristine = makeLightRoot();
  const store = storeAt(pristine);
  await publishExample(store, ID, { small: SMALL, large: LARGE, empty: new Int8Array() });
  await publishExample(store, GOOD);
});
afterAll(() => {
  removeRoot(pristine);
});

/** A store with an intact package and one that `damage` has been at. */
function damaged(damage: (directory: string) => void) {
  const root = temporaryRoot();
  fs.cpSync(pristine, root, { recursive: true });
  damage(packagePath(root, ID));
  const fileSystem = new FaultFileSystem(root);
  return { root, fileSystem, store: storeAt(root, { fileSystem }) };
}

async function expectRefused(read: Promise<unknown>): Promise<void> {
  const error = await refusalOf(read, 'storage_integrity');
  expect(error).toBeInstanceOf(StorageIntegrityError);
  expect(error.details.snapshot_id).toBe(ID);
  expect(error.message).toContain(ID);
  expect(error.message).not.toMatch(/\/(tmp|dev|home|work)\b/u);
}

/** Refused on every way to a snapshot's metadata, and by the listing with its id, while the other stays readable. */
async function expectRefusedEverywhere(
  { root, store, fileSystem }: ReturnType<typeof damaged>,
  keys: readonly string[],
): Promise<void> {
  const before = treeOf(root, { contents: false });
  await expectRefused(store.readManifest(ID));
  await expectRefused(store.open(ID));
  for (const key of keys) {
    await expectRefused(store.openArray(ID, key));
    await expectRefused(store.openArray(ID, key, { deliver: false }));
  }
  const { details } = await refusalOf(store.listSnapshots(), 'storage_integrity');
  expect(details.errors?.map(({ path }) => path)).toEqual([ID]);
  await store.readManifest(GOOD);
  expect(fileSystem.open.size).toBe(0);
  expect(treeOf(root, { contents: false })).toEqual(before);
}

describe.each([
  ['payload', 'array-small.bin', ['small']],
  ['large payload', 'array-large.bin', ['large']],
  ['manifest', 'manifest.json', ['small', 'large', 'empty']],
  ['marker', 'complete.sha256', ['small', 'large', 'empty']],
  ['intent', 'intent.json', ['small', 'large', 'empty']],
])('a %s that is damaged', (kind, file, keys) => {
  // A package without intent is whole: it may come from another implementation (PW-07.03).
  const damages = Object.entries(DAMAGES).filter(([name]) => kind !== 'intent' || name !== 'missing');

  test.each(damages)(
    '%s: refused before the first byte, never left out of the listing',
    async (_, damage) => {
      await expectRefusedEverywhere(
        damaged((directory) => {
          damage(`${directory}/${file}`);
        }),
        keys,
      );
    },
  );
});

describe('an empty payload that is damaged', () => {
  const growing = [
    'one byte longer',
    'missing',
    'renamed',
    'a dangling link',
    'a FIFO',
    'an empty directory',
  ];

  test.each(growing)('%s', async (name) => {
    await expectRefusedEverywhere(
      damaged((directory) => {
        DAMAGES[name]!(`${directory}/array-empty.bin`);
      }),
      ['empty'],
    );
  });
});

describe('every byte counts', () => {
  test.each([
    ['array-small.bin', 1],
    ['complete.sha256', 1],
    ['intent.json', 1],
    ['manifest.json', 7],
    ['array-large.bin', 174_763],
  ])('%s, flipped at every offset in steps of %i', async (file, step) => {
    const { root, store } = damaged(() => undefined);
    const path = packagePath(root, ID, file);
    const size = fs.statSync(path).size;
    const offsets = [...Array.from({ length: Math.ceil(size / step) }, (_, at) => at * step), size - 1];
    for (const offset of offsets) {
      const undo: Damage = flip(offset, offset % 8);
      undo(path);
      await expectRefused(store.readManifest(ID));
      undo(path);
    }
    await store.readManifest(ID);
  });
});

describe('a package that holds what it should not', () => {
  test.each(Object.entries(INTRUDERS))('%s', async (_, intrude) => {
    await expectRefusedEverywhere(damaged(intrude), ['small', 'large', 'empty']);
  });

  test('an array whose neighbour has rotted is still given, one with a wrong length beside it is not', async () => {
    const { root, store } = damaged((directory) => {
      flip(3)(`${directory}/array-small.bin`);
    });
    const payload = await store.openArray(ID, 'large');
    expect((await collect(payload.blocks())).equals(LARGE)).toBe(true);
    await payload.close();
    fs.appendFileSync(packagePath(root, ID, 'array-small.bin'), 'x');
    await expectRefused(store.openArray(ID, 'large'));
  });
});

describe('a neighbour that is no file is seen before anything is opened', () => {
  test('a link that is as long as the payload should be', async () => {
    const { root, store } = damaged((directory) => {
      fs.rmSync(`${directory}/array-small.bin`);
      fs.symlinkSync('x'.repeat(SMALL.byteLength), `${directory}/array-small.bin`);
    });
    expect(fs.lstatSync(packagePath(root, ID, 'array-small.bin')).size).toBe(SMALL.byteLength);
    await expectRefused(store.openArray(ID, 'large'));
    await expectRefused(store.readManifest(ID));
  });
});

describe('what is no package at all', () => {
  const places: Record<string, (directory: string) => void> = {
    'a link to a valid package': (directory) => {
      fs.renameSync(directory, `${directory}/../../moved`);
      fs.symlinkSync('../moved', directory);
    },
    'a dangling link': (directory) => {
      fs.rmSync(directory, { recursive: true });
      fs.symlinkSync('nowhere', directory);
    },
    'a file': (directory) => {
      fs.rmSync(directory, { recursive: true });
      fs.writeFileSync(directory, '');
    },
    'an empty directory': (directory) => {
      fs.rmSync(directory, { recursive: true });
      fs.mkdirSync(directory);
    },
    'a package under another id': (directory) => {
      fs.rmSync(directory, { recursive: true });
      fs.cpSync(packagePath(`${directory}/../..`, GOOD), directory, { recursive: true });
    },
  };

  test.each(Object.entries(places))('%s', async (_, place) => {
    await expectRefusedEverywhere(damaged(place), ['small']);
  });

  test('an id that nobody published is not found, which is not corruption', async () => {
    const { store } = temporaryStore();
    await refusalOf(store.readManifest(ID), 'snapshot_not_found');
    await refusalOf(store.open(ID), 'snapshot_not_found');
    await refusalOf(store.openArray(ID, 'x'), 'snapshot_not_found');
    expect(await store.listSnapshots()).toEqual({ proof: 'all', snapshots: [], next: null });
  });
});

describe('a foreign entry in snapshots/ fails every listing by name', () => {
  const entries: [string, (path: string) => void][] = [
    ['.DS_Store', (path) => fs.writeFileSync(path, '')],
    ['lost+found', (path) => fs.mkdirSync(path)],
    [`${ID}.bak`, (path) => fs.mkdirSync(path)],
    [ID.toUpperCase(), (path) => fs.mkdirSync(path)],
    [ID.slice(1), (path) => fs.symlinkSync(ID, path)],
    ['a "quoted"\u0007 name', (path) => fs.writeFileSync(path, '')],
  ];

  test.each(entries)('%j', async (name, make) => {
    const { root, store } = damaged(() => undefined);
    make(packagePath(root, name));
    const shown = JSON.stringify(name).slice(1, -1);
    for (const query of [{}, { limit: 1 }, { after: 'f'.repeat(32) }, { sourceNamespace: 'none' }]) {
      const { details } = await refusalOf(store.listSnapshots(query), 'storage_integrity');
      expect(details).toMatchObject({ problem: 'foreign', errors: [{ path: shown }] });
    }
    await store.readManifest(ID);
  });

  test('all problems at once, sorted', async () => {
    const { root, store } = damaged((directory) => {
      flip(0)(`${directory}/array-small.bin`);
    });
    fs.mkdirSync(packagePath(root, 'zzz'));
    fs.mkdirSync(packagePath(root, '!'));
    const { details } = await refusalOf(store.listSnapshots(), 'storage_integrity');
    expect(details.errors?.map(({ path }) => path)).toEqual(['!', ID, 'zzz']);
  });
});

describe('a hard link in a package', () => {
  test('is a regular file and is read, until a change through its other name shows in the bytes', async () => {
    const { root, store } = damaged((directory) => {
      fs.renameSync(`${directory}/array-small.bin`, `${directory}/../../elsewhere`);
      fs.linkSync(`${directory}/../../elsewhere`, `${directory}/array-small.bin`);
    });
    await store.readManifest(ID);
    flip(0)(`${root}/elsewhere`);
    const { details } = await refusalOf(store.readManifest(ID), 'storage_integrity');
    expect(details).toMatchObject({ problem: 'checksum', location: 'array-small.bin' });
  });
});
