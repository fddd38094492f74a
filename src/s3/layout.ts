/** The only file that knows where things lie on an engine (CONTRACT section 6), and what a commit says. */
import { canonicalJson } from '../contract/canonical-json.ts';
import { StorageIntegrityError } from '../contract/errors.ts';
import { isSnapshotId, SHA256_HEX_PATTERN, type SnapshotId } from '../contract/ids.ts';
import { parseStrictJson } from '../contract/strict-json.ts';
import { isAttemptName, SNAPSHOTS, snapshotLocation, type AttemptName } from '../store/layout.ts';
import { UnusableRootError } from '../store/root.ts';
import type { Bucket } from './objects.ts';

const S3_SCHEME = 's3://';

/** Commits, one for each snapshot, and nothing else. */
export const COMMITS = `${SNAPSHOTS}/`;
/** Packages, whole and not, each under the name of its attempt. */
export const PACKAGES = 'packages/';
/** By this object it is found out whether the engine keeps conditions; it lies beside both rooms and is written once. */
export const CONDITION_OBJECT = 'conditional-writes.txt';

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/u;

/** Throws `UnusableRootError` for what is not `s3://bucket` or `s3://bucket/prefix`. */
export function bucketOf(root: string): Bucket {
  const [bucket = '', ...rest] = root.slice(S3_SCHEME.length).split('/');
  if (rest.at(-1) === '') rest.pop();
  const isUsable =
    BUCKET.test(bucket) && rest.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  if (!root.startsWith(S3_SCHEME) || !isUsable) {
    throw new UnusableRootError(
      `${root} cannot be used: expected s3://bucket or s3://bucket/prefix, with a bucket of 3 to 63 small letters, digits, ` +
        'dots and hyphens, and a prefix without empty segments',
    );
  }
  return { bucket, prefix: rest.map((segment) => `${segment}/`).join('') };
}

export function commitName(id: SnapshotId): string {
  return snapshotLocation(id);
}

/** Where an attempt lies, relative to the root: safe to show to people. */
export function packageLocation(attempt: AttemptName): string {
  return `${PACKAGES}${attempt}`;
}

/** The name of a file of a package. */
export function fileName(attempt: AttemptName, file: string): string {
  return `${packageLocation(attempt)}/${file}`;
}

/** What makes a package a snapshot: written by one conditional PUT, the only moment of publication. */
export interface Commit {
  readonly attempt: AttemptName;
  /** 64 lowercase hex. */
  readonly manifestSha256: string;
  readonly snapshotId: SnapshotId;
}

/** Exactly these bytes, for everyone. */
export function commitBytes({ attempt, manifestSha256, snapshotId }: Commit): Uint8Array {
  return canonicalJson({ attempt, manifest_sha256: manifestSha256, snapshot_id: snapshotId });
}

/** Longer than any commit. */
export const MAX_COMMIT_BYTES = 512;

/** Throws `StorageIntegrityError` for whatever are not the exact bytes of a commit of this snapshot. */
export function parseCommit(bytes: Uint8Array, id: SnapshotId): Commit {
  const commit = commitOf(bytes);
  if (commit?.snapshotId === id && Buffer.from(commitBytes(commit)).equals(bytes)) return commit;
  throw new StorageIntegrityError(
    `Snapshot ${id} cannot be proven. ${commitName(id)} must hold its commit in canonical JSON: the attempt, the SHA-256 of ` +
      'its manifest, and this id.',
    { problem: 'package', snapshot_id: id },
  );
}

function commitOf(bytes: Uint8Array): Commit | null {
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = Object(parseStrictJson(bytes)) as typeof fields;
  } catch {
    return null;
  }
  const { attempt, manifest_sha256: manifestSha256, snapshot_id: snapshotId } = fields;
  if (typeof attempt !== 'string' || !isAttemptName(attempt)) return null;
  if (typeof manifestSha256 !== 'string' || !SHA256_HEX_PATTERN.test(manifestSha256)) return null;
  return isSnapshotId(snapshotId) ? { attempt, manifestSha256, snapshotId } : null;
}
