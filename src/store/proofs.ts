/**
 * Proofs as readers and publications ask for them: the frame of a package in one task of the engine, large payloads spread
 * over all its threads, readers of one unchanged file sharing one proof, and nothing proven for anyone who has left.
 */
import pMap from 'p-map';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { Executor, OpenedPayload } from './engine.ts';
import { sameStamp, type FileStamp } from './file-system.ts';
import { SMALL_PAYLOAD_BYTES, type KnownProofs, type PayloadProof } from './payload-proof.ts';
import type { PackageRequest, ProvenFrame, UnprovenPayload } from './verification.ts';
import { changedWhileRead, named } from './package-checks.ts';

export interface ProvenPackage extends ProvenFrame {
  /** Of every payload, by file name. */
  readonly proofs: KnownProofs;
}

/** An array that is ready to be read; `proof` holds the codes of its blocks where it is large and they were asked for. */
export interface ProvenArray extends OpenedPayload {
  readonly proof: PayloadProof;
}

/** Small payloads are proven this many bytes at a time, and at most so many files. */
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_FILES = 256;

export class Proofs {
  readonly #executor: Executor;
  readonly #shared = new SharedWork<PayloadProof>();

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /**
   * Proves a package, or for `payloads: 'none'` all of it but the payloads' checksums. `frameIn` may prove the frame and the
   * small payloads elsewhere. Throws what `verifyPackage` throws, or the signal's reason.
   */
  async provePackage(
    request: PackageRequest,
    signal?: AbortSignal,
    frameIn: Executor = this.#executor,
  ): Promise<ProvenPackage> {
    const { unproven, proofs, ...frame } = await frameIn.run('verify', request, signal);
    if (unproven.length === 0) return { ...frame, proofs };
    const proven: KnownProofs[] = [];
    const failures = new Map<number, unknown>();
    const batches = inBatches(unproven, ({ claim }) => Number(claim.byte_length));
    const work = async (batch: readonly UnprovenPayload[], index: number): Promise<void> => {
      try {
        proven.push(await this.#proveBatch(request, batch, signal));
      } catch (error) {
        failures.set(index, error);
      }
    };
    await pMap(batches, work, { concurrency: this.#executor.parallelism });
    // In the manifest's order, so that the same damage is told in the same words every time.
    if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
    return { ...frame, proofs: Object.assign({}, proofs, ...proven) as KnownProofs };
  }

  /**
   * Proves the frame of a package and one array, and opens that where it is to be delivered; then a descriptor in the
   * answer is the caller's to close. Throws what `verifyPackage` throws, `array_not_found`, or the signal's reason.
   */
  async openArray(
    request: {
      readonly directory: string;
      readonly snapshotId: SnapshotId;
      readonly key: ArrayKey;
      readonly deliver: boolean;
      readonly known: KnownProofs;
      readonly withMacs: boolean;
    },
    close: (opened: OpenedPayload) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<ProvenArray> {
    const { directory, snapshotId, key, deliver, known, withMacs } = request;
    const opened = await this.#executor.run('openArray', { directory, snapshotId, key, deliver }, signal);
    const { claim, stamp } = opened;
    if (Number(claim.byte_length) <= SMALL_PAYLOAD_BYTES) return { ...opened, proof: stamp };
    const before = known[claim.file];
    if (before !== undefined && sameStamp(before, stamp)) return { ...opened, proof: before };
    try {
      const proof = await this.#proveShared({ directory, snapshotId, withMacs }, { claim, stamp }, signal);
      // The descriptor is of one state of the file, the proof of another one.
      if (!sameStamp(proof, stamp)) throw named(changedWhileRead(claim.file), snapshotId);
      return { ...opened, proof };
    } catch (error) {
      await close(opened);
      throw error;
    }
  }

  async #proveBatch(
    { directory, snapshotId, withMacs = false }: PackageRequest,
    batch: readonly UnprovenPayload[],
    signal: AbortSignal | undefined,
  ): Promise<KnownProofs> {
    const [first] = batch;
    if (batch.length > 1 || first === undefined) {
      const claims = batch.map(({ claim }) => claim);
      return this.#executor.run('prove', { directory, snapshotId, claims, withMacs }, signal);
    }
    const proof = await this.#proveShared({ directory, snapshotId, withMacs }, first, signal);
    return { [first.claim.file]: proof };
  }

  /** One proof for all who ask for the same state of the same file while it is under way. */
  #proveShared(
    package_: { readonly directory: string; readonly snapshotId: SnapshotId; readonly withMacs: boolean },
    { claim, stamp }: UnprovenPayload,
    signal: AbortSignal | undefined,
  ): Promise<PayloadProof> {
    const key = [keyOf(stamp), package_.directory, claim.sha256, package_.withMacs].join(' ');
    return this.#shared.join(key, signal, async (whileWanted) => {
      const proofs = await this.#executor.run('prove', { ...package_, claims: [claim] }, whileWanted);
      return proofs[claim.file] as PayloadProof;
    });
  }
}

function keyOf({ dev, ino, size, mtimeNs, ctimeNs }: FileStamp): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** In order: each batch is one large item, or small ones up to a number of bytes and of files. */
export function inBatches<T>(
  items: readonly T[],
  bytesOf: (item: T) => number,
  batchBytes = BATCH_BYTES,
): T[][] {
  const batches: T[][] = [];
  let room = 0;
  for (const item of items) {
    const bytes = bytesOf(item);
    const last = batches.at(-1);
    if (last === undefined || bytes > room || last.length >= BATCH_FILES || bytes > SMALL_PAYLOAD_BYTES) {
      batches.push([item]);
      room = bytes > SMALL_PAYLOAD_BYTES ? 0 : batchBytes - bytes;
    } else {
      last.push(item);
      room -= bytes;
    }
  }
  return batches;
}

interface Shared<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Work that several may wait for; it goes on while anyone does. */
export class SharedWork<T> {
  readonly #underWay = new Map<string, Shared<T>>();

  async join(
    key: string,
    signal: AbortSignal | undefined,
    begin: (whileWanted: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const shared = this.#underWay.get(key) ?? this.#begin(key, begin);
    shared.waiting += 1;
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        // The reason is whatever the caller gave; it need not be an error.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(signal?.reason);
      };
    });
    signal?.addEventListener('abort', leave, { once: true });
    // Work begins at once, and may have been given up before this could be heard.
    if (signal?.aborted === true) leave();
    try {
      return await Promise.race([shared.result, left]);
    } finally {
      signal?.removeEventListener('abort', leave);
      shared.waiting -= 1;
      if (shared.waiting === 0) this.#end(key, shared);
    }
  }

  #begin(key: string, begin: (whileWanted: AbortSignal) => Promise<T>): Shared<T> {
    const controller = new AbortController();
    const shared: Shared<T> = { result: begin(controller.signal), controller, waiting: 0 };
    // Once the last one has left, its failure is nobody's.
    shared.result.catch(() => undefined);
    this.#underWay.set(key, shared);
    return shared;
  }

  /** Also when it has ended: who comes now needs a proof of what lies there now. */
  #end(key: string, shared: Shared<T>): void {
    if (this.#underWay.get(key) === shared) this.#underWay.delete(key);
    shared.controller.abort();
  }
}
