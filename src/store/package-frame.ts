/** The frame of a package: a real directory of exactly the files it lists, named and intended for one snapshot. */
import { INTENT_FILE, MANIFEST_FILE, MARKER_FILE, intentBytes } from '../contract/package.ts';
import { SnapshotNotFoundError, StorageIntegrityError } from '../contract/errors.ts';
import type { Manifest } from '../contract/manifest.ts';
import type { DirectoryEntry, FileSystemReader } from './file-system.ts';
import { onlyLocation, quoted } from './integrity.ts';
import { isMissing } from './io-errors.ts';
import { readAtMost, readFailure, withFile } from './stored-file.ts';
import type { VerificationRequest } from './verification-request.ts';

export function listPackage(fs: FileSystemReader, request: VerificationRequest): DirectoryEntry[] {
  try {
    const { kind } = fs.statEntry(request.directory);
    if (kind !== 'directory') {
      throw new StorageIntegrityError(`The package must be a real directory, found a ${kind}.`, {
        problem: 'package',
      });
    }
    return fs.listDirectory(request.directory);
  } catch (error) {
    if (isMissing(error)) throw new SnapshotNotFoundError(request.snapshotId);
    throw readFailure(error, 'The package directory', 'package');
  }
}

/** No links, no sub-directories, no devices: judged from the listing, before anything is opened. */
export function refuseIrregularEntries(entries: readonly DirectoryEntry[]): void {
  const irregular = entries.filter((entry) => entry.kind !== 'file');
  if (irregular.length === 0) return;
  throw new StorageIntegrityError(
    `Only regular files may lie in a package, found ${irregular.map((e) => `${quoted(e.name)} (${e.kind})`).join(', ')}.`,
    { problem: 'inventory', ...onlyLocation(irregular.map((entry) => entry.name)) },
  );
}

export function checkIdentity(manifest: Manifest, request: VerificationRequest): void {
  const actual = manifest.snapshot.snapshot_id;
  if (actual === request.snapshotId) return;
  throw new StorageIntegrityError(`${MANIFEST_FILE} names another snapshot than the one it is stored for.`, {
    problem: 'manifest',
    location: MANIFEST_FILE,
    expected: request.snapshotId,
    actual,
  });
}

/** Exactly the manifest, the marker, the listed arrays and optionally the intent (PW-07.03). */
export function checkInventory(
  manifest: Manifest,
  present: ReadonlySet<string>,
  stage: VerificationRequest['stage'],
): void {
  const expected = new Set([MANIFEST_FILE, ...Object.values(manifest.arrays).map((entry) => entry.file)]);
  if (stage === 'complete') expected.add(MARKER_FILE);
  const lacking = [...expected].filter((name) => !present.has(name));
  const extra = [...present].filter((name) => !expected.has(name) && name !== INTENT_FILE);
  if (lacking.length === 0 && extra.length === 0) return;
  const found = [
    ...lacking.map((name) => `${quoted(name)} is missing`),
    ...extra.map((name) => `${quoted(name)} does not belong to it`),
  ];
  const more = found.length > 10 ? ` and ${found.length - 10} more` : '';
  throw new StorageIntegrityError(
    `The package must hold exactly its listed files: ${found.slice(0, 10).join(', ')}${more}.`,
    {
      problem: 'inventory',
      ...onlyLocation([...lacking, ...extra]),
    },
  );
}

export function checkIntent(fs: FileSystemReader, request: VerificationRequest): void {
  const expected = Buffer.from(intentBytes(request.snapshotId));
  const actual = withFile(fs, `${request.directory}/${INTENT_FILE}`, INTENT_FILE, 'intent', (file) =>
    readAtMost(fs, file, expected.length),
  );
  if (expected.equals(actual)) return;
  throw new StorageIntegrityError(
    `${INTENT_FILE} must name this snapshot in canonical JSON and nothing else.`,
    {
      problem: 'intent',
      location: INTENT_FILE,
      expected: expected.toString('utf8'),
    },
  );
}
