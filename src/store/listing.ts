/**
 * Lists published snapshots, each proven, one after the other and never all at once; what cannot be proven fails the
 * listing by name, or is shown (PW-07.18).
 */
import { pMapIterable } from 'p-map';
import {
  isAnySnapshotError,
  SnapshotError,
  StorageIntegrityError,
  summarize,
  type Violation,
} from '../contract/errors.ts';
import { isSnapshotId, type SnapshotId } from '../contract/ids.ts';
import type { DamagedSnapshot, SnapshotSummary } from '../contract/listings.ts';
import type { ProvenManifest } from '../contract/opened.ts';
import { quoted } from './package-checks.ts';
import { byBytes, inOrder, nameAsText, SortedRuns, type NamesSource } from './sorted-names.ts';

export type ListingProof = 'all' | 'frame';

export interface ListingQuery {
  /** At most this many; absent means all. A page is bounded in bytes and time too and then ends earlier, with `next`. */
  readonly limit?: number;
  /** `next` of the page before; in the order of ids any id, also one that does not exist. */
  readonly after?: string;
  readonly sourceNamespace?: string;
  readonly parentId?: SnapshotId;
  /** Epoch nanoseconds, decimal: only those with `since <= finished_at_ns <= until`. */
  readonly since?: string;
  readonly until?: string;
  /** By id, the default, or the last finished first and then by id. */
  readonly order?: 'id' | 'newest';
  /** `all`, the default, proves every byte; `frame` marker, manifest, inventory and lengths. */
  readonly proof?: ListingProof;
  /** `show` lists what cannot be proven among the others; by default it fails the listing. */
  readonly damaged?: 'show' | 'fail';
}

/** A query in whose answer every entry is a proven snapshot. */
export interface ProvenQuery extends ListingQuery {
  readonly damaged?: 'fail';
}

export type ListedSnapshot = SnapshotSummary | DamagedSnapshot;

export interface SnapshotListing<E extends ListedSnapshot = ListedSnapshot> {
  readonly proof: ListingProof;
  readonly snapshots: readonly E[];
  /** Pass as `after` to go on; null at the end. */
  readonly next: string | null;
}

/** What a listing needs of a proven snapshot. */
export type ListedManifest = Pick<ProvenManifest, 'manifest' | 'manifestSha256'>;

export interface ListingProblem extends Violation {
  /** The refusal of a package; null for a foreign entry. */
  readonly cause: SnapshotError | null;
}

/** One snapshot that was looked at: listed, passed over by a filter (null), or a problem. */
export interface Look {
  readonly entry: ListedSnapshot | null;
  readonly problem: ListingProblem | null;
  /** `after` for what follows; null where nothing can follow a page that ends here. */
  readonly cursor: string | null;
  readonly isLast: boolean;
  /** So many, from this one on, belong on one page, as no cursor leads between them. */
  readonly together?: number;
  /** Does not count for the `limit` of a page. */
  readonly takesNoPlace?: boolean;
}

export interface ListingSource {
  /** Names of the room of snapshots, each character one byte. */
  readonly names: NamesSource;
  readonly prove: (id: SnapshotId, proof: ListingProof, signal: AbortSignal) => Promise<ListedManifest>;
  /** `finished_at_ns`, from a proven frame. */
  readonly finishedAt: (id: SnapshotId, signal: AbortSignal) => Promise<bigint>;
  /** Proofs under way at once. */
  readonly width: number;
}

/** Times that are remembered for the order `newest`, each some 100 bytes. */
const MAX_TIMES = 200_000;

/**
 * Published snapshots do not change, so their times are remembered; each is proven again when it is listed. Listings that
 * run beside each other look each of them up once.
 */
export class FinishedTimes {
  readonly #times = new Map<SnapshotId, bigint>();
  readonly #finding = new Map<SnapshotId, Promise<bigint>>();
  readonly #proveFrame: (id: SnapshotId, signal: AbortSignal) => Promise<ListedManifest>;

  constructor(proveFrame: (id: SnapshotId, signal: AbortSignal) => Promise<ListedManifest>) {
    this.#proveFrame = proveFrame;
  }

