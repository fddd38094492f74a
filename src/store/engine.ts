/**
 * Everything that writes, reads, hashes and judges payload bytes, in one place: tasks of plain data, run synchronously in
 * the thread that calls, and given way every few MiB. A worker thread answers messages with it (`worker.ts`); a store with
 * a file system of its own calls it directly (`inlineExecutor`). Both run this code and no other.
 */
import type { Declarations } from '../contract/contexts.ts';
import { SnapshotError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { IncompleteAttempt } from '../contract/listings.ts';
import type { DraftManifest, Manifest } from '../contract/manifest.ts';
import { readDraft } from './arrivals.ts';
import { inspectAttempt, measureAttempts, type AttemptMeasure } from './inspection.ts';
import { ByteBoundedCache } from './byte-bounded-cache.ts';
import {
  alignKeys,
  compareElements,
  compareRows,
  sortKeys,
  type Alignment,
  type AlignmentRequest,
  type DifferingElements,
  type DifferingRows,
  type ElementsRequest,
  type KeyWindow,
  type RowsRequest,
} from './comparison-kernel.ts';
import type { Descriptor, FileStamp, FileSystem } from './file-system.ts';
import { closeAfterFailure, openRegularFile } from './io.ts';
import {
  PayloadFile,
  provePayload,
  readBlock,
  SMALL_PAYLOAD_BYTES,
  statPayload,
  Turn,
  type BlockRead,
  type Ending,
  type KnownProofs,
  type StoredFile,
} from './payload-proof.ts';
import {
  provePayloads,
  verifyFrame,
  type PackageRequest,
  type PayloadsRequest,
  type ProvenFrame,
  type VerificationContext,
  type VerifiedPackage,
} from './verification.ts';
import { checkLength, claimOf, named, type PayloadClaim } from './package-checks.ts';

/** An array as it lies in a package whose frame was proven. */
export interface OpenedPayload extends ProvenFrame {
  readonly claim: PayloadClaim;
  readonly stamp: FileStamp;
  /** All bytes of a small payload, exactly as they were hashed; null for a large one, which is not proven yet. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  /** Of a large payload that is to be delivered, open: whoever gets it must close it. */
  readonly descriptor: Descriptor | null;
}

interface PayloadRequest {
  /** Absolute path of the package. */
  readonly directory: string;
  readonly snapshotId: SnapshotId;
}

interface TaskTypes {
  /** Prove a package but for large payloads, which come back unproven. */
  verify: { input: PackageRequest; output: VerifiedPackage };
  /** Prove payloads of a proven frame. */
  prove: { input: PayloadsRequest; output: KnownProofs };
  /** Prove a package's frame and open one array: its proven bytes (small) or its descriptor, unproven (large). */
  openArray: {
    input: PayloadRequest & { readonly key: ArrayKey; readonly deliver: boolean };
    output: OpenedPayload;
  };
  /** Open one payload of a proven frame, of any size, for reading it block by block. */
  openPayload: {
    input: PayloadRequest & { readonly claim: PayloadClaim };
    output: { readonly stamp: FileStamp; readonly descriptor: Descriptor };
  };
  /** Prove payloads of a proven frame and hand over exactly the bytes that were hashed. */
  readPayloads: {
    input: PayloadRequest & { readonly claims: readonly PayloadClaim[] };
    output: readonly Uint8Array<ArrayBuffer>[];
  };
  /** Fill a block and prove it. Throws the read's own error, `length` or `checksum`. */
  readBlock: { input: BlockRead; output: undefined };
  /** The steps of a comparison; see `comparison-kernel.ts`. */
  compareElements: { input: ElementsRequest; output: DifferingElements };
  sortKeys: { input: Pick<KeyWindow, 'dtype' | 'bytes'>; output: Uint32Array };
  alignKeys: { input: AlignmentRequest; output: Alignment };
  compareRows: { input: RowsRequest; output: DifferingRows };
  /** The steps of a payload that arrives; see `PayloadFile`. */
  sinkOpen: {
    input: { readonly sink: number; readonly file: Descriptor; readonly path: string; readonly name: string };
    output: undefined;
  };
  sinkStore: { input: { readonly sink: number; readonly bytes: Uint8Array }; output: undefined };
  sinkFinish: { input: { readonly sink: number }; output: StoredFile };
  sinkAbandon: { input: { readonly sink: number }; output: undefined };
  /** Judge an attempt without changing anything (PW-07.04). */
  inspect: {
    input: { readonly staging: string; readonly name: string };
    output: IncompleteAttempt | null;
  };
  /** Read and check a metadata document (PW-07.01). */
  draft: { input: { readonly bytes: Uint8Array; readonly maxValues: number }; output: DraftManifest };
  /** Bytes of entries in staging, from their names and sizes alone. */
  measure: {
    input: {
      readonly staging: string;
      readonly attempts: readonly { readonly name: string; readonly ctimeNs: bigint | null }[];
    };
    output: (AttemptMeasure | 'unchanged' | 'gone')[];
  };
}

export type TaskKind = keyof TaskTypes;
export type TaskInput<K extends TaskKind> = TaskTypes[K]['input'];
export type TaskOutput<K extends TaskKind> = TaskTypes[K]['output'];

/** Where the engine's tasks run. */
export interface Executor {
  /** Rejects with the signal's reason, at the next piece of the work, once it was given. */
  run<K extends TaskKind>(kind: K, input: TaskInput<K>, signal?: AbortSignal): Promise<TaskOutput<K>>;
  /** For a file that was just created at `path` and is open for writing as `file`; `name` is how messages call it. */
  openSink(file: Descriptor, path: string, name: string): PayloadSink;
  /** How many tasks are worth having under way at once. */
  readonly parallelism: number;
  readonly threads: ThreadCounts;
  close(): Promise<void>;
}

export interface ThreadCounts {
  readonly running: number;
  readonly wanted: number;
  /** Threads that died so far. */
  readonly lost: number;
}

/** A large payload that is read back and hashed while it is written; see `PayloadFile`. */
export interface PayloadSink {
  /**
   * Resolves when `bytes` is no longer needed. Need not be awaited before the next call: blocks are stored in order, one at
   * a time, as two writes into one file only make the kernel spin for its lock.
   */
  store(bytes: Uint8Array): Promise<void>;
  finish(): Promise<StoredFile>;
  /** Closes what is open when nobody wants the result any more. */
  abandon(): Promise<void>;
}

type Runners = {
  readonly [K in TaskKind]: (input: TaskInput<K>, turn: Turn) => TaskOutput<K> | Promise<TaskOutput<K>>;
};

export class Engine {
  readonly #fs: FileSystem;
  readonly #context: VerificationContext;
  readonly #sinks = new Map<number, PayloadFile>();
  readonly #runners: Runners;

  /** `manifestBytes` bounds what is remembered of manifests that were judged before. */
  constructor(fs: FileSystem, declarations: Declarations, manifestBytes: number) {
    this.#fs = fs;
    this.#context = { fs, declarations, judged: new ByteBoundedCache<string, Manifest>(manifestBytes) };
    this.#runners = {
      verify: async (input, turn) => {
        const {
          manifestBytes: bytes,
          manifestSha256,
          hasIntent,
          proofs,
          unproven,
        } = await verifyFrame(this.#context, input, turn);
        return { manifestBytes: owned(bytes), manifestSha256, hasIntent, proofs, unproven };
      },
      prove: (input, turn) => provePayloads(fs, input, turn),
      openArray: (input, turn) => this.#openArray(input, turn),
      openPayload: ({ directory, snapshotId, claim }) =>
        about(snapshotId, () => openPayload(fs, directory, claim)),
      readPayloads: (input, turn) => this.#readPayloads(input, turn),
      readBlock: (read) => {
        readBlock(fs, read);
        return undefined;
      },
      compareElements,
      sortKeys,
      alignKeys,
      compareRows,
      sinkOpen: ({ sink, file, path, name }) => {
        this.#sinks.set(sink, new PayloadFile(fs, file, path, name));
        return undefined;
      },
      sinkStore: ({ sink, bytes }) => {
        this.#sink(sink).store(bytes);
        return undefined;
      },
      sinkFinish: ({ sink }) => {
        const payload = this.#sink(sink);
        this.#sinks.delete(sink);
        return payload.finish();
      },
      sinkAbandon: ({ sink }) => {
        this.#sinks.get(sink)?.close();
        this.#sinks.delete(sink);
        return undefined;
      },
      inspect: ({ staging, name }, turn) => inspectAttempt(this.#context, staging, name, turn),
      draft: ({ bytes, maxValues }) => readDraft(bytes, maxValues),
      measure: ({ staging, attempts }) => measureAttempts(fs, staging, attempts),
    };
  }

  /** Work begins before this returns. Rejects with the signal's reason once it was given and the work has come to a pause. */
  async run<K extends TaskKind>(kind: K, input: TaskInput<K>, signal?: Ending): Promise<TaskOutput<K>> {
    signal?.throwIfAborted();
    return this.#runners[kind](input, new Turn(signal));
  }

  #sink(id: number): PayloadFile {
    const sink = this.#sinks.get(id);
    if (sink === undefined) throw new Error('The payload was not opened, or was ended before.');
    return sink;
  }

  async #openArray(
    { directory, snapshotId, key, deliver }: TaskInput<'openArray'>,
    turn: Turn,
  ): Promise<OpenedPayload> {
    const { manifest, manifestBytes, manifestSha256, hasIntent } = await verifyFrame(
      this.#context,
      { directory, snapshotId, stage: 'complete', payloads: 'none' },
      turn,
    );
    const entry = Object.hasOwn(manifest.arrays, key) ? manifest.arrays[key] : undefined;
    if (entry === undefined) {
      throw new SnapshotError('array_not_found', `Snapshot ${snapshotId} has no array ${key}.`, {
        snapshot_id: snapshotId,
        array: key,
      });
    }
    const claim = claimOf(entry);
    const frame = { manifestBytes: owned(manifestBytes), manifestSha256, hasIntent, claim };
    return about(snapshotId, async () => {
      if (Number(claim.byte_length) <= SMALL_PAYLOAD_BYTES) {
        const bytes = new Uint8Array(Number(claim.byte_length));
        // Whatever was proven before: these are the bytes that leave, so it is these that are proven.
        const stamp = await provePayload(this.#fs, { directory, claim, into: bytes }, turn);
        return { ...frame, stamp, bytes: deliver ? bytes : null, descriptor: null };
      }
      if (deliver) return { ...frame, bytes: null, ...openPayload(this.#fs, directory, claim) };
      return { ...frame, stamp: statPayload(this.#fs, directory, claim), bytes: null, descriptor: null };
    });
  }

  async #readPayloads(
    { directory, snapshotId, claims }: TaskInput<'readPayloads'>,
    turn: Turn,
  ): Promise<readonly Uint8Array<ArrayBuffer>[]> {
    const read: Uint8Array<ArrayBuffer>[] = [];
    for (const claim of claims) {
      const bytes = new Uint8Array(Number(claim.byte_length));
      await about(snapshotId, () => provePayload(this.#fs, { directory, claim, into: bytes }, turn));
      read.push(bytes);
    }
    return read;
  }
}

function openPayload(
  fs: FileSystem,
  directory: string,
  claim: PayloadClaim,
): { readonly stamp: FileStamp; readonly descriptor: Descriptor } {
  const { file, stat } = openRegularFile(fs, `${directory}/${claim.file}`, claim.file);
  try {
    checkLength(claim, stat.size);
  } catch (error) {
    closeAfterFailure(fs, file);
    throw error;
  }
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  return { stamp: { dev, ino, size, mtimeNs, ctimeNs }, descriptor: file };
}

async function about<T>(snapshotId: SnapshotId, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw named(error, snapshotId);
  }
}

/** Between threads a view travels with all of its memory, and small buffers are cut from a large shared one. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.length + 1 >= bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** The engine in the calling thread: for a file system that cannot travel, and for what is too small to hand over. */
export function inlineExecutor(engine: Engine): Executor {
  let lastSink = 0;
  return {
    run: (kind, input, signal) => engine.run(kind, input, signal),
    openSink: (file, path, name) => {
      lastSink += 1;
      return sinkOver((kind, input) => engine.run(kind, input), { sink: lastSink, file, path, name });
    },
    parallelism: 1,
    threads: { running: 0, wanted: 0, lost: 0 },
    close: () => Promise.resolve(),
  };
}

type SinkKind = 'sinkOpen' | 'sinkStore' | 'sinkFinish' | 'sinkAbandon';

/** The steps of one payload, each a task for the one engine that `run` stands for. */
export function sinkOver(
  run: <K extends SinkKind>(kind: K, input: TaskInput<K>) => Promise<TaskOutput<K>>,
  opened: TaskInput<'sinkOpen'>,
  onEnd: () => void = () => undefined,
): PayloadSink {
  const { sink } = opened;
  let open = true;
  // Whoever cannot open says so again at the next step, where somebody waits.
  run('sinkOpen', opened).catch(() => undefined);
  const end = (): boolean => {
    const wasOpen = open;
    open = false;
    if (wasOpen) onEnd();
    return wasOpen;
  };
  return {
    store: (bytes) => run('sinkStore', { sink, bytes }),
    finish: () => {
      end();
      return run('sinkFinish', { sink });
    },
    abandon: async () => {
      if (end()) await run('sinkAbandon', { sink });
    },
  };
}
