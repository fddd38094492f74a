/** What callers of `publish` may ask for, and what they get. */
import type { SnapshotClientError } from './errors.ts';
import type { RetryPolicy } from './options.ts';
import type { ProvenManifest } from './proven-manifest.ts';

export interface PublishProgress {
  /** Bytes of the arrays handed to the connection in this attempt. */
  readonly sentBytes: number;
  /** Null where a stream's length is unknown. */
  readonly totalBytes: number | null;
  /** From 1; a new attempt begins at 0 bytes again. */
  readonly attempt: number;
}

export interface PublishOptions {
  readonly onProgress?: (progress: PublishProgress) => void;
  readonly signal?: AbortSignal;
  /** Over the client's own policy. Arrays are sent again only if all of them can be read again: streams cannot. */
  readonly retry?: Partial<RetryPolicy> | false;
  /**
   * What to do if the id is taken although no answer was lost: `fail`, the default, throws `SnapshotExistsError`;
   * `confirm` succeeds if what is stored is exactly what was to be published (streams cannot be compared).
   */
  readonly ifExists?: 'fail' | 'confirm';
  /**
   * Whether arrays in memory and files are hashed beforehand and declared with their SHA-256, so that the service
   * refuses bytes that changed on the way. True by default; with false, files are read only once.
   */
  readonly declareDigests?: boolean;
}

export interface PublishResult extends ProvenManifest {
  /**
   * `published`: the service answered that it did, durably. `confirmed`: the answer was lost or uncertain, or the
   * snapshot was there before, and what is stored has been proven to be exactly this snapshot.
   */
  readonly outcome: 'published' | 'confirmed';
  /** Requests that sent the snapshot. */
  readonly attempts: number;
  /** Why it had to be confirmed. After a `PublicationUncertainError` it is there, but its durability is not known. */
  readonly confirmedAfter: SnapshotClientError | null;
}
