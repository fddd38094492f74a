/**
 * Arrays of snapshots that lie elsewhere, fetched into files outside any store: each is proven once as it lies there, and
 * then read like one of a package on this disk.
 */
import { basename, dirname } from 'node:path';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { ArrayEntry } from '../contract/manifest.ts';
import { BlockPool } from './blocks.ts';
import { Engine, inlineExecutor, type Executor } from './engine.ts';
import { nodeFileSystem } from './node-file-system.ts';
import type { KnownProofs } from './payload-proof.ts';
import { openProvenArray, type StoredPayload } from './reading.ts';

export interface FetchedArray {
  /** Of the file with its bytes. */
  readonly path: string;
  readonly snapshotId: SnapshotId;
  readonly key: ArrayKey;
  /** Of the proven manifest. */
  readonly entry: ArrayEntry;
}

export class FetchedArrays {
  readonly executor: Executor = inlineExecutor(
    new Engine(nodeFileSystem, { algorithms: [], contexts: [] }, 0),
  );
  readonly #blocks = new BlockPool();
  /** By path. */
  readonly #proofs = new Map<string, Promise<KnownProofs>>();

  /** The caller must `close` it. Throws `StorageIntegrityError` where the file does not hold what the manifest says. */
  async open({ path, snapshotId, key, entry }: FetchedArray, signal?: AbortSignal): Promise<StoredPayload> {
    const directory = dirname(path);
    const fetched = { ...entry, file: basename(path) };
    const request = { directory, snapshotId, claims: [fetched], withMacs: true };
    const proving = this.#proofs.get(path) ?? this.executor.run('prove', request, signal);
    this.#proofs.set(path, proving);
    const about = { snapshotId, key, entry: fetched, manifestSha256: '' };
    const context = { fs: nodeFileSystem, executor: this.executor, blocks: this.#blocks };
    return openProvenArray(context, directory, about, { proofs: await proving }, signal);
  }
}
