/** Ids and keys become parts of URLs, so they are checked before anything is sent. */
import {
  isArrayKey,
  isSnapshotId,
  payloadFileName,
  type ArrayKey,
  type SnapshotId,
} from '../contract/ids.ts';
import { refusedLocally } from './problem-errors.ts';

/** The path of a snapshot. Throws `InvalidSnapshotIdError`. */
export function snapshotPath(id: SnapshotId): string {
  if (isSnapshotId(id)) return `/snapshots/${id}`;
  throw refusedLocally(
    'invalid_snapshot_id',
    400,
    'Not a snapshot id',
    `A snapshot id is 32 lowercase hex digits; found ${JSON.stringify(String(id)).slice(0, 80)}.`,
    { expected: '32 lowercase hex digits' },
  );
}

/** The path of one array. Throws `InvalidSnapshotIdError` or a `ProblemError` `invalid_request`. */
export function arrayPath(id: SnapshotId, key: ArrayKey): string {
  const base = snapshotPath(id);
  if (isArrayKey(key)) return `${base}/${payloadFileName(key)}`;
  throw refusedLocally(
    'invalid_request',
    400,
    'Not an array key',
    `An array key matches [a-z][a-z0-9_]{0,63}; found ${JSON.stringify(String(key)).slice(0, 80)}.`,
    {},
  );
}
