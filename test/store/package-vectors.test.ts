import fs from 'node:fs';
import { describe, expect, test } from 'vitest';

import { StorageIntegrityError, UnsupportedPackageError } from '../../src/contract/errors.ts';
import { collect, packagePath, refusalOf, temporaryStore, type TestStore } from '../support/stores.ts';

const PACKAGES = new URL('../vectors/packages/', import.meta.url);

interface PackageCase {
  readonly case: string;
  readonly snapshot_id: string;
  readonly valid: boolean;
  readonly problem: string | null;
}

const cases = JSON.parse(fs.readFileSync(new URL('expected.json', PACKAGES), 'utf8')) as PackageCase[];

async function storeWith({ case: name, snapshot_id: id }: PackageCase): Promise<TestStore> {
  const { root, store } = temporaryStore();
  await store.prepare();
  fs.cpSync(new URL(`${name}/${id}/`, PACKAGES), packagePath(root, id), { recursive: true });
  return { root, store };
}

describe('packages made by another implementation are judged as it judges them', () => {
  test('there are valid and invalid ones', () => {
    expect(new Set(cases.map(({ valid }) => valid)).size).toBe(2);
  });

  test.each(cases.filter(({ valid }) => valid))('$case is read', async (vector) => {
    const { root, store } = await storeWith(vector);
    const id = vector.snapshot_id;
    const { manifest, manifestBytes } = await store.readManifest(id);
    expect(fs.readFileSync(packagePath(root, id, 'manifest.json')).equals(manifestBytes)).toBe(true);
    for (const [key, { file }] of Object.entries(manifest.arrays)) {
      const payload = await store.openArray(id, key);
      expect(await collect(payload.blocks())).toEqual(fs.readFileSync(packagePath(root, id, file)));
      await payload.close();
    }
    expect((await store.listSnapshots()).snapshots.map((summary) => summary.snapshot_id)).toEqual([id]);
    expect((await store.open(id)).metadata).toEqual(manifest.snapshot);
  });

  test.each(cases.filter(({ valid }) => !valid))('$case is refused for its $problem', async (vector) => {
    const { store } = await storeWith(vector);
    const { snapshot_id: id, problem } = vector;
    const refused = async (read: Promise<unknown>) => {
      const error = await refusalOf(read);
      if (problem === 'unsupported') {
        expect(error).toBeInstanceOf(UnsupportedPackageError);
      } else {
        expect(error).toBeInstanceOf(StorageIntegrityError);
        expect(error.details).toMatchObject({ problem, snapshot_id: id });
      }
      expect(error.message).toContain(id);
    };
    await refused(store.readManifest(id));
    await refused(store.open(id));
    if (problem !== 'checksum') await refused(store.openArray(id, 'flags'));
    await refused(store.openArray(id, 'ids'));

    const { details } = await refusalOf(store.listSnapshots(), 'storage_integrity');
    expect(details.errors?.map(({ path }) => path)).toEqual([id]);
  });
});
