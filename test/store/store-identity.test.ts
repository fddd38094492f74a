/** While the store's directories are not those of the start, nothing is read, listed or published, and nothing is "not found". */
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { FileSystem } from '../../src/store/file-system.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { UnusableRootError } from '../../src/store/root.ts';
import { canMount, mountTmpfs } from '../support/mounts.ts';
import {
  attemptsOf,
  idOf,
  publishExample,
  refusalOf,
  storeAt,
  temporaryRoot,
  temporaryStore,
  type TestStore,
} from '../support/stores.ts';

const ID = idOf(1);

const aside = (path: string): void => {
  fs.renameSync(path, `${path}.aside`);
};

interface Exchange {
  readonly away: (root: string) => void;
  readonly back?: (root: string) => void;
}

const exchanges: Record<string, Exchange> = {
  'snapshots/ gone': {
    away: (root) => {
      aside(join(root, 'snapshots'));
    },
    back: (root) => {
      fs.renameSync(join(root, 'snapshots.aside'), join(root, 'snapshots'));
    },
  },
  'an empty directory in its place': {
    away: (root) => {
      aside(join(root, 'snapshots'));
      fs.mkdirSync(join(root, 'snapshots'));
    },
    back: (root) => {
      fs.rmdirSync(join(root, 'snapshots'));
      fs.renameSync(join(root, 'snapshots.aside'), join(root, 'snapshots'));
    },
  },
  'deleted and made anew, perhaps with its old number': {
    away: (root) => {
      fs.rmSync(join(root, 'snapshots'), { recursive: true });
      fs.mkdirSync(join(root, 'snapshots'));
    },
  },
  'a copy of it in its place': {
    away: (root) => {
      aside(join(root, 'snapshots'));
      fs.cpSync(join(root, 'snapshots.aside'), join(root, 'snapshots'), { recursive: true });
    },
  },
  'a link to the very directory in its place': {
    away: (root) => {
      aside(join(root, 'snapshots'));
      fs.symlinkSync('snapshots.aside', join(root, 'snapshots'));
    },
  },
  'a file in its place': {
    away: (root) => {
      aside(join(root, 'snapshots'));
      fs.writeFileSync(join(root, 'snapshots'), '');
    },
  },
  'the whole root gone': {
    away: aside,
    back: (root) => {
      fs.renameSync(`${root}.aside`, root);
    },
  },
  'another root in its place': {
    away: (root) => {
      aside(root);
      for (const room of ['snapshots', 'staging']) fs.mkdirSync(join(root, room), { recursive: true });
    },
  },
};

async function exchanged({ away }: Exchange): Promise<TestStore> {
  const root = join(temporaryRoot(), 'root');
  const store = storeAt(root);
  await publishExample(store, ID);
  away(root);
  return { root, store };
}

describe.each(Object.entries(exchanges))('%s', (_, exchange) => {
  test('every read, listing and publication is unavailable, and nothing is made', async () => {
    const { root, store } = await exchanged(exchange);
    const attempts = (): string[] => (fs.existsSync(join(root, 'staging')) ? attemptsOf(root) : []);
    const before = attempts();
    const snapshots = fs.existsSync(join(root, 'snapshots'));
    const uses: Record<string, () => Promise<unknown>> = {
      readManifest: () => store.readManifest(ID),
      'an id that never was': () => store.readManifest(idOf(9)),
      openArray: () => store.openArray(ID, 'ids'),
      'openArray for HEAD': () => store.openArray(ID, 'ids', { deliver: false }),
      openPackage: () => store.openPackage(ID),
      open: () => store.open(ID),
      listSnapshots: () => store.listSnapshots(),
      'an empty page': () => store.listSnapshots({ limit: 1, after: 'f'.repeat(32) }),
      'publish again': () => publishExample(store, ID),
      'publish another': () => publishExample(store, idOf(2)),
      'publish a child': () => publishExample(store, idOf(3), undefined, { parent_id: ID }),
    };
    for (const [use, run] of Object.entries(uses)) {
      const { message } = await refusalOf(run, 'unavailable');
      expect(message, use).toContain('snapshots/');
      expect(message, use).not.toContain(root);
    }
    expect(await store.writeProblem()).toContain('snapshots/');
    expect(await store.readProblem()).toContain('snapshots/');
    expect(attempts()).toEqual(before);
    expect(fs.existsSync(join(root, 'snapshots'))).toBe(snapshots);
  });

  test.runIf(exchange.back !== undefined)(
    'all works again once the directory of the start is back',
    async () => {
      const { root, store } = await exchanged(exchange);
      await refusalOf(store.readManifest(ID), 'unavailable');
      exchange.back?.(root);
      expect((await store.readManifest(ID)).manifest.snapshot.snapshot_id).toBe(ID);
      await publishExample(store, idOf(2));
      expect((await store.listSnapshots()).snapshots).toHaveLength(2);
      expect(await store.writeProblem()).toBeNull();
    },
  );
});

test('staging/ exchanged: nothing is published or inspected, what is published stays readable', async () => {
  const { root, store } = temporaryStore();
  await publishExample(store, ID);
  aside(join(root, 'staging'));
  fs.mkdirSync(join(root, 'staging'));
  await refusalOf(publishExample(store, idOf(2)), 'unavailable');
  await refusalOf(store.inspectIncomplete(), 'unavailable');
  await refusalOf(store.measureIncomplete(), 'unavailable');
  expect(attemptsOf(root)).toEqual([]);
  expect(await store.writeProblem()).toContain('staging/');
  expect((await store.readManifest(ID)).manifest.snapshot.snapshot_id).toBe(ID);
});

