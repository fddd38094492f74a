/**
 * One payload on its way to an engine: hashed as it arrives, sent whole where it is small and in parts where it is not, and
 * then read back. A part in memory is the least that an engine takes; of parts that are under way all uploads share a few.
 */
import { createHash, type Hash } from 'node:crypto';
import pMap from 'p-map';
import { SnapshotError, StorageIntegrityError } from '../contract/errors.ts';
import { BLOCK_BYTES, BlockMacsBuilder, expectedMac, hasMac, type BlockMacs } from '../store/blocks.ts';
import type { TakenPayload } from '../store/receiving.ts';
import { ObjectMissing } from './engine-errors.ts';
import type { Objects, ObjectStamp } from './objects.ts';
import { inBlocks } from './reading.ts';

/** A multiple of the block, and no less than the 5 MiB that engines ask of every part but the last. */
const LEAST_PART_BYTES = 8 * BLOCK_BYTES;
/** What every engine takes. */
const MOST_PARTS = 10_000;
/** Of one upload. */
const MOST_UNDER_WAY = 4;
/** Bytes under way of all uploads together, beside one part of each. */
const SHARED_BYTES = 4 * LEAST_PART_BYTES;
/** A buffer that begins small, as most payloads are. */
const FIRST_BYTES = 64 * 1024;
/** Parts of one object that are read back at once. */
const READS_AT_ONCE = 3;

/** What all uploads of a store may have under way together. */
export class PartBudget {
  #taken = 0;

  /** Whether another part may be under way beside those that are. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > SHARED_BYTES) return false;
    this.#taken += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
  }
}

/** A payload that is on the engine and was read back from there. */
export interface UploadedPayload extends TakenPayload {
  /** Settles once it was read back and is what arrived, with the state it is in. */
  readonly proven: Promise<ObjectStamp>;
}

export interface UploadContext {
  readonly objects: Objects;
  readonly budget: PartBudget;
  /** Ends everything that is under way. */
  readonly signal: AbortSignal;
}

/** What has arrived, to compare with what is read back. */
interface Arrived {
  readonly byteLength: number;
  readonly sha256: string;
  /** Of a payload that was sent in parts; its blocks can be read back in any order. */
  readonly macs: BlockMacs | null;
}

/**
 * Takes a payload of about `expectedBytes`, where that is known. `onBytes` is told the running length and may throw to refuse.
 * Resolves when all of it has arrived; `stored` and `proven` tell the rest.
 */
export async function uploadPayload(
  context: UploadContext,
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  {
    expectedBytes,
    onBytes,
  }: { readonly expectedBytes: number; readonly onBytes: (byteLength: number) => void },
): Promise<UploadedPayload> {
  const upload = new PayloadUpload(context, name, expectedBytes);
  try {
    for await (const chunk of chunks) {
      onBytes(upload.byteLength + chunk.length);
      await upload.append(chunk);
    }
  } catch (error) {
    await upload.abandon();
    throw error;
  }
  return upload.finish();
}

class PayloadUpload {
  readonly #context: UploadContext;
  readonly #name: string;
  readonly #partBytes: number;
  readonly #hash = createHash('sha256');
  #partHash: Hash = createHash('sha256');
  #macs: BlockMacsBuilder | null = null;
  #buffer = Buffer.alloc(0);
  #filled = 0;
  #sent = 0;
  #upload: Promise<string> | null = null;
  readonly #parts: Promise<string>[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #failure: { readonly error: unknown } | null = null;

  constructor(context: UploadContext, name: string, expectedBytes: number) {
    this.#context = context;
    this.#name = name;
    const needed = Math.ceil(expectedBytes / MOST_PARTS / BLOCK_BYTES) * BLOCK_BYTES;
    this.#partBytes = Math.max(LEAST_PART_BYTES, needed);
  }

  get byteLength(): number {
    return this.#sent + this.#filled;
  }

