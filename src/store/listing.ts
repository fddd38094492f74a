/** Lists published snapshots, each proven; what cannot be proven fails the listing by name (PW-07.18). */
import pMap from 'p-map';
import { SnapshotError, StorageIntegrityError, summarize, type Violation } from '../contract/errors.ts';
import { isSnapshotId, type SnapshotId } from '../contract/ids.ts';
import type { SnapshotSummary } from '../contract/listings.ts';
import type { ProvenManifest } from '../contract/opened.ts';
import { quoted } from './verification.ts';

export interface ListingQuery {
  /** At most this many; absent means all. */
  readonly limit?: number;
  /** Only ids after this one. */
  readonly after?: string;
  readonly sourceNamespace?: string;
  readonly parentId?: SnapshotId;
}

export interface SnapshotListing {
  readonly snapshots: readonly SnapshotSummary[];
  /** Pass as `after` to go on; null at the end. */
  readonly next: SnapshotId | null;
}

interface Problem extends Violation {
  /** The refusal of a package; null for a foreign entry. */
  readonly cause: SnapshotError | null;
}

/**
 * `names` are all entries of `snapshots/`; a foreign one fails every listing, as it may be what is left of a snapshot.
 * Ids are proven in order, `parallelism` at a time, only as far as the page needs.
 */
export async function listSnapshots(
  names: readonly string[],
  query: ListingQuery,
  parallelism: number,
  prove: (id: SnapshotId) => Promise<Pick<ProvenManifest, 'manifest' | 'manifestSha256'>>,
): Promise<SnapshotListing> {
  const problems: Problem[] = names
    .filter((name) => !isSnapshotId(name))
    .map((name) => ({
      path: shown(name),
      message: 'does not belong into snapshots/: its name is not a snapshot id',
      cause: null,
    }));
  const { after, limit } = query;
  const ids = names.filter((name) => isSnapshotId(name) && (after === undefined || name > after)).sort();
  const found: SnapshotSummary[] = [];
  const wanted = limit === undefined ? Infinity : limit + 1;
  let position = 0;
  while (position < ids.length && found.length < wanted) {
    const filtered = query.sourceNamespace !== undefined || query.parentId !== undefined;
    const step = limit === undefined || filtered ? ids.length : Math.min(ids.length, wanted - found.length);
    const batch = ids.slice(position, position + Math.min(step, parallelism * 16));
    position += batch.length;
    const summaries = await proveAll(batch, parallelism, prove, problems);
    found.push(...summaries.filter((summary) => matches(summary, query)));
  }
  if (problems.length > 0) throw listingFailure(problems);
  const page = limit === undefined ? found : found.slice(0, limit);
  return { snapshots: page, next: found.length > page.length ? (page.at(-1)?.snapshot_id ?? null) : null };
}

async function proveAll(
  ids: readonly SnapshotId[],
  parallelism: number,
  prove: (id: SnapshotId) => Promise<Pick<ProvenManifest, 'manifest' | 'manifestSha256'>>,
  problems: Problem[],
): Promise<SnapshotSummary[]> {
  const summarizeOne = async (id: SnapshotId): Promise<SnapshotSummary | undefined> => {
    try {
      return summarizeManifest(await prove(id));
    } catch (error) {
      if (!(error instanceof SnapshotError) || error.code === 'unavailable') throw error;
      problems.push({ path: id, message: error.message, cause: error });
      return undefined;
    }
  };
  const summaries = await pMap(ids, summarizeOne, { concurrency: parallelism * 2 });
  return summaries.filter((summary) => summary !== undefined);
}

function matches(summary: SnapshotSummary, query: ListingQuery): boolean {
  return (
    (query.sourceNamespace === undefined || summary.source_namespace === query.sourceNamespace) &&
    (query.parentId === undefined || summary.parent_id === query.parentId)
  );
}

function summarizeManifest({
  manifest,
  manifestSha256,
}: Pick<ProvenManifest, 'manifest' | 'manifestSha256'>): SnapshotSummary {
  const { snapshot, arrays } = manifest;
  const entries = Object.values(arrays);
  return {
    snapshot_id: snapshot.snapshot_id,
    parent_id: snapshot.parent_id,
    source_namespace: snapshot.source_namespace,
    source_version: snapshot.source_version,
    scope: snapshot.scope,
    resolution: snapshot.resolution,
    coverage_status: snapshot.coverage.status,
    started_at_ns: snapshot.started_at_ns,
    finished_at_ns: snapshot.finished_at_ns,
    array_count: entries.length,
    byte_length: String(entries.reduce((sum, entry) => sum + BigInt(entry.byte_length), 0n)),
    manifest_sha256: manifestSha256,
  };
}

function listingFailure(problems: readonly Problem[]): StorageIntegrityError {
  const sorted = [...problems].sort((a, b) => (a.path < b.path ? -1 : 1));
  const errors = sorted.map(({ path, message }) => ({ path, message }));
  const cause = sorted.find((problem) => problem.cause !== null)?.cause;
  return new StorageIntegrityError(
    `${errors.length} of the entries in snapshots/ cannot be proven, so no listing is given. ${summarize(errors)}`,
    { problem: cause === undefined ? 'foreign' : 'package', errors },
    { cause },
  );
}

function shown(name: string): string {
  return quoted(name).slice(1, -1);
}
