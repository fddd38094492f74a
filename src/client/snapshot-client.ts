/** The client of a snapshot service: what it believes, it has proven itself (PW-07.03, PW-07.05, PW-07.18). */
import { isObject } from '../contract/checks.ts';
import { parseDeclarations, type Declarations } from '../contract/contexts.ts';
import type { IntegerArray } from '../contract/dtypes.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { SnapshotMetadata } from '../contract/manifest.ts';
import { expectStatus, expectType, readBody, readJson } from './answers.ts';
import { fetchArrayInfo, type ArrayInfo } from './array-info.ts';
import type { ArrayInput } from './array-sources.ts';
import { streamArray, type StreamOptions } from './array-stream.ts';
import { ProtocolError } from './errors.ts';
import { allPages, incompletePage, snapshotPage } from './listings.ts';
import type { IncompleteAttempt, ListPageOptions, Page, PageOptions, SnapshotSummary } from './listings.ts';
import { fetchArray, openSnapshot, type OpenedSnapshot } from './opened-snapshot.ts';
import { resolveOptions, type ClientOptions } from './options.ts';
import { fetchManifest, type ProvenManifest } from './proven-manifest.ts';
import { publishSnapshot } from './publish.ts';
import type { PublishOptions, PublishResult } from './publish-options.ts';
import { retryingRead } from './retries.ts';
import { openTransport, type Transport } from './transport.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ListOptions extends Omit<ListPageOptions, 'limit' | 'after'> {
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

/** Every method rejects with a `SnapshotClientError`, or with the reason of its `signal`. */
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

  /** Published snapshots by id, page after page as they are needed. */
  list({ pageSize = PAGE_SIZE, ...filters }: ListOptions = {}): AsyncGenerator<SnapshotSummary, void, void> {
    return allPages((after) => snapshotPage(this.#transport, { ...filters, limit: pageSize, after }));
  }

  /** One page of `list`. */
  async listPage(options: ListPageOptions = {}): Promise<Page<SnapshotSummary>> {
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
        return parseDeclarations(await readBody(answer));
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
    const document = await readJson(answer);
    return isObject(document) ? document : {};
  }
}
