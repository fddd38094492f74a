/** The client of a snapshot service: what it believes, it has proven itself (PW-07.03, PW-07.05, PW-07.18). */
import type { Comparison } from '../contract/comparison.ts';
import { parseDeclarations, type Declarations } from '../contract/contexts.ts';
import type { IntegerArray } from '../contract/dtypes.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { IncompleteAttempt, SnapshotSummary } from '../contract/listings.ts';
import type { SnapshotMetadata } from '../contract/manifest.ts';
import type { OpenedSnapshot, ProvenManifest } from '../contract/opened.ts';
import { expectStatus, expectType, MAX_BYTES, readBody, readJson } from './answers.ts';
import { fetchComparison, type CompareOptions } from './comparison.ts';
import { ProtocolError } from './errors.ts';
import { allPages, incompletePage, snapshotPage } from './listings.ts';
import type { ListedSnapshot, ListFilters, ListPageOptions, Page, PageOptions } from './listings.ts';
import { resolveOptions, type ClientOptions } from './options.ts';
import { publishSnapshot, type PublishOptions, type PublishResult } from './publish.ts';
import { fetchArray, fetchArrayInfo, fetchManifest, openSnapshot, streamArray } from './reads.ts';
import type { ArrayInfo, StreamOptions } from './reads.ts';
import type { ArrayInput } from './sources.ts';
import { openTransport, retryingRead, type Transport } from './transport.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ListOptions extends ListFilters, CallOptions {
  /** Snapshots asked for at once; 100 by default. */
  readonly pageSize?: number;
}

/** Metadata as plain values, with uint64 fields as bigints or decimal strings; `parent_id` may be left out. */
export type PublishMetadata = {
  readonly [F in keyof Omit<SnapshotMetadata, 'parent_id'>]: F extends `${string}_ns`
    ? string | bigint
    : SnapshotMetadata[F];
} & { readonly parent_id?: SnapshotId | null };

/** A whole metadata document, such as a manifest; what it declares of the arrays must turn out right. */
export interface PublishDocument {
  readonly snapshot: PublishMetadata;
  readonly arrays?: Readonly<Record<ArrayKey, object>>;
}

const PAGE_SIZE = 100;

/**
 * Every method rejects with a refusal (`ProblemError`, which is of the class of its code too), with a
 * `SnapshotClientError` for what went wrong on the way, or with the reason of its `signal`.
 */
export class SnapshotClient {
  readonly #transport: Transport;

  /** Throws `SnapshotClientError` `invalid_option`. Nothing is connected before the first call. */
  constructor(options: string | URL | ClientOptions) {
    this.#transport = openTransport(resolveOptions(options));
  }

