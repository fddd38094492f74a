/** Makes a root usable, or says in one sentence why it is not (PW-07.02: one local file system). */
import { dirname, resolve } from 'node:path';
import type { FileStat, FileSystem } from './file-system.ts';
import { errnoOf, isMissing } from './io-errors.ts';
import type { Layout } from './layout.ts';

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
  const made = await ensureDirectory(fs, layout.root);
  // The root may be reached through a link; the two rooms below it may not.
  for (const room of [layout.snapshots, layout.staging]) await ensureDirectory(fs, room, false);
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
