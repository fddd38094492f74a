/** Makes a root usable, or says in one sentence why it is not (PW-07.02: one local file system). */
import { dirname, join, resolve } from 'node:path';
import type { FileSystem } from './file-system.ts';
import { errnoOf, isMissing } from './io-errors.ts';
import { SNAPSHOTS, STAGING, type Layout } from './layout.ts';

/** A root that cannot hold a store. The message is complete and names the path: it is meant for the operator. */
export class UnusableRootError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnusableRootError';
  }
}

/** Creates what is missing, durably; throws `UnusableRootError` for a root that publication could not work on. */
export async function prepareRoot(fs: FileSystem, layout: Layout, mountTable?: string): Promise<void> {
  await makeDurable(fs, layout.root);
  await makeDurable(fs, layout.snapshots);
  await makeDurable(fs, layout.staging);
  refuseTwoFileSystems(fs, layout, mountTable);
}

async function makeDurable(fs: FileSystem, path: string): Promise<void> {
  try {
    const { kind } = fs.statEntry(path);
    if (kind === 'directory') return;
    // A root may be reached through a link; the two rooms below it may not.
    if (kind === 'link' && isDirectoryBehindLink(fs, path)) return;
    throw new UnusableRootError(`${path} must be a directory, found a ${kind}. Choose another root.`);
  } catch (error) {
    if (!isMissing(error)) throw unusable(path, error);
  }
  const parent = dirname(path);
  if (parent !== path) await makeDurable(fs, parent);
  try {
    await fs.makeDirectory(path);
    await fs.syncDirectory(parent);
  } catch (error) {
    // Another process may have made it in between, which is as good.
    if (errnoOf(error) !== 'EEXIST') throw unusable(path, error);
  }
}

function isDirectoryBehindLink(fs: FileSystem, path: string): boolean {
  if (path.endsWith(`/${SNAPSHOTS}`) || path.endsWith(`/${STAGING}`)) return false;
  try {
    return fs.statEntry(join(path, '.')).kind === 'directory';
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
  const snapshots = fs.statEntry(layout.snapshots);
  const staging = fs.statEntry(layout.staging);
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
