/** Pages of what is published and of what was left behind, and iterators that follow them. */
import { isObject } from '../contract/checks.ts';
import type { SnapshotId } from '../contract/ids.ts';
import type { CoverageStatus, Resolution } from '../contract/manifest.ts';
import { expectStatus, readJson } from './answers.ts';
import { ProtocolError } from './errors.ts';
import { retryingRead } from './retries.ts';
import type { Transport } from './transport.ts';

export interface SnapshotSummary {
  readonly snapshot_id: SnapshotId;
  readonly parent_id: SnapshotId | null;
  readonly source_namespace: string;
  readonly source_version: string;
  readonly scope: string;
  readonly resolution: Resolution;
  readonly coverage_status: CoverageStatus;
  /** Epoch nanoseconds, decimal. */
  readonly started_at_ns: string;
  readonly finished_at_ns: string;
  readonly array_count: number;
  /** Bytes of all arrays, decimal. */
  readonly byte_length: string;
  readonly manifest_sha256: string;
}

export interface IncompleteAttempt {
  /** Relative to the service's root. */
  readonly path: string;
  readonly snapshot_id: SnapshotId | null;
  readonly phase: 'STAGING' | 'VALIDATED' | 'INVALID' | 'UNAVAILABLE';
  readonly diagnostic: string;
  readonly byte_length: string;
  readonly modified_at: string | null;
}

export interface PageOptions {
  /** At most this many; without it one page holds everything. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ListPageOptions extends PageOptions {
  readonly sourceNamespace?: string | undefined;
  readonly parentId?: SnapshotId | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Pass as `after` to go on; null at the end. */
  readonly next: string | null;
}

export async function snapshotPage(
  transport: Transport,
  options: ListPageOptions,
): Promise<Page<SnapshotSummary>> {
  const { limit, after, sourceNamespace, parentId, signal } = options;
  const query = queryOf({ limit, after, source_namespace: sourceNamespace, parent_id: parentId });
  const { items, next } = await page(transport, `/snapshots${query}`, 'snapshots', signal);
  return { items: items.filter(isSummary), next };

  function isSummary(item: unknown): item is SnapshotSummary {
    if (isObject(item) && typeof item['snapshot_id'] === 'string') return true;
    throw new ProtocolError('The listing holds an entry without a snapshot_id.', { status: 200 });
  }
}

export async function incompletePage(
  transport: Transport,
  { limit, after, signal }: PageOptions,
): Promise<Page<IncompleteAttempt>> {
  const query = queryOf({ limit, after });
  const { items, next } = await page(transport, `/incomplete${query}`, 'incomplete', signal);
  return { items: items.filter(isAttempt), next };

  function isAttempt(item: unknown): item is IncompleteAttempt {
    if (isObject(item) && typeof item['path'] === 'string' && typeof item['phase'] === 'string') return true;
    throw new ProtocolError('The listing holds an entry without path or phase.', { status: 200 });
  }
}

/** Every item of every page, in order; the next page is fetched only when it is needed. */
export async function* allPages<T>(
  fetchPage: (after: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void, void> {
  let after: string | undefined;
  for (;;) {
    const { items, next } = await fetchPage(after);
    yield* items;
    if (next === null) return;
    // A listing that does not advance would never end.
    if (next === after || items.length === 0) {
      throw new ProtocolError('The listing names a next page and does not advance.', { status: 200 });
    }
    after = next;
  }
}

async function page(
  transport: Transport,
  path: string,
  member: string,
  signal: AbortSignal | undefined,
): Promise<Page<unknown>> {
  return retryingRead(transport.retry, signal, async () => {
    const answer = await expectStatus(await transport.request(path, { signal }), 200);
    const document = await readJson(answer);
    const items = isObject(document) ? document[member] : undefined;
    const next = isObject(document) ? document['next'] : undefined;
    if (Array.isArray(items) && (next === null || typeof next === 'string')) return { items, next };
    throw new ProtocolError(`Expected a listing with "${member}" and "next", found other JSON.`, {
      status: 200,
    });
  });
}

function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}
