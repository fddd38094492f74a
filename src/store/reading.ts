/** What readers get of a proven snapshot: one array block by block, a whole package as files, or everything in memory. */
import pMap from 'p-map';
import { ownedArray, type ReadonlyIntegerArray } from '../contract/dtypes.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { ArrayEntry, Manifest } from '../contract/manifest.ts';
import { INTENT_FILE, intentBytes, MANIFEST_FILE, MARKER_FILE, markerBytes } from '../contract/package.ts';
import { BLOCK_BYTES, BLOCKS_AHEAD, expectedMac, type Block, type BlockPool } from './blocks.ts';
import type { Executor } from './engine.ts';
import { sameStamp, type Descriptor, type FileSystem } from './file-system.ts';
import { readFailure } from './io.ts';
import { SMALL_PAYLOAD_BYTES, type PayloadProof } from './payload-proof.ts';
import { inBatches, type ProvenPackage } from './proofs.ts';
import type { PackagedFile, PackageFiles, StoredArray } from './snapshot-store.ts';
import { changedWhileRead, claimOf, named } from './package-checks.ts';

export interface ReadingContext {
  readonly fs: FileSystem;
  readonly executor: Executor;
  readonly blocks: BlockPool;
}

/** A proven manifest, read. */
export interface ReadManifest extends ProvenPackage {
  readonly manifest: Manifest;
}

const decoder = new TextDecoder();

/** Safe only for bytes that were just proven canonical: then `JSON.parse` loses nothing. */
export function parseProven(bytes: Uint8Array): Manifest {
  const manifest = JSON.parse(decoder.decode(bytes)) as Manifest;
  // `__proto__` is no legal key, but `constructor` is: lookups must not find the prototype's.
  return {
    ...manifest,
    arrays: Object.assign(Object.create(null) as object, manifest.arrays),
  };
}

interface FilledBlock {
  readonly block: Block;
  readonly bytes: Uint8Array;
  /** Of its first byte in the file. */
  readonly position: number;
}

/** Where the bytes of a payload come from: memory, or a descriptor with the proof of what it must give. */
export type PayloadSource =
  | { readonly bytes: Uint8Array; readonly descriptor: null }
  | { readonly bytes: null; readonly descriptor: Descriptor | null; readonly proof: PayloadProof };

export class StoredPayload implements StoredArray {
  readonly snapshotId: SnapshotId;
  readonly key: ArrayKey;
  readonly entry: ArrayEntry;
  /** 64 lowercase hex. */
  readonly manifestSha256: string;
  /** Bytes. */
  readonly byteLength: number;
  readonly #context: ReadingContext;
  readonly #source: PayloadSource;
  /** Reads under way: the descriptor outlives them, lest its number already belong to another file. */
  readonly #reads = new Set<Promise<unknown>>();
  #closed = false;

  constructor(
    context: ReadingContext,
    about: {
      readonly snapshotId: SnapshotId;
      readonly key: ArrayKey;
      readonly entry: ArrayEntry;
      readonly manifestSha256: string;
    },
    source: PayloadSource,
  ) {
    this.#context = context;
    this.#source = source;
    this.snapshotId = about.snapshotId;
    this.key = about.key;
    this.entry = about.entry;
    this.manifestSha256 = about.manifestSha256;
    this.byteLength = Number(about.entry.byte_length);
  }

  /** All bytes of a small payload, exactly as they were hashed; null for one that must be read in blocks. */
  get bytes(): Uint8Array | null {
    return this.#source.bytes;
  }

