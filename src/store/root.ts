/** The root of a store: made usable at the start (PW-07.02: one local file system), and watched while it is used. */
import { basename, dirname, resolve } from 'node:path';
import { isAnySnapshotError, SnapshotError } from '../contract/errors.ts';
import type { FileStat, FileSystem, FileSystemReader } from './file-system.ts';
import { errnoOf, isMissing } from './io.ts';
import { longestName, longestPath, type Layout } from './layout.ts';

/** A root that cannot hold a store. The message is complete and names the path: it is meant for the operator. */
export class UnusableRootError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnusableRootError';
  }
}

/**
 * Creates what is missing and makes durable what is there. Found directories are synced like made ones: whoever made
 * them, or renamed a snapshot into them, may have ended before its own sync, and what this process shows or builds upon
 * must not vanish in a power cut (PW-07.04). Throws `UnusableRootError` for a root that publication could not work on.
 */
export async function prepareRoot(fs: FileSystem, layout: Layout, mountTable?: string): Promise<void> {
  refuseTooLong(fs, layout, longestPath(layout));
  const made = await ensureDirectory(fs, layout.root);
  // The root may be reached through a link; the two rooms below it may not.
  for (const room of [layout.snapshots, layout.staging]) await ensureDirectory(fs, room, false);
  refuseTooLong(fs, layout, longestName(layout));
  refuseTwoFileSystems(fs, layout, mountTable);
  // The directory that holds a root made by others may be closed to this process.
  await syncNames(fs, dirname(layout.root), made ? [] : ['EROFS', 'EACCES', 'EPERM', 'EINVAL']);
  for (const path of [layout.root, layout.snapshots, layout.staging]) await syncNames(fs, path, ['EROFS']);
}

async function syncNames(fs: FileSystem, path: string, tolerated: readonly string[]): Promise<void> {
  try {
    await fs.syncDirectory(path);
  } catch (error) {
    if (!tolerated.includes(errnoOf(error) ?? '')) throw unusable(path, error);
  }
}

/** True where the directory had to be made; then its name is not durable yet. */
async function ensureDirectory(fs: FileSystem, path: string, mayBeLink = true): Promise<boolean> {
  try {
    const { kind } = fs.statEntry(path);
    if (kind === 'directory') return false;
    if (kind === 'link' && mayBeLink && isDirectoryBehindLink(fs, path)) return false;
    throw new UnusableRootError(`${path} must be a directory, found a ${kind}. Choose another root.`);
  } catch (error) {
    if (!isMissing(error)) throw unusable(path, error);
  }
  const parent = dirname(path);
  if (parent !== path && (await ensureDirectory(fs, parent))) await syncNames(fs, dirname(parent), []);
  try {
    await fs.makeDirectory(path);
  } catch (error) {
    // Another process may have made it in between, which is as good.
    if (errnoOf(error) !== 'EEXIST') throw unusable(path, error);
  }
  return true;
}

function isDirectoryBehindLink(fs: FileSystem, path: string): boolean {
  try {
    // Not `join`, which would drop the dot that makes the system follow the link.
    return fs.statEntry(`${path}/.`).kind === 'directory';
  } catch {
    return false;
  }
}

/**
 * A snapshot whose files have longer paths than those of its attempt could be published and never read again: what any key
 * may need is asked of the system itself, which knows its own limits.
 */
function refuseTooLong(fs: FileSystem, layout: Layout, path: string): void {
  try {
    fs.statEntry(path);
  } catch (error) {
    if (isMissing(error) || errnoOf(error) === 'ENOTDIR') return;
    if (errnoOf(error) !== 'ENAMETOOLONG') throw unusable(layout.root, error);
    const length = Buffer.byteLength(path);
    throw new UnusableRootError(
      `${layout.root} cannot be used: the path of an array may be ${length} bytes long under it, its name ` +
        `${Buffer.byteLength(basename(path))}, and the system takes no path or name of that length. Choose a shorter root.`,
      { cause: error },
    );
  }
}

function unusable(path: string, error: unknown): UnusableRootError {
  if (error instanceof UnusableRootError) return error;
  const code = errnoOf(error) ?? (error instanceof Error ? error.message : 'unknown error');
  return new UnusableRootError(`${path} cannot be used (${code}). Check that it exists and may be written.`, {
    cause: error,
  });
}

/** A rename between two mounts fails with EXDEV at the end of every upload: say so before the first one. */
function refuseTwoFileSystems(fs: FileSystem, layout: Layout, mountTable: string | undefined): void {
  const snapshots = statRoom(fs, layout.snapshots);
  const staging = statRoom(fs, layout.staging);
  const mounts = mountPoints(mountTable);
  const apart =
    snapshots.dev !== staging.dev ||
    mounts.has(resolve(layout.snapshots)) !== mounts.has(resolve(layout.staging)) ||
    (mounts.has(resolve(layout.snapshots)) && mounts.has(resolve(layout.staging)));
  if (!apart) return;
  throw new UnusableRootError(
    `${layout.snapshots} and ${layout.staging} lie on different file systems or mounts, between which nothing can be ` +
      'renamed. Put both on one.',
  );
}

