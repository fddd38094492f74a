/** A store on disk without a service: only looked at, never changed. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Declarations } from '../contract/contexts.ts';
import { SNAPSHOTS } from '../store/layout.ts';
import { LocalSnapshotStore } from '../store/local-snapshot-store.ts';
import { workerProver } from '../store/worker-prover.ts';
import { reasonOf, UsageError } from './exit-codes.ts';

export interface LocalStore {
  readonly store: LocalSnapshotStore;
  /** The names of all entries of `snapshots/`, in order. */
  readonly names: readonly string[];
}

/** The caller closes the store. Throws `UsageError` if there is none at `root`. */
export async function openLocalStore(
  root: string,
  declarations: Declarations,
  threads?: number,
): Promise<LocalStore> {
  const names = await readdir(join(root, SNAPSHOTS)).catch((error: unknown) => {
    throw new UsageError(
      `${root} is no store: its directory ${SNAPSHOTS} cannot be listed (${reasonOf(error)})`,
    );
  });
  const prover = workerProver(declarations, threads);
  return { store: new LocalSnapshotStore(root, { declarations, prover }), names: names.sort() };
}