  /**
   * The bytes `start` up to but not including `end`. A yielded block is valid only until the next one is asked for or the
   * reading is ended; from then on its memory is another reader's. Each
   * block of the file is proven once more before any of it is given: throws `StorageIntegrityError` where it is no longer
   * what was proven.
   */
  async *blocks(start = 0, end = this.byteLength): AsyncGenerator<Uint8Array, void, void> {
    if (end <= start) return;
    if (this.#source.bytes !== null) {
      yield this.#source.bytes.subarray(start, end);
      return;
    }
    const { blocks } = this.#context;
    const ahead: Promise<FilledBlock>[] = [];
    let next = Math.floor(start / BLOCK_BYTES);
    const readAhead = (): void => {
      while (ahead.length < BLOCKS_AHEAD && next * BLOCK_BYTES < end) ahead.push(this.#fill(next++));
    };
    let given: Block | null = null;
    try {
      readAhead();
      for (let filling = ahead.shift(); filling !== undefined; filling = ahead.shift()) {
        const { block, bytes, position } = await filling;
        readAhead();
        given = block;
        yield bytes.subarray(Math.max(0, start - position), end - position);
        blocks.give(block);
        given = null;
      }
    } finally {
      // Also of a reading that is given up: what was left to the collector would pile up, as shared memory does not press it.
      if (given !== null) blocks.give(given);
      for (const read of await Promise.allSettled(ahead))
        if (read.status === 'fulfilled') blocks.give(read.value.block);
    }
  }

  /** Gives the descriptor back, once reads under way have ended. Throws where the disk fails even there. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.allSettled(this.#reads);
    const { descriptor } = this.#source;
    if (descriptor === null) return;
    try {
      await this.#context.fs.close(descriptor);
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  #fill(index: number): Promise<FilledBlock> {
    const read = this.#readBlock(this.#context.blocks.take(), index).catch((error: unknown) => {
      throw this.#refusal(error);
    });
    this.#reads.add(read);
    const ended = (): void => {
      this.#reads.delete(read);
    };
    // Whoever left before this block is not there to hear of its failure.
    read.then(ended, ended);
    return read;
  }

  #refusal(error: unknown): unknown {
    return named(readFailure(error, this.entry.file, 'inventory'), this.snapshotId);
  }

  async #readBlock(block: Block, index: number): Promise<FilledBlock> {
    if (this.#source.bytes !== null) throw new Error('A small payload is read from memory.');
    const { descriptor: file, proof } = this.#source;
    if (file === null || this.#closed) throw new Error('The payload was closed while it was being read.');
    const position = index * BLOCK_BYTES;
    const bytes = block.subarray(0, Math.min(BLOCK_BYTES, this.byteLength - position));
    const mac = proof.macs === undefined ? null : expectedMac(proof.macs, index);
    const { dev, ino, size, mtimeNs, ctimeNs } = proof;
    const stamp = { dev, ino, size, mtimeNs, ctimeNs };
    await this.#context.executor.run('readBlock', {
      file,
      bytes,
      position,
      name: this.entry.file,
      stamp,
      mac,
    });
    return { block, bytes, position };
  }
}

/** The files of a package in `directory` whose every byte was just proven. */
export function packageFiles(
  context: ReadingContext,
  directory: string,
  id: SnapshotId,
  proven: ReadManifest,
): PackageFiles {
  const { manifest, manifestBytes, manifestSha256, hasIntent } = proven;
  const entries = Object.entries(manifest.arrays);
  const small = new SmallPayloads(
    context,
    directory,
    id,
    entries.map(([, entry]) => entry),
  );
  const payloads = entries.map(([key, entry]): PackagedFile => ({
    name: entry.file,
    byteLength: Number(entry.byte_length),
    blocks: () =>
      Number(entry.byte_length) <= SMALL_PAYLOAD_BYTES
        ? small.blocksOf(entry)
        : largeBlocks(context, directory, { snapshotId: id, key, entry, manifestSha256 }, proven),
  }));
  const intent = hasIntent ? [inMemory(INTENT_FILE, intentBytes(id))] : [];
  return {
    ...proven,
    files: [
      ...intent,
      ...payloads,
      inMemory(MANIFEST_FILE, manifestBytes, () =>
        stillTheSame(context.executor, directory, id, manifestSha256),
      ),
      inMemory(MARKER_FILE, markerBytes(manifestSha256)),
    ],
  };
}

/** After the payloads and before what completes a copy: the package is still the one that was proven, whole and no more. */
async function stillTheSame(
  executor: Executor,
  directory: string,
  snapshotId: SnapshotId,
  expected: string,
): Promise<void> {
  const request = { directory, snapshotId, stage: 'complete', payloads: 'none' } as const;
  const { manifestSha256 } = await executor.run('verify', request);
  if (manifestSha256 !== expected) throw named(changedWhileRead(MANIFEST_FILE), snapshotId);
}

/** Small payloads are read many at a time, and each is proven by the bytes that leave. */
class SmallPayloads {
  readonly #context: ReadingContext;
  readonly #directory: string;
  readonly #id: SnapshotId;
  /** By file name. */
  readonly #batches = new Map<string, readonly ArrayEntry[]>();
  readonly #read = new Map<string, Uint8Array>();

  constructor(context: ReadingContext, directory: string, id: SnapshotId, entries: readonly ArrayEntry[]) {
    this.#context = context;
    this.#directory = directory;
    this.#id = id;
    const small = entries.filter(({ byte_length }) => Number(byte_length) <= SMALL_PAYLOAD_BYTES);
    // One block's worth: no more than what a large payload would hold.
    for (const batch of inBatches(small, ({ byte_length }) => Number(byte_length), BLOCK_BYTES)) {
      for (const entry of batch) this.#batches.set(entry.file, batch);
    }
  }

  async *blocksOf(entry: ArrayEntry): AsyncGenerator<Uint8Array, void, void> {
    let bytes = this.#read.get(entry.file);
    if (bytes === undefined) {
      const claims = this.#batches.get(entry.file) ?? [entry];
      const read = await readPayloads(this.#context.executor, this.#directory, this.#id, claims);
      this.#read.clear();
      claims.forEach(({ file }, index) => this.#read.set(file, read[index] as Uint8Array));
      bytes = this.#read.get(entry.file);
    }
    if (bytes !== undefined && bytes.length > 0) yield bytes;
  }
}

function readPayloads(
  executor: Executor,
  directory: string,
  snapshotId: SnapshotId,
  entries: readonly ArrayEntry[],
  signal?: AbortSignal,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const claims = entries.map(claimOf);
  return executor.run('readPayloads', { directory, snapshotId, claims }, signal);
}

/**
 * Opens one array of a package in `directory` whose every byte was proven; the caller must `close` it. Throws
 * `StorageIntegrityError` where it is no longer what was proven.
 */
export async function openProvenArray(
  context: ReadingContext,
  directory: string,
  about: ConstructorParameters<typeof StoredPayload>[1],
  { proofs }: Pick<ProvenPackage, 'proofs'>,
  signal?: AbortSignal,
): Promise<StoredPayload> {
  const { snapshotId, entry } = about;
  const claim = claimOf(entry);
  const { file } = claim;
  if (Number(claim.byte_length) <= SMALL_PAYLOAD_BYTES) {
    const [bytes] = await readPayloads(context.executor, directory, snapshotId, [entry], signal);
    return new StoredPayload(context, about, { bytes: bytes as Uint8Array, descriptor: null });
  }
  const { descriptor, stamp } = await context.executor.run('openPayload', { directory, snapshotId, claim });
  const proof = proofs[file] as PayloadProof;
  const payload = new StoredPayload(context, about, { bytes: null, descriptor, proof });
  if (sameStamp(proof, stamp)) return payload;
  await payload.close();
  throw named(changedWhileRead(file), snapshotId);
}

async function* largeBlocks(
  ...opening: Parameters<typeof openProvenArray>
): AsyncGenerator<Uint8Array, void, void> {
  const payload = await openProvenArray(...opening);
  try {
    yield* payload.blocks();
  } finally {
    await payload.close();
  }
}

/** A file that is in memory already; `check` is waited for before it is given. */
export function inMemory(
  name: string,
  bytes: Uint8Array,
  check: () => Promise<void> = () => Promise.resolve(),
): PackagedFile {
  return {
    name,
    byteLength: bytes.length,
    blocks: async function* () {
      await check();
      yield bytes;
    },
  };
}

/** All arrays of a package whose frame was proven, each proven by exactly the bytes that its caller gets. */
export async function readArrays(
  executor: Executor,
  directory: string,
  id: SnapshotId,
  { arrays }: Manifest,
  signal?: AbortSignal,
): Promise<Readonly<Record<ArrayKey, ReadonlyIntegerArray>>> {
  const batches = inBatches(Object.entries(arrays), ([, { byte_length }]) => Number(byte_length));
  const work = async (
    batch: readonly [ArrayKey, ArrayEntry][],
  ): Promise<[ArrayKey, ReadonlyIntegerArray][]> => {
    const entries = batch.map(([, entry]) => entry);
    const read = await readPayloads(executor, directory, id, entries, signal);
    return batch.map(([key, { dtype }], at) => [key, ownedArray(dtype, read[at] as Uint8Array<ArrayBuffer>)]);
  };
  const owned = await pMap(batches, work, { concurrency: executor.parallelism });
  // Without a prototype: `constructor` is a legal key.
  return Object.assign(
    Object.create(null) as Record<ArrayKey, ReadonlyIntegerArray>,
    Object.fromEntries(owned.flat()),
  );
}