  /** Takes over a copy of `chunk`; resolves when there is room for more. */
  async append(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length;) {
      if (this.#failure !== null) throw this.#failure.error;
      // Only when more comes: what ends with its first part is sent whole.
      if (this.#filled === this.#partBytes) await this.#sendPart();
      const room = Math.min(this.#partBytes - this.#filled, chunk.length - at);
      const piece = chunk.subarray(at, at + room);
      this.#grow(this.#filled + room);
      this.#buffer.set(piece, this.#filled);
      this.#hash.update(piece);
      this.#partHash.update(piece);
      this.#filled += room;
      at += room;
    }
  }

  async finish(): Promise<UploadedPayload> {
    const bytes = this.#buffer.subarray(0, this.#filled);
    const { byteLength } = this;
    let stored: Promise<unknown>;
    if (this.#upload === null) {
      stored = this.#context.objects.put(this.#name, bytes, this.#context.signal);
    } else {
      if (this.#filled > 0) await this.#sendPart();
      stored = this.#complete(this.#upload);
    }
    stored.catch(() => undefined);
    const sha256 = this.#hash.digest('hex');
    const arrived = { byteLength, sha256, macs: this.#macs?.build() ?? null };
    const proven = stored.then(() => readBack(this.#context, this.#name, arrived));
    proven.catch(() => undefined);
    return { byteLength, sha256, stored, proven };
  }

  /** After a failure: waits until nothing is under way any more. */
  async abandon(): Promise<void> {
    await Promise.allSettled([this.#upload, ...this.#underWay]);
  }

  #grow(needed: number): void {
    if (this.#buffer.length >= needed) return;
    const length = Math.min(this.#partBytes, Math.max(needed, FIRST_BYTES, this.#buffer.length * 4));
    const grown = Buffer.allocUnsafeSlow(length);
    grown.set(this.#buffer.subarray(0, this.#filled));
    this.#buffer = grown;
  }

  /** Resolves when there is room for the next part. */
  async #sendPart(): Promise<void> {
    const { objects, budget, signal } = this.#context;
    const bytes = this.#buffer.subarray(0, this.#filled);
    const number = this.#parts.length + 1;
    if (number > MOST_PARTS) throw tooManyParts(this.#partBytes);
    const sha256 = this.#partHash.digest('hex');
    this.#macs ??= new BlockMacsBuilder(LEAST_PART_BYTES);
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES)
      this.#macs.add(bytes.subarray(at, at + BLOCK_BYTES));
    this.#sent += bytes.length;
    this.#buffer = Buffer.alloc(0);
    this.#filled = 0;
    this.#partHash = createHash('sha256');
    this.#upload ??= objects.createUpload(this.#name, signal);
    const part = this.#upload.then((upload) =>
      objects.uploadPart(this.#name, { upload, number, bytes, sha256 }, signal),
    );
    this.#parts.push(part);
    this.#underWay.add(part);
    let isShared = false;
    const ended = (): void => {
      this.#underWay.delete(part);
      if (isShared) budget.give(bytes.length);
    };
    part.then(ended, (error: unknown) => {
      this.#failure ??= { error };
      ended();
    });
    // Whoever gets no share of what may be under way waits for its own.
    isShared = this.#underWay.size < MOST_UNDER_WAY && budget.take(bytes.length);
    if (!isShared) await Promise.race(this.#underWay);
  }

  async #complete(upload: Promise<string>): Promise<void> {
    const parts = await Promise.all(this.#parts);
    await this.#context.objects.completeUpload(
      this.#name,
      { upload: await upload, parts },
      this.#context.signal,
    );
  }
}

function tooManyParts(partBytes: number): SnapshotError<'limit_exceeded'> {
  const most = partBytes * MOST_PARTS;
  return new SnapshotError(
    'limit_exceeded',
    `More than ${most} bytes arrived for an array whose length nobody had said; engines take no more than ${MOST_PARTS} parts ` +
      'of it. Declare its byte_length, or count and dtype, in the document.',
    { limit: 'array_bytes', expected: String(most) },
  );
}

/** Proves that the engine holds what arrived, and in which state. */
async function readBack(
  { objects, signal }: UploadContext,
  name: string,
  { byteLength, sha256, macs }: Arrived,
): Promise<ObjectStamp> {
  try {
    if (macs === null) {
      const found = await objects.read(name, byteLength, signal);
      if (found === null) throw new ObjectMissing('absent');
      if (createHash('sha256').update(found.bytes).digest('hex') !== sha256)
        throw new ObjectMissing('changed');
      return found.stamp;
    }
    const stamp = await objects.stampOf(name, signal);
    if (stamp.size !== byteLength) throw new ObjectMissing('changed');
    const starts = Array.from(
      { length: Math.ceil(byteLength / LEAST_PART_BYTES) },
      (_, index) => index * LEAST_PART_BYTES,
    );
    await pMap(
      starts,
      async (start) => {
        let index = start / BLOCK_BYTES;
        const end = Math.min(byteLength, start + LEAST_PART_BYTES);
        for await (const block of inBlocks(objects.stream(name, { stamp, start, end }, signal))) {
          if (!hasMac(block, expectedMac(macs, index))) throw new ObjectMissing('changed');
          index += 1;
        }
      },
      { concurrency: READS_AT_ONCE },
    );
    return stamp;
  } catch (error) {
    if (!(error instanceof ObjectMissing)) throw error;
    throw new StorageIntegrityError(`${name} does not hold the bytes that were written to it.`, {
      problem: 'checksum',
      location: name,
    });
  }
}
