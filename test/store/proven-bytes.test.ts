import { describe, expect, test } from 'vitest';

import { parseSnapshotMetadata } from '../../src/contract/manifest.ts';
import { declaredArrays, payloadsOf } from '../../src/store/arrivals.ts';
import { BlockPool } from '../../src/store/blocks.ts';
import { DirectorySyncs } from '../../src/store/directory-syncs.ts';
import { Engine, inlineExecutor } from '../../src/store/engine.ts';
import { layoutOf } from '../../src/store/layout.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { Proofs } from '../../src/store/proofs.ts';
import { publishSnapshot } from '../../src/store/publication.ts';
import { StoreIdentity } from '../../src/store/root.ts';
import { SpaceReserve } from '../../src/store/space-reserve.ts';
import type { FileSystem } from '../../src/store/file-system.ts';
import { StorageIntegrityError } from '../../src/contract/errors.ts';
import { declarations, idOf, metadataOf, publishExample, storeAt, temporaryRoot } from '../support/stores.ts';

/** A disk that, from a moment on, gives other bytes under an unchanged state of the file. */
function rottingDisk(): { fileSystem: FileSystem; rot: () => void } {
  let rotten = false;
  return {
    rot: () => (rotten = true),
    fileSystem: {
      ...nodeFileSystem,
      readSync: (file, buffer, offset, length, position) => {
        const count = nodeFileSystem.readSync(file, buffer, offset, length, position);
        // Payloads of the example are 24 bytes; manifests, markers and intents are longer.
        if (rotten && count === 24 && position === 0) buffer[offset] = (buffer[offset] ?? 0) ^ 0xff;
        return count;
      },
    },
  };
}

describe('the bytes that leave are the bytes that were proven', () => {
  test('also of a package whose files were proven a moment before under the same state', async () => {
    const { fileSystem, rot } = rottingDisk();
    const store = storeAt(temporaryRoot(), { fileSystem });
    await publishExample(store, idOf(1));
    const { files } = await store.openPackage(idOf(1));
    rot();
    const payload = files.find(({ name }) => name === 'array-ids.bin');
    await expect(
      (async () => {
        for await (const block of payload?.blocks() ?? []) expect(block[0]).toBe(1);
      })(),
    ).rejects.toBeInstanceOf(StorageIntegrityError);
  });
});

describe('the thread that publishes proves nothing large', () => {
  test('even when the state of a large file moves after it was read back', async () => {
    let hashedHere = 0;
    let moved = 0n;
    const here: FileSystem = {
      ...nodeFileSystem,
      sync: async (file) => {
        await nodeFileSystem.sync(file);
        moved += 1n;
      },
      statOpen: (file) => {
        const stat = nodeFileSystem.statOpen(file);
        return { ...stat, mtimeNs: stat.mtimeNs + moved };
      },
      readSync: (file, buffer, offset, length, position) => {
        const count = nodeFileSystem.readSync(file, buffer, offset, length, position);
        hashedHere += count;
        return count;
      },
    };
    const elsewhere = inlineExecutor(new Engine(nodeFileSystem, declarations, 0));
    const root = temporaryRoot();
    await storeAt(root).prepare();
    const arrays = { large: new Uint8Array(3 * 1024 * 1024).fill(7) };
    const { large } = arrays;
    await publishSnapshot(
      {
        fs: here,
        layout: layoutOf(root),
        identity: new StoreIdentity(here, layoutOf(root)),
        declarations,
        executor: elsewhere,
        near: inlineExecutor(new Engine(here, declarations, 0)),
        proofs: new Proofs(elsewhere),
        blocks: new BlockPool(),
        directorySyncs: new DirectorySyncs(here),
        limits: {},
        space: new SpaceReserve(here, root, 0),
        inFlight: new Set(),
      },
      { snapshot: parseSnapshotMetadata(metadataOf(idOf(1))), arrays: declaredArrays(arrays) },
      payloadsOf(arrays),
    );
    expect(hashedHere).toBeLessThan(64 * 1024);
    expect((await storeAt(root).open(idOf(1))).manifest.arrays['large']?.byte_length).toBe(
      String(large.length),
    );
  });
});
