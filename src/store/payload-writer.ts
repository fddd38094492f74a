/** Streams one payload into its staged file: large writes, each read back and hashed, early write-back, bounded memory. */
import { hash } from 'node:crypto';
import type { ArrayKey } from '../contract/ids.ts';
import { payloadFileName } from '../contract/package.ts';
import type { ArrivedPayload } from './arrivals.ts';
import { BLOCK_BYTES, type Block, type BlockPool } from './blocks.ts';
import type { Executor, PayloadSink } from './engine.ts';
import { sameStamp, type Descriptor, type FileStamp, type FileSystem } from './file-system.ts';
import { closeAfter, writeAndSync, writeFully } from './io.ts';
import { payloadPath } from './layout.ts';

/** Dirty bytes after which the disk is asked to begin writing, so that the final fsync finds little left to do. */
const WRITE_BACK_BYTES = 32 * 1024 * 1024;

/** Payloads up to this size are written while the next one is being received. */
const BESIDE_BYTES = 64 * 1024;

export interface WrittenPayload extends ArrivedPayload {
  readonly key: ArrayKey;
  /** The state in which a large file was read back whole; null for one that has to be read back with its package. */
  readonly stamp: FileStamp | null;
  /** Settles when all of it is in the file; its failure ends the publication. */
  readonly stored: Promise<unknown>;
  /** Settles when the final fsync has; its failure must be awaited before anything is called durable. */
  readonly synced: Promise<void>;
}

export interface PayloadWriterContext {
  readonly fs: FileSystem;
  readonly executor: Executor;
  readonly blocks: BlockPool;
}

/** The file of one payload while it arrives. */
class PayloadWriter {
  readonly #context: PayloadWriterContext;
  readonly #creating: Promise<Descriptor>;
  readonly #path: string;
  readonly #name: string;
  readonly #onStored: (bytes: number) => void;
  readonly #inFlight = new Set<Promise<void>>();
  #block: Block | null = null;
  /** The same memory as the block's. */
  #target: Buffer = Buffer.alloc(0);
  #filled = 0;
  #submitted = 0;
  #sink: PayloadSink | null = null;
  #released = false;
  #failure: Error | null = null;
  #unsynced = 0;
  #writeBack: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  /** The state of the file while none of our writes is under way. */
  #resting: FileStamp | null = null;
  #disturbed = false;

  constructor(
    context: PayloadWriterContext,
    creating: Promise<Descriptor>,
    directory: string,
    key: ArrayKey,
    onStored: (bytes: number) => void,
  ) {
    this.#onStored = onStored;
    this.#context = context;
    this.#creating = creating;
    creating.catch((error: unknown) => {
      this.#fail(error);
    });
    this.#path = payloadPath(directory, key);
    this.#name = payloadFileName(key);
  }

  get byteLength(): number {
    return this.#submitted + this.#filled;
  }

