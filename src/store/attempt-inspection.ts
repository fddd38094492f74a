/** Judges one staging entry without changing anything; advisory while publications run (PW-07.04, PW-07.18). */
import { INTENT_FILE, MARKER_FILE, intentBytes } from '../contract/package.ts';
import { isAnySnapshotError, type SnapshotError } from '../contract/errors.ts';
import { isSnapshotId, type SnapshotId } from '../contract/ids.ts';
import type { IncompleteAttempt, Phase } from '../contract/listings.ts';
import { parseStrictJson } from '../contract/strict-json.ts';
import type { DirectoryEntry, FileStat, FileSystemReader } from './file-system.ts';
import { errnoOf, isMissing, readAtMost, withFile } from './io.ts';
import { isAttemptName, STAGING } from './layout.ts';
import type { Turn } from './payload-proof.ts';
import { quoted, verifyPackage, type VerificationContext } from './verification.ts';

const MAX_INTENT_BYTES = 256;

interface Facts {
  readonly name: string;
  readonly snapshotId: SnapshotId | null;
  readonly byteLength: bigint;
  readonly modifiedNs: bigint | null;
}

/** Null where the entry is gone: a publication renamed it away after it was listed. */
export async function inspectAttempt(
  context: VerificationContext,
  staging: string,
  name: string,
  turn: Turn,
): Promise<IncompleteAttempt | null> {
  const { fs } = context;
  const directory = `${staging}/${name}`;
  let facts: Facts = { name, snapshotId: null, byteLength: 0n, modifiedNs: null };
  try {
    const own = fs.statEntry(directory);
    facts = { ...facts, modifiedNs: own.mtimeNs };
    if (own.kind !== 'directory') {
      const size = own.kind === 'file' ? own.size : 0n;
      return report(
        { ...facts, byteLength: size },
        'INVALID',
        `An attempt must be a directory, found a ${own.kind}.`,
      );
    }
    const entries = fs.listDirectory(directory);
    facts = measure(fs, directory, own, entries, facts);
    const intent = entries.some((entry) => entry.name === INTENT_FILE && entry.kind === 'file');
    if (intent) facts = { ...facts, snapshotId: readIntent(fs, directory) };
    return await judge(context, directory, entries, facts, intent, turn);
  } catch (error) {
    return failed(fs, directory, facts, error);
  }
}

async function judge(
  context: VerificationContext,
  directory: string,
  entries: readonly DirectoryEntry[],
  facts: Facts,
  intent: boolean,
  turn: Turn,
): Promise<IncompleteAttempt> {
  const { name, snapshotId } = facts;
  if (!isAttemptName(name)) {
    return report(facts, 'INVALID', 'The name is not that of an attempt (32 lowercase hex digits).');
  }
  const irregular = entries.find((entry) => entry.kind !== 'file');
  if (irregular !== undefined) {
    const found = `${quoted(irregular.name)} is a ${irregular.kind}`;
    return report(facts, 'INVALID', `An attempt holds regular files only; ${found}.`);
  }
  if (!intent)
    return report(facts, 'INVALID', `${INTENT_FILE} is missing: the attempt ended before it was written.`);
  if (snapshotId === null) {
    return report(facts, 'INVALID', `${INTENT_FILE} does not name a snapshot in canonical JSON.`);
  }
  if (!entries.some((entry) => entry.name === MARKER_FILE)) {
    const files = entries.length - 1;
    const held = files === 1 ? '1 further file' : `${files} further files`;
    return report(
      facts,
      'STAGING',
      `No completion marker: still being written, refused, or interrupted, with ${held}.`,
    );
  }
  await verifyPackage(context, { directory, snapshotId, stage: 'complete', payloads: 'all' }, turn);
  return report(
    facts,
    'VALIDATED',
    'A complete package that was not renamed into snapshots/: it is not published.',
  );
}

function failed(
  fs: FileSystemReader,
  directory: string,
  facts: Facts,
  error: unknown,
): IncompleteAttempt | null {
  if (wasRenamedAway(fs, directory, facts.name)) return null;
  if (isAnySnapshotError(error)) {
    const unreadable =
      error.code === 'unavailable' || (error.code === 'storage_integrity' && isUnreadable(error));
    return report(facts, unreadable ? 'UNAVAILABLE' : 'INVALID', error.message);
  }
  const code = errnoOf(error);
  if (code === undefined) throw error;
  return report(facts, 'UNAVAILABLE', `The attempt cannot be read (${code}).`);
}

function isUnreadable(error: SnapshotError): boolean {
  return 'problem' in error.details && error.details.problem === 'unreadable';
}

/** Only attempts leave staging; a foreign name that was listed and is not found stays in sight. */
function wasRenamedAway(fs: FileSystemReader, directory: string, name: string): boolean {
  if (!isAttemptName(name)) return false;
  try {
    fs.statEntry(directory);
    return false;
  } catch (error) {
    return isMissing(error);
  }
}

function readIntent(fs: FileSystemReader, directory: string): SnapshotId | null {
  const bytes = withFile(fs, `${directory}/${INTENT_FILE}`, INTENT_FILE, 'intent', (file) =>
    readAtMost(fs, file, MAX_INTENT_BYTES),
  );
  try {
    const value = parseStrictJson(bytes);
    if (value === null || typeof value !== 'object' || !('snapshot_id' in value)) return null;
    const id = value['snapshot_id'];
    if (!isSnapshotId(id)) return null;
    return Buffer.from(intentBytes(id)).equals(bytes) ? id : null;
  } catch {
    return null;
  }
}

function measure(
  fs: FileSystemReader,
  directory: string,
  own: FileStat,
  entries: readonly DirectoryEntry[],
  facts: Facts,
): Facts {
  let byteLength = 0n;
  let modifiedNs = own.mtimeNs;
  for (const entry of entries) {
    if (entry.kind !== 'file') continue;
    const stat = fs.statEntry(`${directory}/${entry.name}`);
    byteLength += stat.size;
    if (stat.mtimeNs > modifiedNs) modifiedNs = stat.mtimeNs;
  }
  return { ...facts, byteLength, modifiedNs };
}

function report(facts: Facts, phase: Phase, diagnostic: string): IncompleteAttempt {
  return {
    path: `${STAGING}/${facts.name}`,
    snapshot_id: facts.snapshotId,
    phase,
    diagnostic,
    byte_length: String(facts.byteLength),
    modified_at: facts.modifiedNs === null ? null : isoTime(facts.modifiedNs),
  };
}

/** Null for times that ISO 8601 has no four-digit year for: file systems store any 64-bit number. */
function isoTime(epochNs: bigint): string | null {
  const time = new Date(Number(epochNs / 1_000_000n));
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
