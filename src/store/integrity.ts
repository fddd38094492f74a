/** How proofs refuse: the words and details that all of them share (PW-07.03). */
import { arrayKeyOfFileName } from '../contract/package.ts';
import { StorageIntegrityError, UnsupportedPackageError } from '../contract/errors.ts';
import type { SnapshotId } from '../contract/ids.ts';

/** Gives a refusal the id of the snapshot it is about. */
export function named(error: unknown, snapshotId: SnapshotId): unknown {
  if (error instanceof StorageIntegrityError && error.details.snapshot_id === undefined) {
    return new StorageIntegrityError(
      `Snapshot ${snapshotId} cannot be proven. ${error.message}`,
      { ...error.details, snapshot_id: snapshotId },
      { cause: error.cause ?? error },
    );
  }
  if (error instanceof UnsupportedPackageError && error.details.snapshot_id === undefined) {
    return new UnsupportedPackageError(
      `Snapshot ${snapshotId} cannot be read. ${error.message}`,
      { ...error.details, snapshot_id: snapshotId },
      { cause: error.cause ?? error },
    );
  }
  return error;
}

export function missingFile(name: string, problem: 'marker' | 'manifest'): StorageIntegrityError {
  return new StorageIntegrityError(`${name} is missing.`, { problem, location: name });
}

/** Foreign file names are shown escaped and short: they may hold anything. */
export function quoted(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(short);
}

/** A location is given where it is one array's file. */
export function onlyLocation(names: readonly string[]): { location?: string } {
  const [name] = names;
  return names.length === 1 && name !== undefined && arrayKeyOfFileName(name) !== null
    ? { location: name }
    : {};
}

export function lengthChanged(file: string): StorageIntegrityError {
  return new StorageIntegrityError(`${file} became shorter while it was being read.`, {
    problem: 'length',
    location: file,
  });
}