  /** Takes over a copy of `chunk`; resolves when there is room for more. */
  async append(chunk: Uint8Array): Promise<void> {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#failure !== null) throw this.#failure;
      if (this.#block === null) this.#take();
      const room = Math.min(BLOCK_BYTES - this.#filled, chunk.length - offset);
      // One memcpy. `set` copies into shared memory word by word, at a quarter of the speed.
      this.#target.fill(chunk.subarray(offset, offset + room), this.#filled, this.#filled + room);
      this.#filled += room;
      offset += room;
      if (this.#filled === BLOCK_BYTES) {
        this.#submit(await this.#creating);
        while (this.#inFlight.size >= this.#context.blocks.share) await Promise.race(this.#inFlight);
      }
    }
  }

  /** All bytes of a payload so small that nothing of it was written yet; null for any other. Nothing may follow. */
  takeSmall(): Uint8Array | null {
    if (this.#sink !== null || this.#filled > BESIDE_BYTES) return null;
    const bytes =
      this.#block === null ? new Uint8Array() : Buffer.from(this.#block.subarray(0, this.#filled));
    this.#giveBack();
    return bytes;
  }

  /** Flushes, proves and starts the final fsync. */
  async finish(): Promise<{ sha256: string; stamp: FileStamp | null; synced: Promise<void> }> {
    const file = await this.#creating;
    if (this.#sink === null) return { ...(await this.#finishSmall(file)), synced: this.#finalSync(file) };
    if (this.#filled > 0) this.#submit(file);
    await this.#settled();
    // Under way while the end of the file is proven; whatever comes of that, the descriptor is closed after it.
    this.#syncing = this.#finalSync(file);
    this.#syncing.catch(() => undefined);
    const { sha256, stamp } = await this.#sink.finish();
    this.#compareResting(stamp);
    this.#release();
    return { sha256, stamp: this.#disturbed ? null : stamp, synced: this.#syncing };
  }

  /** After a failure: waits until nothing touches the file any more, and closes it. */
  async abandon(): Promise<void> {
    await Promise.allSettled([...this.#inFlight]);
    await Promise.allSettled([this.#writeBack, this.#syncing, this.#sink?.abandon()]);
    this.#giveBack();
    this.#release();
    await this.#creating.then((file) => this.#context.fs.close(file)).catch(() => undefined);
  }

  /** One block or less: hashed at once, and read back together with the rest of its package. */
  async #finishSmall(file: Descriptor): Promise<{ sha256: string; stamp: null }> {
    const bytes = this.#block === null ? new Uint8Array() : this.#block.subarray(0, this.#filled);
    const sha256 = hash('sha256', bytes);
    if (bytes.length > 0) await writeFully(this.#context.fs, file, bytes, 0);
    this.#onStored(bytes.length);
    this.#submitted = bytes.length;
    this.#filled = 0;
    this.#giveBack();
    return { sha256, stamp: null };
  }

  #submit(file: Descriptor): void {
    const block = this.#block;
    if (block === null) return;
    if (this.#resting !== null) this.#compareResting(this.#context.fs.statOpen(file));
    const bytes = this.#filled === BLOCK_BYTES ? block : block.subarray(0, this.#filled);
    this.#submitted += this.#filled;
    this.#block = null;
    this.#filled = 0;
    if (this.#sink === null) {
      this.#sink = this.#context.executor.openSink(file, this.#path, this.#name);
      this.#context.blocks.uploadBegins();
    }
    const work = this.#store(file, { block, bytes }, this.#sink);
    this.#inFlight.add(work);
    const ended = (): void => {
      this.#inFlight.delete(work);
      if (this.#inFlight.size === 0) this.#rest(file);
    };
    work.then(ended, ended);
  }

  /** Never rejects: the first failure is kept and thrown to the producer at its next step. */
  async #store(
    file: Descriptor,
    { block, bytes }: { readonly block: Block; readonly bytes: Uint8Array },
    sink: PayloadSink,
  ): Promise<void> {
    try {
      await sink.store(bytes);
    } catch (error) {
      this.#fail(error);
    }
    this.#onStored(bytes.length);
    this.#context.blocks.give(block);
    this.#unsynced += bytes.length;
    if (this.#unsynced >= WRITE_BACK_BYTES && this.#writeBack === null && this.#failure === null) {
      this.#unsynced = 0;
      this.#writeBack = this.#context.fs.syncData(file).then(
        () => {
          this.#writeBack = null;
        },
        // An error reported here may not be reported again by the final fsync, so it ends the publication.
        (error: unknown) => {
          this.#fail(error);
        },
      );
    }
  }

  /**
   * Each block is read back once. That none is changed afterwards shows in the state of the file while no write of ours is
   * under way; a file in which it moved is read and hashed once more as a whole, with its package.
   */
  #rest(file: Descriptor): void {
    try {
      this.#resting = this.#context.fs.statOpen(file);
    } catch (error) {
      this.#fail(error);
    }
  }

  #compareResting(now: FileStamp): void {
    if (this.#resting !== null && !sameStamp(this.#resting, now)) this.#disturbed = true;
    this.#resting = null;
  }

  async #settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    if (this.#failure !== null) throw this.#failure;
  }

  async #finalSync(file: Descriptor): Promise<void> {
    if (this.#writeBack !== null) await this.#writeBack;
    if (this.#failure !== null) throw this.#failure;
    await this.#context.fs.sync(file);
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
  }

  #take(): void {
    this.#block = this.#context.blocks.take();
    this.#target = Buffer.from(this.#block.buffer);
  }

  #release(): void {
    if (this.#sink !== null && !this.#released) this.#context.blocks.uploadEnds();
    this.#released = true;
  }

  #giveBack(): void {
    if (this.#block !== null) this.#context.blocks.give(this.#block);
    this.#block = null;
  }
}

/**
 * Creates `array-<key>.bin` in `directory` and streams `chunks` into it. `onBytes` is called with the running length and
 * may throw to refuse, `onStored` with each number of bytes that is in the file. On failure the partial file stays as evidence and the error is thrown; the descriptor is closed in
 * every case.
 */
export async function writePayload(
  context: PayloadWriterContext,
  directory: string,
  key: ArrayKey,
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (byteLength: number) => void,
  onStored: (bytes: number) => void,
): Promise<WrittenPayload> {
  const { fs } = context;
  const creating = fs.createFile(payloadPath(directory, key));
  const writer = new PayloadWriter(context, creating, directory, key, onStored);
  try {
    for await (const chunk of chunks) {
      onBytes(writer.byteLength + chunk.length);
      await writer.append(chunk);
    }
    const small = writer.takeSmall();
    if (small !== null) {
      const sha256 = hash('sha256', small);
      const file = writeAndSync(fs, creating, small);
      const stored = file.stored.then(() => {
        onStored(small.length);
      });
      stored.catch(() => undefined);
      return { key, byteLength: small.length, sha256, stamp: null, stored, synced: file.synced };
    }
    const { sha256, stamp, synced } = await writer.finish();
    const closed = closeAfter(fs, await creating, synced);
    // Awaited later, together with every other sync of the attempt; until then a rejection must not be "unhandled".
    closed.catch(() => undefined);
    return { key, byteLength: writer.byteLength, sha256, stamp, stored: Promise.resolve(), synced: closed };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