function statRoom(fs: FileSystem, path: string): FileStat {
  try {
    return fs.statEntry(path);
  } catch (error) {
    throw unusable(path, error);
  }
}

/** Mount points of a Linux `/proc/self/mountinfo` (fifth column, octal escapes); a bind mount keeps its device number. */
function mountPoints(mountTable: string | undefined): ReadonlySet<string> {
  const points = new Set<string>();
  for (const line of (mountTable ?? '').split('\n')) {
    const point = line.split(' ')[4];
    if (point !== undefined) {
      points.add(point.replace(/\\(\d{3})/gu, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))));
    }
  }
  return points;
}

const RETRY_AFTER_SECONDS = 5;

/** What tells a directory from every other that may come to stand in its place. */
type RoomStamp = Pick<FileStat, 'dev' | 'ino' | 'bornNs'>;

/** The directories of a store as they were found at the start; null what was not found by then. */
export interface StoreRooms {
  readonly snapshots: RoomStamp | null;
  readonly staging: RoomStamp | null;
}

interface Room {
  readonly name: string;
  readonly path: string;
  /** Null until it was found for the first time. */
  seen: RoomStamp | null;
}

/**
 * The two rooms of a store as they were when it was first used. A disk that was unmounted, or a directory that was moved
 * away or exchanged, must neither pass for a store in which nothing was published nor take a published id again: while a
 * room is not the one of the start, everything that would look into it is refused with `unavailable`.
 */
export class StoreIdentity {
  readonly #fs: FileSystemReader;
  readonly #snapshots: Room;
  readonly #staging: Room;

  /** @param known the rooms as another process of the same service has found them at its start */
  constructor(fs: FileSystemReader, layout: Layout, known: StoreRooms | null = null) {
    this.#fs = fs;
    this.#snapshots = { name: 'snapshots/', path: layout.snapshots, seen: known?.snapshots ?? null };
    this.#staging = { name: 'staging/', path: layout.staging, seen: known?.staging ?? null };
  }

  get rooms(): StoreRooms {
    return { snapshots: this.#snapshots.seen, staging: this.#staging.seen };
  }

  /** Whether a room was seen by now; one that never was may still be made. */
  get isKnown(): boolean {
    return this.#snapshots.seen !== null || this.#staging.seen !== null;
  }

  /** Throws `unavailable` unless both rooms are those of the start. */
  check(): void {
    this.#look(this.#snapshots);
    this.#look(this.#staging);
  }

  /** Throws `unavailable` unless `snapshots/` is that of the start; false where no such room was ever seen. */
  checkSnapshots(): boolean {
    return this.#look(this.#snapshots);
  }

  /** The same for `staging/`. */
  checkStaging(): boolean {
    return this.#look(this.#staging);
  }

  /**
   * Runs what looks into `snapshots/`. That something is not there, or cannot be read, says nothing where the directory went
   * away meanwhile: then that is what is told.
   */
  async reading<T>(read: () => Promise<T>): Promise<T> {
    this.checkSnapshots();
    try {
      return await read();
    } catch (error) {
      if (isAnySnapshotError(error) || errnoOf(error) !== undefined) this.checkSnapshots();
      throw error;
    }
  }

  #look(room: Room): boolean {
    let found: FileStat;
    try {
      found = this.#fs.statEntry(room.path);
    } catch (error) {
      if (!isMissing(error))
        throw away(room.name, `cannot be looked at (${errnoOf(error) ?? 'unexpected error'})`, error);
      if (room.seen === null) return false;
      throw away(room.name, 'is gone', error);
    }
    if (found.kind !== 'directory') throw away(room.name, `is no directory any more but a ${found.kind}`);
    room.seen ??= { dev: found.dev, ino: found.ino, bornNs: found.bornNs };
    const { dev, ino, bornNs } = room.seen;
    if (found.dev === dev && found.ino === ino && found.bornNs === bornNs) return true;
    throw away(room.name, 'is another directory than at the start');
  }
}

function away(name: string, what: string, cause?: unknown): SnapshotError<'unavailable'> {
  return new SnapshotError(
    'unavailable',
    `The store's directory ${name} ${what}: nothing is read from it and nothing published. Whoever runs the service must ` +
      'put the directory of the start back, or start the service anew on the one that is there.',
    { retry_after_seconds: RETRY_AFTER_SECONDS },
    { cause },
  );
}