  /**
   * Publishes one immutable snapshot. A lost answer is followed up: the call ends in `published`, in `confirmed`, or in
   * an error, of which `OutcomeUnknownError` alone leaves open whether the snapshot is stored.
   *
   * @throws ContractViolationError before anything is sent, and the service's refusals
   * @throws SourceError if an array cannot be read, or has another length than it said
   */
  publish(
    metadata: PublishMetadata | PublishDocument,
    arrays: Readonly<Record<ArrayKey, ArrayInput>>,
    options: PublishOptions = {},
  ): Promise<PublishResult> {
    return publishSnapshot(this.#transport, metadata, arrays, options);
  }

  /** The manifest, proven. Throws `SnapshotNotFoundError`, `StorageIntegrityError`, `ChecksumMismatchError`. */
  async manifest(id: SnapshotId, { signal }: CallOptions = {}): Promise<ProvenManifest> {
    return fetchManifest(this.#transport, id, signal);
  }

  /** Metadata and every array in memory, each proven against the manifest. */
  async open(id: SnapshotId, { signal }: CallOptions = {}): Promise<OpenedSnapshot> {
    return openSnapshot(this.#transport, id, signal);
  }

  /** One array in memory, proven. Throws `ArrayNotFoundError` too. */
  async array(id: SnapshotId, key: ArrayKey, { signal }: CallOptions = {}): Promise<IntegerArray> {
    return fetchArray(this.#transport, id, key, { signal });
  }

  /** Dtype, length and digest of an array, without its bytes. */
  async arrayInfo(id: SnapshotId, key: ArrayKey, { signal }: CallOptions = {}): Promise<ArrayInfo> {
    return fetchArrayInfo(this.#transport, id, key, signal);
  }

  /**
   * The raw little-endian bytes of an array or of a part of it, as they arrive; goes on by itself where a connection
   * broke. A whole array ends with `ChecksumMismatchError` if it is not the one that was published.
   */
  streamArray(
    id: SnapshotId,
    key: ArrayKey,
    options: StreamOptions = {},
  ): AsyncGenerator<Uint8Array, void, void> {
    return streamArray(this.#transport, id, key, options);
  }

  /**
   * How `to` differs from `from`: by position, or with a `key` in rows that are aligned by the values of that array. The
   * service proves every byte of both first. Throws `SnapshotNotFoundError`, `StorageIntegrityError`, and for a key that
   * cannot be used `ArrayNotFoundError` or a `ProblemError` `invalid_request`.
   */
  async compare(from: SnapshotId, to: SnapshotId, options: CompareOptions = {}): Promise<Comparison> {
    return fetchComparison(this.#transport, from, to, options);
  }

  /** Published snapshots one by one, page after page as they are needed. */
  list(options?: ListOptions & { readonly damaged?: 'fail' }): AsyncGenerator<SnapshotSummary, void, void>;
  list(options: ListOptions): AsyncGenerator<ListedSnapshot, void, void>;
  list({ pageSize = PAGE_SIZE, ...filters }: ListOptions = {}): AsyncGenerator<ListedSnapshot, void, void> {
    return allPages((after) => snapshotPage(this.#transport, { ...filters, limit: pageSize, after }));
  }

  /** One page of `list`. */
  async listPage(options?: ListPageOptions & { readonly damaged?: 'fail' }): Promise<Page<SnapshotSummary>>;
  async listPage(options: ListPageOptions): Promise<Page<ListedSnapshot>>;
  async listPage(options: ListPageOptions = {}): Promise<Page<ListedSnapshot>> {
    return snapshotPage(this.#transport, options);
  }

  /** Attempts that were never published, as far as the service can tell while others publish. */
  incomplete({
    pageSize = PAGE_SIZE,
    signal,
  }: CallOptions & { readonly pageSize?: number } = {}): AsyncGenerator<IncompleteAttempt, void, void> {
    return allPages((after) => incompletePage(this.#transport, { limit: pageSize, after, signal }));
  }

  /** One page of `incomplete`. */
  async incompletePage(options: PageOptions = {}): Promise<Page<IncompleteAttempt>> {
    return incompletePage(this.#transport, options);
  }

  /** The fingerprint declarations in force. */
  async contexts({ signal }: CallOptions = {}): Promise<Declarations> {
    return retryingRead(this.#transport.retry, signal, async () => {
      const answer = await expectStatus(await this.#transport.request('/contexts', { signal }), 200);
      expectType(answer, 'application/json');
      try {
        return parseDeclarations(await readBody(answer, MAX_BYTES.declarations));
      } catch (cause) {
        if (!isAnySnapshotError(cause)) throw cause;
        throw new ProtocolError(`The declarations do not hold. ${cause.message}`, { status: 200, cause });
      }
    });
  }

  /** Resolves with the service's word that it is alive; never tries twice. */
  async health({ signal }: CallOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#probe('/healthz', signal);
  }

  /** Resolves if the service can take and give snapshots now; else throws, `UnavailableError` first of all. */
  async ready({ signal }: CallOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#probe('/readyz', signal);
  }

  /** Waits for running calls and closes the connections. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #probe(path: string, signal: AbortSignal | undefined): Promise<Readonly<Record<string, unknown>>> {
    const answer = await expectStatus(await this.#transport.request(path, { signal }), 200);
    return readJson(answer, MAX_BYTES.probe);
  }
}
