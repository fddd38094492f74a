/** What lies in packages/ and is no snapshot: each attempt that no commit names, judged without changing anything (PW-07.18). */
import type { SnapshotId } from '../contract/ids.ts';
import type { IncompleteAttempt } from '../contract/listings.ts';
import { parseManifest } from '../contract/manifest.ts';
import { INTENT_FILE, MANIFEST_FILE } from '../contract/package.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import { ByteBoundedCache } from '../store/byte-bounded-cache.ts';
import {
  idOfIntent,
  judgeAttempt,
  MAX_INTENT_BYTES,
  refusedAttempt,
  report,
  type AttemptFacts,
  type StagingSource,
} from '../store/inspection.ts';
import { isAttemptName } from '../store/layout.ts';
import { MAX_MANIFEST_BYTES } from '../store/package-checks.ts';
import { PACKAGES, packageLocation } from './layout.ts';
import type { ListedObject, Objects } from './objects.ts';
import { entriesOf, type Packages } from './reading.ts';

/** Attempts that are looked at at once. */
const WIDTH = 8;
/** Attempts known to be snapshots, which they stay for ever: what is remembered of them, and what one takes. */
const KNOWN_BYTES = 8 * 1024 * 1024;
const KNOWN_ONE = 160;

/** Attempts in the engine's own order of keys. */
export function attemptsSource(objects: Objects, packages: Packages): StagingSource {
  const published = new ByteBoundedCache<string, true>(KNOWN_BYTES);
  return {
    names: { areOrdered: true, from: (after) => attemptNames(objects, after) },
    inspect: async (name, signal) => {
      if (published.get(name) !== undefined) return null;
      const attempt = await inspect(packages, name, signal);
      if (attempt === null) published.set(name, true, KNOWN_ONE);
      return attempt;
    },
    width: WIDTH,
  };
}

async function* attemptNames(
  objects: Objects,
  after: string | undefined,
): AsyncGenerator<readonly string[], void, void> {
  const start = after === undefined ? undefined : Buffer.from(after, 'latin1').toString('utf8');
  for await (const page of objects.list(PACKAGES, { after: start, deep: false })) {
    const found = [...page.deeper.map((name) => name.slice(0, -1)), ...page.objects.map(({ name }) => name)];
    // Each character one byte, as the names of a directory come; an engine may tell the start again.
    const names = found.map((name) => Buffer.from(name, 'utf8').toString('latin1')).sort();
    yield names.filter((name) => after === undefined || name > after);
  }
}

/** Null where a commit names it. */
async function inspect(
  packages: Packages,
  name: string,
  signal: AbortSignal,
): Promise<IncompleteAttempt | null> {
  let facts: AttemptFacts = {
    path: packageLocation(name),
    name,
    snapshotId: null,
    byteLength: 0n,
    modifiedNs: null,
  };
  try {
    const listed = await packages.list(name, signal);
    facts = { ...facts, ...measure(listed) };
    if (listed.length === 0)
      return report(facts, 'INVALID', 'An attempt must hold objects, found one of its name.');
    const intent = await packages.readFile(name, INTENT_FILE, MAX_INTENT_BYTES, signal);
    if (intent !== null) facts = { ...facts, snapshotId: idOfIntent(intent) };
    if (isAttemptName(name) && (await isCommitted(packages, facts, signal))) return null;
    const prove = async (snapshotId: SnapshotId): Promise<void> => {
      await packages.provePayloads(await packages.proveAttempt(name, snapshotId, signal), { signal });
    };
    return await judgeAttempt(facts, entriesOf(listed), prove, NOT_COMMITTED);
  } catch (error) {
    if (isAnySnapshotError(error)) return refusedAttempt(facts, error);
    throw error;
  }
}

const NOT_COMMITTED = 'A complete package that no commit in snapshots/ names: it is not published.';

/** Of a package without an intent the manifest says which commit would name it. */
async function isCommitted(
  packages: Packages,
  { name, snapshotId }: AttemptFacts,
  signal: AbortSignal,
): Promise<boolean> {
  const id = snapshotId ?? (await idOfManifest(packages, name, signal));
  if (id === null) return false;
  try {
    return (await packages.commitOf(id, signal))?.attempt === name;
  } catch (error) {
    // What is no commit names nothing; that it lies there is told by listings.
    if (isAnySnapshotError(error) && error.code === 'storage_integrity') return false;
    throw error;
  }
}

async function idOfManifest(
  packages: Packages,
  name: string,
  signal: AbortSignal,
): Promise<SnapshotId | null> {
  const bytes = await packages.readFile(name, MANIFEST_FILE, MAX_MANIFEST_BYTES, signal);
  if (bytes === null) return null;
  try {
    return parseManifest(bytes).snapshot.snapshot_id;
  } catch {
    return null;
  }
}

function measure(listed: readonly ListedObject[]): Pick<AttemptFacts, 'byteLength' | 'modifiedNs'> {
  let byteLength = 0n;
  let modifiedNs: bigint | null = null;
  for (const { size, modifiedMs } of listed) {
    byteLength += BigInt(size);
    const changedNs = modifiedMs === null ? null : BigInt(modifiedMs) * 1_000_000n;
    if (changedNs !== null && (modifiedNs === null || changedNs > modifiedNs)) modifiedNs = changedNs;
  }
  return { byteLength, modifiedNs };
}
