/** Pages of what is published and of what was left behind, each entry checked, and iterators that follow them. */
import { isObject, type Check } from '../contract/checks.ts';
import type { SnapshotId } from '../contract/ids.ts';
import {
  damagedSnapshot,
  incompleteAttempt,
  snapshotSummary,
  type DamagedSnapshot,
  type IncompleteAttempt,
  type SnapshotSummary,
} from '../contract/listings.ts';
import { Violations } from '../contract/violations.ts';
import { expectStatus, MAX_BYTES, readJson } from './answers.ts';
import { ProtocolError } from './errors.ts';
import { retryingRead, type Transport } from './transport.ts';

export interface PageOptions {
  /** At most this many; without it one page holds everything. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ListFilters {
  readonly sourceNamespace?: string | undefined;
  readonly parentId?: SnapshotId | undefined;
  /** Epoch nanoseconds on `finished_at_ns`. */
  readonly since?: string | bigint | undefined;
  readonly until?: string | bigint | undefined;
  /** By id, or the last finished first. */
  readonly order?: 'id' | 'newest' | undefined;
  /** `all` proves every byte before an entry is listed, `frame` marker, manifest, inventory and lengths only. */
  readonly proof?: 'all' | 'frame' | undefined;
  /** `fail`, the default, lets one damaged snapshot fail the listing; `show` lists it as a `DamagedSnapshot`. */
  readonly damaged?: 'fail' | 'show' | undefined;
}

export interface ListPageOptions extends PageOptions, ListFilters {}

export interface Page<T> {
  readonly items: readonly T[];
  /** Pass as `after` to go on; null at the end. */
  readonly next: string | null;
}

/** An entry of a listing that was asked to show what is damaged; `'problem' in entry` tells them apart. */
export type ListedSnapshot = SnapshotSummary | DamagedSnapshot;

/** Members that this version does not know are let through: a newer service may send them. */
function checked<T>(check: Check<T>, entry: unknown, where: string): T {
  const violations = new Violations();
  if (check(entry, where, violations) !== undefined) return entry as T;
  const [first] = violations.list();
  throw against(`${first?.path ?? where} ${first?.message ?? 'is wrong'}`);
}

const against = (message: string): ProtocolError =>
  new ProtocolError(`The listing does not hold: ${message}.`, { status: 200 });

export async function snapshotPage(
  transport: Transport,
  options: ListPageOptions,
): Promise<Page<ListedSnapshot>> {
  const { limit, after, sourceNamespace, parentId, since, until, order, proof, damaged } = options;
  const query = { limit, after, source_namespace: sourceNamespace, parent_id: parentId };
  const path = `/snapshots${queryOf({ ...query, since, until, order, proof, damaged })}`;
  const { document, entries, next } = await page(transport, path, 'snapshots', options);
  const { proof: proven = 'all' } = document;
  if (proof !== 'frame' && proven !== 'all')
    throw against('not every byte of it is proven, as was asked for');
  let before: SnapshotSummary | null = null;
  const items = entries.map((entry, index) => {
    const where = `snapshots.${index}`;
    if (damaged === 'show' && isObject(entry) && entry['problem'] !== undefined) {
      return checked(damagedSnapshot, entry, where);
    }
    const summary = checked(snapshotSummary, entry, where);
    if (sourceNamespace !== undefined && summary.source_namespace !== sourceNamespace) {
      throw against(`${where} is of another namespace than asked for`);
    }
    if (parentId !== undefined && summary.parent_id !== parentId) {
      throw against(`${where} has another parent than asked for`);
    }
    const isBehind =
      order === 'newest' ? !isNewerFirst(before, summary) : !isAscending(before, summary, after);
    if (isBehind) throw against(`it does not advance: ${where} is out of order`);
    before = summary;
    return summary;
  });
  return { items, next };
}

function isAscending(
  before: SnapshotSummary | null,
  { snapshot_id: id }: SnapshotSummary,
  after: string | undefined,
): boolean {
  return id > (before?.snapshot_id ?? after ?? '');
}

function isNewerFirst(
  before: SnapshotSummary | null,
  { finished_at_ns: finished }: SnapshotSummary,
): boolean {
  return before === null || BigInt(before.finished_at_ns) >= BigInt(finished);
}

export async function incompletePage(
  transport: Transport,
  options: PageOptions,
): Promise<Page<IncompleteAttempt>> {
  const { limit, after } = options;
  const path = `/incomplete${queryOf({ limit, after })}`;
  const { entries, next } = await page(transport, path, 'incomplete', options);
  return {
    items: entries.map((entry, index) => checked(incompleteAttempt, entry, `incomplete.${index}`)),
    next,
  };
}

/** Every item of every page, in order; the next page is fetched only when it is needed. */
export async function* allPages<T>(
  fetchPage: (after: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void, void> {
  // A listing that comes back to where it was would never end.
  const cursors = new Set<string>();
  let after: string | undefined;
  let empty = 0;
  for (;;) {
    const { items, next } = await fetchPage(after);
    yield* items;
    if (next === null) return;
    // A page over many snapshots that no filter lets pass may end without one, but not again and again.
    empty = items.length === 0 ? empty + 1 : 0;
    if (empty > MAX_EMPTY_PAGES || cursors.has(next))
      throw against('it names a next page and does not advance');
    cursors.add(next);
    after = next;
  }
}

const MAX_EMPTY_PAGES = 4;
const MAX_CURSOR_LENGTH = 4096;

interface RawPage {
  readonly document: Readonly<Record<string, unknown>>;
  readonly entries: readonly unknown[];
  readonly next: string | null;
}

async function page(
  transport: Transport,
  path: string,
  member: string,
  { limit, signal }: PageOptions,
): Promise<RawPage> {
  return retryingRead(transport.retry, signal, async () => {
    const answer = await expectStatus(await transport.request(path, { signal }), 200);
    const document = await readJson(answer, MAX_BYTES.listing);
    const { [member]: entries, next } = document;
    if (!Array.isArray(entries)) throw against(`"${member}" is no list`);
    if (next !== null && (typeof next !== 'string' || next === '' || next.length > MAX_CURSOR_LENGTH)) {
      throw against('"next" is neither null nor a cursor');
    }
    if (limit !== undefined && entries.length > limit) {
      throw against(`${entries.length} entries came where ${limit} were asked for`);
    }
    return { document, entries, next };
  });
}

function queryOf(parameters: Readonly<Record<string, string | number | bigint | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}
