/**
 * What every publication does, wherever it writes (PW-07.04 steps 1 and 3): the checks before anything is made, payloads
 * taken as they arrive, in any order, each matched against its declaration, and the refusals of an id or a parent.
 */
import { resolveContext, type Declarations } from '../contract/contexts.ts';
import type { Dtype } from '../contract/dtypes.ts';
import { isAnySnapshotError, isSnapshotError, SnapshotError } from '../contract/errors.ts';
import type { ArrayKey } from '../contract/ids.ts';
import type { DraftArray, DraftManifest } from '../contract/manifest.ts';
import {
  checkArrayCount,
  checkArrivals,
  checkRunningLength,
  declaredKey,
  settledDtype,
  type ArrivedPayload,
  type IncomingPayload,
  type StoreLimits,
} from './arrivals.ts';
import { fromSource } from './publication-errors.ts';

/** Small payloads that may be written while the next one is received. */
const PAYLOADS_BESIDE = 4;

/** A payload all of which was taken. */
export interface TakenPayload extends ArrivedPayload {
  /** Settles when all of it is where it belongs; its failure ends the publication. */
  readonly stored: Promise<unknown>;
}

/** Writes one payload; `onBytes` is told the running length and may throw to refuse. */
export type WritePayload<W extends TakenPayload> = (
  key: ArrayKey,
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (byteLength: number) => void,
) => Promise<W>;

export interface Received<W> {
  readonly written: ReadonlyMap<ArrayKey, W>;
  /** The draft with the dtype of every array known. */
  readonly draft: DraftManifest;
}

/** What the document alone can be refused for. */
export function checkDraft(
  draft: DraftManifest,
  { limits, declarations }: { readonly limits: StoreLimits; readonly declarations: Declarations },
): void {
  checkArrayCount(draft, limits);
  resolveContext(declarations, draft.snapshot.fingerprint);
}

/** Takes all payloads and waits until they are stored. Throws whatever came first: a refusal, the source's or the store's failure. */
export async function receivePayloads<W extends TakenPayload>(
  draft: DraftManifest,
  payloads: AsyncIterable<IncomingPayload>,
  limits: StoreLimits,
  write: WritePayload<W>,
): Promise<Received<W>> {
  const written = new Map<ArrayKey, W>();
  const dtypes = new Map<ArrayKey, Dtype>();
  const arrived = new Set<ArrayKey>();
  const unstored: Promise<unknown>[] = [];
  let failed: { readonly error: unknown } | null = null;
  const throwFailed = (): void => {
    if (failed !== null) throw failed.error;
  };
  let total = 0;
  try {
    for await (const { name, chunks, dtype } of fromSource(payloads)) {
      throwFailed();
      const key = declaredKey(draft, name, arrived);
      arrived.add(key);
      const declared = draft.arrays[key] as DraftArray;
      dtypes.set(key, settledDtype(key, dtype, draft, dtypes));
      const payload = await write(key, fromSource(chunks), (byteLength) => {
        throwFailed();
        checkRunningLength(key, declared, byteLength, total + byteLength, limits);
      });
      total += payload.byteLength;
      written.set(key, payload);
      unstored.push(payload.stored);
      // Told with the next chunk, not after all that may still come.
      payload.stored.catch((error: unknown) => {
        failed ??= { error };
      });
      if (unstored.length >= PAYLOADS_BESIDE) await unstored.shift();
    }
  } catch (error) {
    // What came first is what is told: a disk that failed, not the client that left after it.
    await Promise.allSettled(unstored);
    throwFailed();
    throw error;
  }
  await Promise.all(unstored);
  checkArrivals(draft, dtypes, written);
  return { written, draft: settled(draft, dtypes) };
}

function settled(draft: DraftManifest, dtypes: ReadonlyMap<ArrayKey, Dtype>): DraftManifest {
  const arrays = Object.create(null) as Record<ArrayKey, DraftArray>;
  for (const [key, dtype] of dtypes) arrays[key] = { ...draft.arrays[key], dtype };
  return { ...draft, arrays };
}

/** The refusal for an id that is taken, with the digest of the stored manifest, or null where that cannot be read. */
export function existsAlready(
  id: string,
  location: string,
  manifestSha256: string | null,
): SnapshotError<'snapshot_exists'> {
  const state =
    manifestSha256 === null
      ? 'It is not a readable package: inspect it.'
      : 'If its manifest_sha256 is that of your manifest, it is the same manifest.';
  return new SnapshotError(
    'snapshot_exists',
    `${location} exists already and is never overwritten. ${state}`,
    {
      snapshot_id: id,
      location,
      ...(manifestSha256 === null ? {} : { manifest_sha256: manifestSha256 }),
    },
  );
}

/** What is told where the proof of a parent failed: a parent that only cannot be read now is no fault of its child (PW-07.01). */
export function parentRefusal(parentId: string, cause: unknown): unknown {
  if (!isAnySnapshotError(cause) || cause.code === 'unavailable' || isUnreadable(cause)) return cause;
  return new SnapshotError(
    'parent_not_complete',
    `The parent ${parentId} is not a published, valid snapshot of this store. ${cause.message}`,
    {
      parent_id: parentId,
      errors: [{ path: 'snapshot.parent_id', message: 'must name a published, valid snapshot' }],
    },
    { cause },
  );
}

function isUnreadable(error: SnapshotError): boolean {
  return isSnapshotError(error, 'storage_integrity') && error.details.problem === 'unreadable';
}
