/** A whole package on this side, byte for byte: filled in `<directory>.part`, then put in place by one rename. */
import { INTENT_FILE, MANIFEST_FILE, MARKER_FILE, markerBytes } from '../contract/package.ts';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ProvenManifest, SnapshotClient } from '../client/index.ts';
import { canonicalJson } from '../contract/canonical-json.ts';
import { sha256Hex } from '../contract/digest.ts';
import { digestOf, download, syncDirectory, writeWhole } from './download.ts';
import { reasonOf, UsageError } from './exit-codes.ts';

export type PackageProgress = (done: number, total: number) => void;

/** `present`: the directory held exactly this package already. Throws `UsageError` if it holds anything else. */
export async function downloadPackage(
  client: SnapshotClient,
  id: string,
  directory: string,
  onProgress: PackageProgress,
): Promise<{ readonly proven: ProvenManifest; readonly outcome: 'saved' | 'present' }> {
  const proven = await client.manifest(id);
  const target = resolve(directory);
  const files = filesOf(proven);
  const found = await namesIn(target);
  if (found !== null && found.length > 0) {
    if (await holds(target, found, files)) return { proven, outcome: 'present' };
    throw new UsageError(
      `${directory} is there and does not hold exactly this snapshot; choose another with -o`,
    );
  }
  const part = `${target}.part`;
  await mkdir(part, { recursive: true });
  await refuseStrangers(part, `${directory}.part`, files);
  await fill(client, proven, part, onProgress);
  await syncDirectory(part);
  await rename(part, target);
  await syncDirectory(dirname(target));
  return { proven, outcome: 'saved' };
}

async function fill(
  client: SnapshotClient,
  proven: ProvenManifest,
  part: string,
  onProgress: PackageProgress,
): Promise<void> {
  const { manifest, manifestBytes, manifestSha256 } = proven;
  const entries = Object.entries(manifest.arrays);
  const total = entries.reduce((sum, [, entry]) => sum + Number(entry.byte_length), 0);
  // As in the service's own order: the intent first, the marker last.
  if (proven.hasIntent) await writeWhole(join(part, INTENT_FILE), intentOf(proven));
  let done = 0;
  const onBytes = (count: number): void => {
    done += count;
    onProgress(done, total);
  };
  for (const [key, { file, byte_length: length, sha256 }] of entries) {
    const path = join(part, file);
    const byteLength = Number(length);
    if ((await digestOf(path)) === sha256) {
      onBytes(byteLength);
      continue;
    }
    await rm(path, { force: true });
    await download(client, { id: manifest.snapshot.snapshot_id, key, byteLength, sha256 }, path, onBytes);
  }
  await writeWhole(join(part, MANIFEST_FILE), manifestBytes);
  // A stored package is valid only with exactly these bytes as its marker (PW-07.03).
  await writeWhole(join(part, MARKER_FILE), markerBytes(manifestSha256));
}

/** Every file of the package with its SHA-256. */
function filesOf(proven: ProvenManifest): ReadonlyMap<string, string> {
  const { manifest, manifestSha256, hasIntent } = proven;
  return new Map([
    ...(hasIntent ? [[INTENT_FILE, sha256Hex(intentOf(proven))] as const] : []),
    ...Object.values(manifest.arrays).map(({ file, sha256 }) => [file, sha256] as const),
    [MANIFEST_FILE, manifestSha256],
    [MARKER_FILE, sha256Hex(markerBytes(manifestSha256))],
  ]);
}

/** A stored intent has exactly these bytes, or the service would not have proven the package (PW-07.03). */
function intentOf({ manifest }: ProvenManifest): Uint8Array {
  return canonicalJson({ snapshot_id: manifest.snapshot.snapshot_id });
}

async function holds(
  directory: string,
  names: readonly string[],
  files: ReadonlyMap<string, string>,
): Promise<boolean> {
  if (names.some((name) => !files.has(name))) return false;
  for (const [name, sha256] of files) {
    // The intent is optional: a copy made without it is this snapshot all the same.
    if (name === INTENT_FILE && !names.includes(name)) continue;
    if (!names.includes(name) || (await digestOf(join(directory, name))) !== sha256) return false;
  }
  return true;
}

/** What is not of this package would end up in it. */
async function refuseStrangers(
  part: string,
  shown: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  const stranger = (await readdir(part)).find((name) => !files.has(name.replace(/\.part$/u, '')));
  if (stranger === undefined) return;
  throw new UsageError(
    `${shown} holds ${JSON.stringify(stranger)}, which is not of this snapshot; remove ${shown}`,
  );
}

/** The names in a directory, or null if there is none. */
async function namesIn(directory: string): Promise<readonly string[] | null> {
  return readdir(directory).catch((error: unknown) => {
    if (reasonOf(error) === 'ENOENT') return null;
    throw new UsageError(`${directory} cannot be used as a directory (${reasonOf(error)})`);
  });
}