test.runIf(canMount())('a mount over a room is another directory', async () => {
  const { root, store } = temporaryStore();
  await publishExample(store, ID);
  mountTmpfs(join(root, 'snapshots'), 'size=1m');
  await refusalOf(store.readManifest(ID), 'unavailable');
  await refusalOf(store.listSnapshots(), 'unavailable');
  await refusalOf(publishExample(store, ID), 'unavailable');
});

/** A file system that exchanges `snapshots/` right before or after the operation that `when` names. */
function exchanging(root: string, method: 'rename' | 'makeDirectory', order: 'before' | 'after'): FileSystem {
  const exchange = (): void => {
    aside(join(root, 'snapshots'));
    fs.mkdirSync(join(root, 'snapshots'));
  };
  let armed = false;
  const around = async (path: string, run: () => Promise<void>): Promise<void> => {
    const now = armed && path.startsWith(join(root, 'staging/'));
    if (now && order === 'before') exchange();
    await run();
    if (now && order === 'after') exchange();
    if (method === 'rename' || path.startsWith(join(root, 'staging/'))) armed = !now && armed;
  };
  return {
    ...nodeFileSystem,
    makeDirectory: (path) => {
      if (method === 'makeDirectory') return around(path, () => nodeFileSystem.makeDirectory(path));
      return nodeFileSystem.makeDirectory(path);
    },
    rename: (from, to) =>
      method === 'rename'
        ? around(from, () => nodeFileSystem.rename(from, to))
        : nodeFileSystem.rename(from, to),
    get statEntry() {
      armed = true;
      return nodeFileSystem.statEntry;
    },
  };
}

test('exchanged while a publication runs: it ends unavailable before the rename, with its attempt kept', async () => {
  const root = temporaryRoot();
  const store = storeAt(root, { fileSystem: exchanging(root, 'makeDirectory', 'after') });
  const { attempt } = await refusalOf(publishExample(store, ID), 'unavailable');
  expect(attempt).toBe(`staging/${attemptsOf(root)[0]}`);
  expect(fs.readdirSync(join(root, 'snapshots'))).toEqual([]);
});

test.each(['before', 'after'] as const)(
  'exchanged right %s the rename: nobody is told that the snapshot is published',
  async (order) => {
    const root = temporaryRoot();
    const store = storeAt(root, { fileSystem: exchanging(root, 'rename', order) });
    await refusalOf(publishExample(store, ID), 'publication_uncertain');
  },
);

test('exchanged between the look and the read: not found is not believed', async () => {
  const root = temporaryRoot();
  await publishExample(storeAt(root), ID);
  let armed = false;
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    statEntry: (path) => {
      if (armed && path.endsWith(ID)) {
        aside(join(root, 'snapshots'));
        fs.mkdirSync(join(root, 'snapshots'));
      }
      return nodeFileSystem.statEntry(path);
    },
  };
  const store = storeAt(root, { fileSystem });
  await store.prepare();
  armed = true;
  await refusalOf(store.readManifest(ID), 'unavailable');
});

test('a store that only read before does not make a missing room anew', async () => {
  const root = temporaryRoot();
  await publishExample(storeAt(root), ID);
  const store = storeAt(root);
  await store.readManifest(ID);
  aside(join(root, 'snapshots'));
  await refusalOf(publishExample(store, ID), 'unavailable');
  expect(fs.existsSync(join(root, 'snapshots'))).toBe(false);
});

describe('a root under which some path would be too long', () => {
  const limit = 4095;
  /** A root whose longest path of an array is so many bytes long. */
  const rootOf = (length: number): string => {
    const needed = length - Buffer.byteLength(`/snapshots/${'0'.repeat(32)}/array-${'k'.repeat(64)}.bin`);
    let root = temporaryRoot();
    while (root.length < needed) {
      const step = Math.min(200, needed - root.length - 1);
      // No single character may be left for a step of its own.
      root += `/${'x'.repeat(needed - root.length - 1 - step === 1 ? step - 1 : step)}`;
    }
    return root;
  };
  const key = 'k'.repeat(64);
  const array = { [key]: new Uint8Array([1]) };

  test.runIf(process.platform === 'linux')('is refused before anything is made', async () => {
    const root = rootOf(limit + 1);
    await expect(storeAt(root).prepare()).rejects.toThrow(UnusableRootError);
    await expect(storeAt(root).prepare()).rejects.toThrow(/Choose a shorter root/u);
    await expect(publishExample(storeAt(root), ID, array)).rejects.toThrow(UnusableRootError);
    expect(fs.existsSync(root)).toBe(false);
  });

  test.runIf(process.platform === 'linux')('the longest that fits holds the longest key', async () => {
    const root = rootOf(limit);
    const store = storeAt(root);
    await publishExample(store, ID, array);
    expect(Object.keys((await store.open(ID)).arrays)).toEqual([key]);
    expect((await store.listSnapshots()).snapshots).toHaveLength(1);
  });

  test('where the file system takes no name as long as an array may need', async () => {
    const root = temporaryRoot();
    const tooLong = Object.assign(new Error('ENAMETOOLONG'), { code: 'ENAMETOOLONG', syscall: 'lstat' });
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      statEntry: (path) => {
        if (path.startsWith(join(root, 'staging/array-'))) throw tooLong;
        return nodeFileSystem.statEntry(path);
      },
    };
    await expect(storeAt(root, { fileSystem }).prepare()).rejects.toThrow(/Choose a shorter root/u);
  });
});
