/** A publication under way: what is sent, what was seen of it, and which failures leave its fate open. */
import type { ArrayKey } from '../contract/ids.ts';
import {
  buildManifest,
  type BuiltManifest,
  type DraftManifest,
  type SeenPayload,
} from '../contract/manifest.ts';
import type { ArraySource } from './array-source.ts';
import { seenOf } from './array-sources.ts';
import { ConnectionError, TimeoutError, type SnapshotClientError } from './errors.ts';
import { PublicationInProgressError, PublicationUncertainError, UnavailableError } from './problem-errors.ts';
import type { PublishOptions } from './publish-options.ts';
import { isGatewayFailure } from './retries.ts';
import type { Transport } from './transport.ts';

export interface Publication {
  readonly transport: Transport;
  readonly draft: DraftManifest;
  readonly sources: readonly ArraySource[];
  readonly options: PublishOptions;
  /** What was seen of the payloads, before they were sent or while. */
  readonly seen: Record<ArrayKey, SeenPayload>;
}

/** The manifest as the service must build it, or null if a stream has not been read to its end. */
export async function expectedManifest(publication: Publication): Promise<BuiltManifest | null> {
  const { draft, sources, seen, options } = publication;
  for (const source of sources) {
    if (seen[source.key] !== undefined) continue;
    if (!source.replayable) return null;
    seen[source.key] = await seenOf(source, options.signal);
  }
  return buildManifest(draft, seen);
}

/** Failures that say nothing against another try. */
export function isTransient(failure: SnapshotClientError): boolean {
  return (
    failure instanceof ConnectionError ||
    failure instanceof TimeoutError ||
    failure instanceof UnavailableError ||
    failure instanceof PublicationInProgressError ||
    failure instanceof PublicationUncertainError ||
    isGatewayFailure(failure)
  );
}
