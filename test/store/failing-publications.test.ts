import { describe, expect, test, vi } from 'vitest';

import { causes, exhaustFaults } from '../support/exhaust-faults.ts';
import { FAULT_ERRORS, FaultFileSystem } from '../support/fault-file-system.ts';
import { longPublication, publicationScenarios, rootScenario } from '../support/fault-scenarios.ts';
import { idOf, publishExample, refusalOf, storeAt, temporaryRoot } from '../support/stores.ts';

/** A block is written in pieces of 128 KiB. */
const PIECES_OF_BLOCK = 8;

describe('whichever operation of it fails, however it fails: all or nothing, told truthfully, kept as evidence', () => {
  test.each([...publicationScenarios, rootScenario])('$name', { timeout: 180_000 }, async (scenario) => {
    const { faults, violations } = await exhaustFaults(scenario);
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThan(50);
  });

  test('early write-back of a long payload', async () => {
    const { faults, violations } = await exhaustFaults(longPublication, {
      kinds: ['EIO', 'ENOSPC'],
      method: 'syncData',
    });
    expect(violations).toEqual([]);
    expect(faults).toBeGreaterThanOrEqual(2);
  });

  test('a file whose write-back fails while its end is written is not synced again', async () => {
    const root = temporaryRoot();
    const fileSystem = new FaultFileSystem(root);
    fileSystem.skipSyncs = true;
    const store = storeAt(root, { fileSystem });
    await store.prepare();
    const writes = () =>
      fileSystem.log.filter(({ method, path }) => method === 'writeSync' && path.endsWith('n.bin'));
    fileSystem.hook = async ({ method }) => {
      if (method === 'syncData') await vi.waitUntil(() => writes().length === 33 * PIECES_OF_BLOCK + 1);
    };
    fileSystem.arm({ at: 1, kind: 'EIO', method: 'syncData' });
    const error = await refusalOf(
      publishExample(store, idOf(1), { n: new Uint8Array(33 * 1024 * 1024 + 1) }),
      'publication_failed',
    );
    expect(causes(error)).toContain(fileSystem.injected);
    expect(fileSystem.log.filter(({ method, path }) => method === 'sync' && path.endsWith('n.bin'))).toEqual(
      [],
    );
    expect(fileSystem.open.size).toBe(0);
  });

  test('a rename that took place and was reported as failed is uncertain, never denied', async () => {
    const [, one] = publicationScenarios;
    const report = await exhaustFaults(
      {
        ...one!,
        codes: () => ['publication_uncertain'],
        judge: async ({ store }) => {
          const { snapshots } = await store.listSnapshots();
          return snapshots.length === 1 ? [] : ['the snapshot is not there'];
        },
      },
      { kinds: FAULT_ERRORS, method: 'rename', late: true },
    );
    expect(report).toMatchObject({ faults: FAULT_ERRORS.length, violations: [] });
  });
});

describe('a small payload whose write fails while the next one is received', () => {
  const failingWrite = async () => {
    const root = temporaryRoot();
    const fileSystem = new FaultFileSystem(root);
    const store = storeAt(root, { fileSystem });
    await store.prepare();
    // The first write is that of the intent.
    fileSystem.arm({ at: 2, kind: 'EIO', method: 'write' });
    const struck = () => vi.waitUntil(() => fileSystem.injected !== null);
    return { fileSystem, store, struck };
  };

  test('is told with the next chunk, not after all that may still come', async () => {
    const { fileSystem, store, struck } = await failingWrite();
    let sent = 0;
    const data = (async function* () {
      for (; sent < 100; sent += 1) {
        yield new Uint8Array(1000);
        await struck();
      }
    })();
    const publication = publishExample(store, idOf(1), {
      a: new Uint8Array(10),
      b: { dtype: 'uint8', data },
    });
    const error = await refusalOf(publication, 'publication_failed');
    expect(causes(error)).toContain(fileSystem.injected);
    expect(fileSystem.struck?.path).toMatch(/array-a\.bin$/u);
    expect(sent).toBeLessThan(5);
    expect(fileSystem.open.size).toBe(0);
  });

  test('is what is told, although the sender leaves after it', async () => {
    const { fileSystem, store, struck } = await failingWrite();
    const data = (async function* () {
      yield new Uint8Array(1000);
      await struck();
      throw new Error('the sender has left');
    })();
    const publication = publishExample(store, idOf(1), {
      a: new Uint8Array(10),
      b: { dtype: 'uint8', data },
    });
    expect(causes(await refusalOf(publication, 'publication_failed'))).toContain(fileSystem.injected);
    expect(fileSystem.open.size).toBe(0);
  });
});
