import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { FileSystem } from '../../src/store/file-system.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { UnusableRootError } from '../../src/store/root.ts';
import { FaultFileSystem } from '../support/fault-file-system.ts';
import { idOf, metadataOf, publishExample, storeAt, temporaryRoot, treeOf } from '../support/stores.ts';

describe('a root that can be used', () => {
  test('is made with everything above it, each name made durable in its directory', async () => {
    const outer = temporaryRoot();
    const root = join(outer, 'a', 'b');
    const fileSystem = new FaultFileSystem(outer);
    await storeAt(root, { fileSystem }).prepare();
    expect(fs.readdirSync(root).sort()).toEqual(['snapshots', 'staging']);
    const made = fileSystem.log.filter(({ method }) => method === 'makeDirectory').map(({ path }) => path);
    expect(made).toEqual(['a', 'a/b', 'a/b/snapshots', 'a/b/staging']);
    const synced = fileSystem.log.filter(({ method }) => method === 'syncDirectory').map(({ path }) => path);
    expect(synced).toEqual(expect.arrayContaining(['', 'a', 'a/b']));
  });

  test('is prepared once, and again after a failure', async () => {
    const root = temporaryRoot();
    const fileSystem = new FaultFileSystem(root);
    const store = storeAt(root, { fileSystem });
    fileSystem.arm({ at: 1, kind: 'EIO', method: 'makeDirectory' });
    await expect(store.prepare()).rejects.toThrow(UnusableRootError);
    await publishExample(store, idOf(1));
    const count = fileSystem.count('makeDirectory');
    await publishExample(store, idOf(2));
    expect(fileSystem.count('makeDirectory')).toBe(count + 1);
  });

  test('that is there already is not changed by the start', async () => {
    const root = temporaryRoot();
    await publishExample(storeAt(root), idOf(1));
    const before = treeOf(root);
    await storeAt(root).prepare();
    expect(treeOf(root)).toEqual(before);
  });

  test('may be reached through a link', async () => {
    const outer = temporaryRoot();
    fs.mkdirSync(join(outer, 'real'));
    fs.symlinkSync('real', join(outer, 'link'));
    const store = storeAt(join(outer, 'link'));
    await publishExample(store, idOf(1));
    expect(fs.readdirSync(join(outer, 'real', 'snapshots'))).toEqual([idOf(1)]);
    expect((await store.open(idOf(1))).metadata.snapshot_id).toBe(idOf(1));
  });
});

describe('a root that cannot be used is refused in one sentence that names the place', () => {
  const places: Record<string, (root: string) => void> = {
    '.': (root) => {
      fs.rmSync(root, { recursive: true });
      fs.writeFileSync(root, '');
    },
    snapshots: (root) => {
      fs.writeFileSync(join(root, 'snapshots'), '');
    },
    staging: (root) => {
      fs.mkdirSync(join(root, 'elsewhere'));
      fs.symlinkSync('elsewhere', join(root, 'staging'));
    },
  };

  test.each(Object.keys(places))('%s is in the way', async (place) => {
    const root = temporaryRoot();
    places[place]!(root);
    const error: unknown = await storeAt(root)
      .prepare()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnusableRootError);
    expect((error as Error).message).toContain(join(root, place));
    expect((error as Error).message.split('\n')).toHaveLength(1);
  });

  test('a dangling link', async () => {
    const root = temporaryRoot();
    fs.symlinkSync('nowhere', join(root, 'link'));
    await expect(storeAt(join(root, 'link')).prepare()).rejects.toThrow(UnusableRootError);
  });

  test('snapshots and staging on two devices', async () => {
    const root = temporaryRoot();
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      statEntry: (path) => {
        const stat = nodeFileSystem.statEntry(path);
        return path.endsWith('staging') ? { ...stat, dev: stat.dev + 1n } : stat;
      },
    };
    await expect(storeAt(root, { fileSystem }).prepare()).rejects.toThrow('different file systems');
  });

  test.each([
    ['snapshots', (root: string) => [join(root, 'snapshots')]],
    ['staging, its path escaped', (root: string) => [join(root, 'staging').replaceAll('s', '\\163')]],
    ['both, apart from each other', (root: string) => [join(root, 'snapshots'), join(root, 'staging')]],
  ])('a mount point below it on the same device: %s', async (_, points) => {
    const root = temporaryRoot();
    const line = (point: string) => `36 35 98:0 /x ${point} rw,noatime shared:1 - ext4 /dev/root rw`;
    const mountTable = ['29 1 8:1 / / rw - ext4 /dev/root rw', ...points(root).map(line), ''].join('\n');
    await expect(storeAt(root, { mountTable }).prepare()).rejects.toThrow('different file systems or mounts');
    await storeAt(root, { mountTable: line(root) }).prepare();
  });
});

test.each(['EPERM', 'EACCES', 'EROFS'])(
  'a root whose directories may not be changed (%s) is unavailable, not ready with the reason, and ready after a publication',
  async (code) => {
    let forbidden = true;
    const store = storeAt(temporaryRoot(), {
      fileSystem: {
        ...nodeFileSystem,
        rename: async (from: string, to: string) => {
          if (forbidden) throw Object.assign(new Error(`${code}: rename`), { code, syscall: 'rename' });
          await nodeFileSystem.rename(from, to);
        },
      },
    });
    await expect(store.publish(metadataOf(idOf(1)), {})).rejects.toMatchObject({
      code: 'unavailable',
      attempt: expect.stringMatching(/^staging\//u),
    });
    expect(await store.writeProblem()).toContain(code);
    forbidden = false;
    await store.publish(metadataOf(idOf(2)), {});
    expect(await store.writeProblem()).toBeNull();
  },
);