  async of(id: SnapshotId, signal: AbortSignal): Promise<bigint> {
    const known = this.#times.get(id);
    if (known !== undefined) return known;
    const underWay = this.#finding.get(id);
    if (underWay !== undefined) {
      // Whoever looks it up may leave, or be refused; then it is looked up for this one.
      const found = await underWay.catch(() => undefined);
      if (found !== undefined) return found;
    }
    const finding = this.#find(id, signal);
    this.#finding.set(id, finding);
    try {
      return await finding;
    } finally {
      if (this.#finding.get(id) === finding) this.#finding.delete(id);
    }
  }

  async #find(id: SnapshotId, signal: AbortSignal): Promise<bigint> {
    const { manifest } = await this.#proveFrame(id, signal);
    const finished = BigInt(manifest.snapshot.finished_at_ns);
    if (this.#times.size < MAX_TIMES) this.#times.set(id, finished);
    return finished;
  }
}

/** Foreign entries, and problems of one listing, that are named; the rest is counted. */
const MAX_NAMED = 1000;

/**
 * Looks at what a query asks for, in its order, proving `width` ahead of whoever takes it. A foreign entry in `snapshots/`
 * is a problem of every listing, as it may be what is left of a snapshot; it comes first, or, where damage is shown, last.
 */
export async function* lookAtSnapshots(
  source: ListingSource,
  query: ListingQuery,
  signal?: AbortSignal,
): AsyncGenerator<Look, void, void> {
  const ended = new AbortController();
  const all = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  const { proof = 'all', damaged = 'fail' } = query;
  try {
    const { items, foreign } = await readNames(source, query, all);
    if (damaged === 'fail') for (const problem of foreign.problems()) yield problemLook(problem);
    const shown = damaged === 'show' ? foreign.problems(query.limit) : [];
    // Never more ahead than the page may take: what is proven in vain costs others their turn.
    const width = Math.max(1, Math.min(source.width, query.limit ?? source.width));
    const looks = pMapIterable(
      items,
      async ({ item, isLast }): Promise<Look> => {
        all.throwIfAborted();
        if ('name' in item) return foreignLook(item.name, { isLast, damaged });
        const { id } = item;
        const rest = { cursor: cursorOf(item), isLast: isLast && shown.length === 0 };
        try {
          const summary = summarizeManifest(await source.prove(id, proof, all));
          if (item.finished !== undefined && item.finished !== BigInt(summary.finished_at_ns))
            throw changed(id);
          return { entry: matches(summary, query) ? summary : null, problem: null, ...rest };
        } catch (error) {
          const cause = damageOf(error);
          if (damaged === 'show') return { entry: damagedEntry(id, cause), problem: null, ...rest };
          return { entry: null, problem: { path: id, message: cause.message, cause }, ...rest };
        }
      },
      { concurrency: width, backpressure: width },
    );
    for await (const look of looks) {
      all.throwIfAborted();
      yield look;
    }
    for (const [at, problem] of shown.entries()) {
      const together = shown.length - at;
      yield { entry: foreignEntry(problem), problem: null, cursor: null, isLast: together === 1, together };
    }
  } finally {
    ended.abort(new Error('The listing is over.'));
  }
}

function problemLook(problem: ListingProblem): Look {
  return { entry: null, problem, cursor: null, isLast: false };
}

/**
 * A foreign name met on the way through names that come in order: it belongs to the page of the id behind it, takes
 * nobody's place there, and no page ends with it.
 */
function foreignLook(
  name: string,
  { isLast, damaged }: { readonly isLast: boolean; readonly damaged: 'show' | 'fail' },
): Look {
  const problem = foreignProblem(name);
  const rest = { cursor: null, isLast, takesNoPlace: true };
  return damaged === 'show'
    ? { entry: foreignEntry(problem), problem: null, ...rest }
    : { entry: null, problem, ...rest };
}

function foreignEntry({ path, message }: ListingProblem): DamagedSnapshot {
  return { snapshot_id: path, problem: { code: 'storage_integrity', detail: message } };
}

/** An id in its place; its time only where the order needs it, `null` where that cannot be told. */
interface Placed {
  readonly id: SnapshotId;
  readonly finished?: bigint | null;
}

type Ordered<T> =
  | Iterable<{ readonly item: T; readonly isLast: boolean }>
  | AsyncIterable<{ readonly item: T; readonly isLast: boolean }>;

/** A name in its place that is no id. */
interface ForeignName {
  readonly name: string;
}

async function readNames(
  source: ListingSource,
  query: ListingQuery,
  signal: AbortSignal,
): Promise<{ readonly items: Ordered<Placed | ForeignName>; readonly foreign: Foreign }> {
  const { order = 'id', after } = query;
  const foreign = new Foreign();
  if (order === 'id' && source.names.areOrdered) {
    return { items: placedAsTheyCome(source.names.from(after), signal), foreign };
  }
  const runs = new SortedRuns<string>(byBytes);
  for await (const names of source.names.from(undefined)) {
    signal.throwIfAborted();
    for (const name of names) if (!isSnapshotId(name)) foreign.add(name);
    runs.add(
      names.filter((name) => isSnapshotId(name) && (order !== 'id' || after === undefined || name > after)),
    );
  }
  if (order === 'newest') return { items: await newestFirst(source, runs, after, signal), foreign };
  return { items: placed(runs), foreign };
}

function* placed(runs: SortedRuns<string>): Generator<{ item: Placed; isLast: boolean }, void, void> {
  for (const { item, isLast } of runs) yield { item: { id: item }, isLast };
}

/** Nothing is read ahead of what is asked for but one piece of names. */
async function* placedAsTheyCome(
  names: AsyncIterable<readonly string[]>,
  signal: AbortSignal,
): AsyncGenerator<{ item: Placed | ForeignName; isLast: boolean }, void, void> {
  for await (const { item, isLast } of inOrder(names)) {
    signal.throwIfAborted();
    yield { item: isSnapshotId(item) ? { id: item } : { name: item }, isLast };
  }
}

/** Times looked up at once, and sorted at once. */
const TIMES_AT_ONCE = 1024;

async function newestFirst(
  source: ListingSource,
  ids: SortedRuns<string>,
  after: string | undefined,
  signal: AbortSignal,
): Promise<SortedRuns<Placed>> {
  const start = after === undefined ? undefined : newestCursor(after);
  const runs = new SortedRuns<Placed>(byNewest);
  let run: Placed[] = [];
  const times = pMapIterable(
    ids,
    async ({ item: id }): Promise<Placed> => {
      const finished = await source.finishedAt(id, signal).catch((error: unknown) => {
        damageOf(error);
        return null;
      });
      return { id, finished };
    },
    { concurrency: source.width * 2, backpressure: source.width * 2 },
  );
  for await (const one of times) {
    signal.throwIfAborted();
    if (start === undefined || byNewest(start, one) < 0) run.push(one);
    if (run.length < TIMES_AT_ONCE) continue;
    runs.add(run);
    run = [];
    // Times that are remembered come at once, and nothing else would have its turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  runs.add(run);
  return runs;
}

/** The last finished first, then by id; what has no time comes last. */
function byNewest(a: Placed, b: Placed): number {
  const [first, second] = [a.finished ?? -1n, b.finished ?? -1n];
  return first === second ? byBytes(a.id, b.id) : first > second ? -1 : 1;
}

const NEWEST_CURSOR = /^(?:(?<finished>0|[1-9][0-9]{0,19})|damaged)\.(?<id>[0-9a-f]{32})$/u;

function cursorOf({ id, finished }: Placed): string {
  return finished === undefined ? id : `${finished ?? 'damaged'}.${id}`;
}

export function isCursor(text: string, order: 'id' | 'newest'): boolean {
  return order === 'id' ? isSnapshotId(text) : NEWEST_CURSOR.test(text);
}

function newestCursor(cursor: string): Placed {
  const { finished, id } = NEWEST_CURSOR.exec(cursor)?.groups ?? {};
  if (id === undefined) {
    const errors = [{ path: 'after', message: 'expected the next of a page in this order' }];
    throw new SnapshotError('invalid_request', summarize(errors), { errors });
  }
  return { id, finished: finished === undefined ? null : BigInt(finished) };
}

/** What lies in `snapshots/` and is no snapshot: the first in order are named, all are counted. */
class Foreign {
  #names: string[] = [];
  #count = 0;

  add(name: string): void {
    this.#count += 1;
    this.#names.push(name);
    if (this.#names.length < MAX_NAMED * 2) return;
    this.#names = this.#names.sort(byBytes).slice(0, MAX_NAMED);
  }

  problems(most = MAX_NAMED): ListingProblem[] {
    const names = this.#names.sort(byBytes).slice(0, Math.min(most, MAX_NAMED));
    const more = this.#count - names.length;
    return names.map((name, at) =>
      foreignProblem(name, more > 0 && at + 1 === names.length ? `; and ${more} more` : ''),
    );
  }
}

function foreignProblem(name: string, more = ''): ListingProblem {
  return {
    path: quoted(nameAsText(name)).slice(1, -1),
    message: `does not belong into snapshots/: its name is not a snapshot id${more}`,
    cause: null,
  };
}

/** The refusal that says what is wrong with a snapshot; anything else is no property of the snapshot and is thrown. */
function damageOf(error: unknown): SnapshotError {
  if (!isAnySnapshotError(error) || error.code === 'unavailable') throw error;
  return error;
}

function damagedEntry(id: SnapshotId, { code, message }: SnapshotError): DamagedSnapshot {
  return { snapshot_id: id, problem: { code, detail: message } };
}

function changed(id: SnapshotId): StorageIntegrityError {
  return new StorageIntegrityError(
    `Snapshot ${id} changed while it was being listed; published snapshots never do.`,
    {
      snapshot_id: id,
      problem: 'manifest',
    },
  );
}

function isFiltered({ sourceNamespace, parentId, since, until }: ListingQuery): boolean {
  return [sourceNamespace, parentId, since, until].some((filter) => filter !== undefined);
}

function matches(
  summary: SnapshotSummary,
  { sourceNamespace, parentId, since, until }: ListingQuery,
): boolean {
  return (
    (sourceNamespace === undefined || summary.source_namespace === sourceNamespace) &&
    (parentId === undefined || summary.parent_id === parentId) &&
    (since === undefined || BigInt(summary.finished_at_ns) >= BigInt(since)) &&
    (until === undefined || BigInt(summary.finished_at_ns) <= BigInt(until))
  );
}

/** How far a page goes at most, beside its `limit`. */
interface PageBounds {
  /** Of its entries as JSON; one entry may be longer. */
  readonly bytes: number;
  /** After so long a page with entries ends, and after so long one without any. */
  readonly ms: number;
  readonly emptyMs: number;
}

const PAGE_BOUNDS: PageBounds = { bytes: 4 * 1024 * 1024, ms: 5_000, emptyMs: 30_000 };

/**
 * Collects a page; without a `limit` everything. It fails only for what lies on it: whatever follows is another page's.
 */
export async function collectListing(
  looks: AsyncIterable<Look>,
  query: ListingQuery,
  bounds: PageBounds = PAGE_BOUNDS,
): Promise<SnapshotListing> {
  const { limit, proof = 'all' } = query;
  const snapshots: ListedSnapshot[] = [];
  const problems = new Problems();
  const startedAt = performance.now();
  let bytes = 0;
  let seen = 0;
  let cursor: string | null = null;
  let next: string | null = null;
  for await (const look of looks) {
    const { entry, problem, isLast } = look;
    const matching = entry !== null || problem !== null;
    if (limit !== undefined && seen >= limit) {
      // The page is full: it only remains to be told whether there is more of what was asked for.
      next = cursor;
      if (matching || performance.now() - startedAt > bounds.ms) break;
      next = null;
      continue;
    }
    if (entry !== null && limit !== undefined) {
      const length = Buffer.byteLength(JSON.stringify(entry));
      const isTooLong = bytes + length > bounds.bytes || seen + (look.together ?? 1) > limit;
      if (snapshots.length > 0 && cursor !== null && isTooLong) {
        next = cursor;
        break;
      }
      bytes += length;
    }
    // Of what takes no place the page goes on from where it was.
    if (look.takesNoPlace !== true) cursor = look.cursor;
    if (problem !== null) problems.add(problem);
    if (entry !== null) snapshots.push(entry);
    // A foreign entry belongs to every page, and takes nobody's place on it.
    if (matching && problem?.cause !== null && look.takesNoPlace !== true) seen += 1;
    if (limit === undefined || isLast || look.cursor === null) continue;
    const isFull = seen >= limit && !isFiltered(query);
    const isLate = performance.now() - startedAt > (seen > 0 ? bounds.ms : bounds.emptyMs);
    if (!isFull && !isLate) continue;
    next = cursor;
    break;
  }
  problems.throwAny();
  return { proof, snapshots, next };
}

/** What went wrong in one listing, as the one refusal that names it all. */
class Problems {
  readonly #named: ListingProblem[] = [];
  #count = 0;

  add(problem: ListingProblem): void {
    this.#count += 1;
    if (this.#named.length < MAX_NAMED) this.#named.push(problem);
  }

  throwAny(): void {
    if (this.#count > 0) throw this.failure();
  }

  failure(): StorageIntegrityError {
    const sorted = [...this.#named].sort((a, b) => byBytes(a.path, b.path));
    const errors = sorted.map(({ path, message }) => ({ path, message }));
    const cause = sorted.find((problem) => problem.cause !== null)?.cause;
    return new StorageIntegrityError(
      `${this.#count} of the entries in snapshots/ cannot be proven, so no listing is given. ${summarize(errors)}`,
      { problem: cause === undefined ? 'foreign' : 'package', errors },
      { cause },
    );
  }
}

/** The one refusal for all problems that are found. */
export async function failureOf(found: AsyncIterable<ListingProblem>): Promise<StorageIntegrityError> {
  const problems = new Problems();
  for await (const problem of found) problems.add(problem);
  return problems.failure();
}

/** The entries one by one; a problem ends them, after all others were looked for, with the refusal that names them all. */
export async function* entriesOf(looks: AsyncIterable<Look>): AsyncGenerator<ListedSnapshot, void, void> {
  const problems = new Problems();
  let failed = false;
  for await (const { entry, problem } of looks) {
    if (problem !== null) problems.add(problem);
    failed ||= problem !== null;
    if (entry !== null && !failed) yield entry;
  }
  problems.throwAny();
}

function summarizeManifest({ manifest, manifestSha256 }: ListedManifest): SnapshotSummary {
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
