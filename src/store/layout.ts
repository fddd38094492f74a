/** The only file that knows where things lie under a root (PW-07.02). */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import { payloadFileName } from '../contract/package.ts';

export const SNAPSHOTS = 'snapshots';
export const STAGING = 'staging';

const ATTEMPT_PATTERN = /^[0-9a-f]{32}$/u;

export type AttemptName = string;

/** Absolute paths of one store. */
export interface Layout {
  readonly root: string;
  readonly snapshots: string;
  readonly staging: string;
}

export function layoutOf(root: string): Layout {
  return { root, snapshots: join(root, SNAPSHOTS), staging: join(root, STAGING) };
}

export function snapshotDirectory(layout: Layout, id: SnapshotId): string {
  return join(layout.snapshots, id);
}

export function attemptDirectory(layout: Layout, attempt: AttemptName): string {
  return join(layout.staging, attempt);
}

/** Where a snapshot lies or would lie, relative to the root: safe to show to people. */
export function snapshotLocation(id: SnapshotId): string {
  return `${SNAPSHOTS}/${id}`;
}

export function attemptLocation(attempt: AttemptName): string {
  return `${STAGING}/${attempt}`;
}

export function freshAttemptName(): AttemptName {
  return randomBytes(16).toString('hex');
}

export function isAttemptName(name: string): boolean {
  return ATTEMPT_PATTERN.test(name);
}

/** The longest path that any snapshot of this store may need: that of an array whose key is as long as keys may be. */
export function longestPath(layout: Layout): string {
  return payloadPath(snapshotDirectory(layout, '0'.repeat(32)), LONGEST_KEY);
}

/** The longest name that any file of this store may need, in a directory that is there. */
export function longestName(layout: Layout): string {
  return payloadPath(layout.staging, LONGEST_KEY);
}

const LONGEST_KEY: ArrayKey = 'k'.repeat(64);

export function payloadPath(directory: string, key: ArrayKey): string {
  return join(directory, payloadFileName(key));
}
