/**
 * The proof of a package on an engine, and what readers get of it: the same rules as on a disk (PW-07.03, PW-07.05), over a
 * listing of the package's objects and reads that hold each object to the state that was listed.
 */
import { createHash } from 'node:crypto';
import pMap from 'p-map';
import { ownedArray, type ReadonlyIntegerArray } from '../contract/dtypes.ts';
import { SnapshotError, SnapshotNotFoundError, StorageIntegrityError } from '../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../contract/ids.ts';
import type { ArrayEntry } from '../contract/manifest.ts';
import type { ProvenManifest } from '../contract/opened.ts';
import {
  INTENT_FILE,
  intentBytes,
  MANIFEST_FILE,
  MARKER_BYTES,
  MARKER_FILE,
  markerBytes,
} from '../contract/package.ts';
import { BLOCK_BYTES, BlockMacsBuilder, expectedMac, hasMac, type BlockMacs } from '../store/blocks.ts';
import type { AttemptName } from '../store/layout.ts';
import {
  changedWhileRead,
  checkDigest,
  checkIntent,
  checkLength,
  checkManifestLength,
  checkPresent,
  claimOf,
  intentLength,
  judgePackage,
  MAX_MANIFEST_BYTES,
  missingFile,
  named,
  refuseIrregularEntries,
  type JudgeContext,
  type PackageEntry,
  type PayloadClaim,
} from '../store/package-checks.ts';
import { SMALL_PAYLOAD_BYTES } from '../store/payload-proof.ts';
import type { ProofMemory, StampRules } from '../store/proof-memory.ts';
import { SharedWork } from '../store/proofs.ts';
import { inMemory, parseProven } from '../store/reading.ts';
import type { PackagedFile, PackageFiles, StoredArray } from '../store/snapshot-store.ts';
import {
  commitName,
  fileName,
  MAX_COMMIT_BYTES,
  packageLocation,
  parseCommit,
  type Commit,
} from './layout.ts';
import { ObjectMissing } from './engine-errors.ts';
import type { ListedObject, Objects, ObjectStamp } from './objects.ts';

/** Payloads of one package that are proven at once. */
const PROOFS_AT_ONCE = 6;
/** More objects than any package has, with room for what does not belong there. */
const MAX_OBJECTS = 200_000;

/** The state in which the checksum of a payload held. */
export interface ObjectProof extends ObjectStamp {
  /** Of a payload above `SMALL_PAYLOAD_BYTES`, where they were asked for. */
  readonly macs?: BlockMacs;
}

/** An engine never gives two states of an object one entity tag. */
export const OBJECT_STAMPS: StampRules<ObjectProof> = {
  same: (a, b) => a.etag === b.etag && a.size === b.size,
  only: ({ etag, size }) => ({ etag, size }),
  isSettled: () => true,
};

export interface EngineReading {
  readonly objects: Objects;
  readonly judging: JudgeContext;
  /** Null where every read proves. */
  readonly memory: ProofMemory<ObjectProof> | null;
}

/** Everything of a package but the payloads' checksums, proven. */
export interface Frame extends ProvenManifest {
  readonly snapshotId: SnapshotId;
  readonly attempt: AttemptName;
  /** The states in which the payloads were listed, by file name. */
  readonly stamps: ReadonlyMap<string, ObjectStamp>;
}

/** A package whose every byte was proven. */
export interface ProvenFrame extends Frame {
  /** By file name. */
  readonly proofs: Readonly<Record<string, ObjectProof>>;
}

export class Packages {
  readonly #context: EngineReading;
  readonly #shared = new SharedWork<ObjectProof>();

  constructor(context: EngineReading) {
    this.#context = context;
  }

  /** What was committed under an id, or null. Throws `StorageIntegrityError` where something else lies there. */
  async commitOf(id: SnapshotId, signal?: AbortSignal): Promise<Commit | null> {
    const found = await this.#context.objects.read(commitName(id), MAX_COMMIT_BYTES, signal);
    return found === null ? null : parseCommit(found.bytes, id);
  }

  /** Commit, marker, manifest, inventory and lengths. Throws `SnapshotNotFoundError`, or what proofs throw. */
  async proveFrame(id: SnapshotId, signal?: AbortSignal): Promise<Frame> {
    const commit = await this.commitOf(id, signal);
    if (commit === null) throw new SnapshotNotFoundError(id);
    const frame = await this.proveAttempt(commit.attempt, id, signal);
    if (frame.manifestSha256 === commit.manifestSha256) return frame;
    throw named(
      new StorageIntegrityError(`${commitName(id)} commits another ${MANIFEST_FILE} than the stored one.`, {
        problem: 'manifest',
        location: MANIFEST_FILE,
        expected: commit.manifestSha256,
        actual: frame.manifestSha256,
      }),
      id,
    );
  }

  /** The frame of a package, whether it was committed or not. */
  async proveAttempt(attempt: AttemptName, snapshotId: SnapshotId, signal?: AbortSignal): Promise<Frame> {
    try {
      const [listed, marker, manifestBytes] = await Promise.all([
        this.list(attempt, signal),
        this.readFile(attempt, MARKER_FILE, MARKER_BYTES, signal),
        this.readFile(attempt, MANIFEST_FILE, MAX_MANIFEST_BYTES, signal),
      ]);
      return await this.#judge({ attempt, snapshotId, listed, marker, manifestBytes }, signal);
    } catch (error) {
      throw named(error, snapshotId);
    }
  }

  async #judge(
    found: {
      readonly attempt: AttemptName;
      readonly snapshotId: SnapshotId;
      readonly listed: readonly ListedObject[];
      readonly marker: Uint8Array | null;
      readonly manifestBytes: Uint8Array | null;
    },
    signal?: AbortSignal,
  ): Promise<Frame> {
    const { attempt, snapshotId, listed, marker, manifestBytes } = found;
    if (listed.length === 0) {
      throw new StorageIntegrityError(`Nothing lies in ${packageLocation(attempt)}, which was committed.`, {
        problem: 'package',
      });
    }
    const entries = entriesOf(listed);
    refuseIrregularEntries(entries);
    const present = new Set(entries.map(({ name }) => name));
    checkPresent(present, MARKER_FILE);
    checkPresent(present, MANIFEST_FILE);
    if (marker === null) throw missingFile(MARKER_FILE);
    if (manifestBytes === null) throw missingFile(MANIFEST_FILE);
    checkManifestLength(manifestBytes.length);
    const { manifestSha256 } = judgePackage(this.#context.judging, snapshotId, {
      present,
      marker,
      manifestBytes,
    });
    const hasIntent = present.has(INTENT_FILE);
    if (hasIntent) {
      const intent = await this.readFile(attempt, INTENT_FILE, intentLength(snapshotId), signal);
      if (intent === null) throw missingFile(INTENT_FILE);
      checkIntent(intent, snapshotId);
    }
    const manifest = parseProven(manifestBytes);
    const stamps = new Map<string, ObjectStamp>();
    for (const { name, etag, size } of listed) stamps.set(name, { etag, size });
    for (const entry of Object.values(manifest.arrays)) {
      checkLength(entry, BigInt(stampOf(stamps, entry.file).size));
    }
    return { manifest, manifestSha256, manifestBytes, hasIntent, snapshotId, attempt, stamps };
  }

  /** All objects of an attempt, bounded. */
  async list(attempt: AttemptName, signal?: AbortSignal): Promise<readonly ListedObject[]> {
    const found: ListedObject[] = [];
    const under = `${packageLocation(attempt)}/`;
    for await (const { objects } of this.#context.objects.list(under, {}, signal)) {
      found.push(...objects);
      if (found.length > MAX_OBJECTS) {
        throw new StorageIntegrityError(
          `More than ${MAX_OBJECTS} objects lie in ${packageLocation(attempt)}.`,
          {
            problem: 'inventory',
          },
        );
      }
    }
    return found;
  }

  /** A small file of a package, or its first `most + 1` bytes; null where it is missing. */
  async readFile(
    attempt: AttemptName,
    file: string,
    most: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array | null> {
    const found = await this.#context.objects.read(fileName(attempt, file), most, signal);
    return found?.bytes ?? null;
  }

  /** Every byte of a snapshot. `withMacs` where large payloads will be read again, to be sent. */
  async provePackage(
    id: SnapshotId,
    {
      withMacs = false,
      signal,
    }: { readonly withMacs?: boolean; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ProvenFrame> {
    const { memory } = this.#context;
    const startedAt = memory?.now();
    const known = memory?.known(id) ?? {};
    const frame = await this.proveFrame(id, signal);
    const proofs = await this.provePayloads(frame, { withMacs: withMacs && memory === null, known, signal });
    if (startedAt !== undefined) memory?.remember(id, known, proofs, startedAt);
    return { ...frame, proofs };
  }

  /** The checksums of all payloads of a frame. Throws the refusal of the first, in the manifest's order, that does not hold. */
  async provePayloads(
    frame: Frame,
    {
      withMacs = false,
      known = {},
      signal,
    }: {
      readonly withMacs?: boolean;
      readonly known?: Readonly<Record<string, ObjectProof>>;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<Readonly<Record<string, ObjectProof>>> {
    const proofs: Record<string, ObjectProof> = {};
    const failures = new Map<number, unknown>();
    await pMap(
      Object.values(frame.manifest.arrays),
      async (entry, index) => {
        if (failures.size > 0) return;
        try {
          proofs[entry.file] = await this.#provePayload(frame, entry, { withMacs, known, signal });
        } catch (error) {
          failures.set(index, error);
        }
      },
      { concurrency: PROOFS_AT_ONCE },
    );
    if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
    return proofs;
  }

  /** One proof for all who ask for the same state of the same object while it is under way. */
  async #provePayload(
    frame: Frame,
    entry: ArrayEntry,
    {
      withMacs,
      known,
      signal,
    }: {
      readonly withMacs: boolean;
      readonly known: Readonly<Record<string, ObjectProof>>;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<ObjectProof> {
    const claim = claimOf(entry);
    const stamp = stampOf(frame.stamps, claim.file);
    const before = known[claim.file];
    if (before !== undefined && OBJECT_STAMPS.same(before, stamp)) return before;
    const name = fileName(frame.attempt, claim.file);
    const key = [name, stamp.etag, claim.sha256, withMacs].join(' ');
    try {
      return await this.#shared.join(key, signal, (whileWanted) =>
        this.#hash(name, { claim, stamp, withMacs }, whileWanted),
      );
    } catch (error) {
      throw named(error, frame.snapshotId);
    }
  }

  async #hash(
    name: string,
    {
      claim,
      stamp,
      withMacs,
    }: { readonly claim: PayloadClaim; readonly stamp: ObjectStamp; readonly withMacs: boolean },
    signal: AbortSignal,
  ): Promise<ObjectProof> {
    const hash = createHash('sha256');
    const macs = withMacs && stamp.size > SMALL_PAYLOAD_BYTES ? new BlockMacsBuilder(stamp.size) : null;
    const chunks = this.#chunks(name, claim.file, { stamp }, signal);
    if (macs === null) for await (const chunk of chunks) hash.update(chunk);
    else {
      for await (const block of inBlocks(chunks)) {
        hash.update(block);
        macs.add(block);
      }
    }
    checkDigest(claim, hash.digest('hex'));
    return macs === null ? stamp : { ...stamp, macs: macs.build() };
  }

  /** A whole payload in memory, proven by exactly these bytes. */
  async readPayload(frame: Frame, entry: ArrayEntry, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const claim = claimOf(entry);
    const bytes = new Uint8Array(Number(claim.byte_length));
    const hash = createHash('sha256');
    try {
      let at = 0;
      const stamp = stampOf(frame.stamps, claim.file);
      for await (const chunk of this.#chunks(
        fileName(frame.attempt, claim.file),
        claim.file,
        { stamp },
        signal,
      )) {
        bytes.set(chunk, at);
        hash.update(bytes.subarray(at, at + chunk.length));
        at += chunk.length;
      }
      checkDigest(claim, hash.digest('hex'));
    } catch (error) {
      throw named(error, frame.snapshotId);
    }
    return bytes;
  }

  /** All arrays of a frame, each proven by exactly the bytes that its caller gets. */
  async readArrays(
    frame: Frame,
    signal?: AbortSignal,
  ): Promise<Readonly<Record<ArrayKey, ReadonlyIntegerArray>>> {
    const arrays = Object.create(null) as Record<ArrayKey, ReadonlyIntegerArray>;
    await pMap(
      Object.entries(frame.manifest.arrays),
      async ([key, entry]) => {
        arrays[key] = ownedArray(entry.dtype, await this.readPayload(frame, entry, signal));
      },
      { concurrency: PROOFS_AT_ONCE },
    );
    return arrays;
  }

  /** Proves the frame and one array. Throws also `array_not_found`. */
  async openArray(
    id: SnapshotId,
    key: ArrayKey,
    {
      deliver = true,
      signal,
    }: { readonly deliver?: boolean; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<StoredArray> {
    const { memory } = this.#context;
    const startedAt = memory?.now();
    const known = memory?.known(id) ?? {};
    const frame = await this.proveFrame(id, signal);
    const entry = frame.manifest.arrays[key];
    if (entry === undefined) {
      throw new SnapshotError('array_not_found', `Snapshot ${id} has no array ${key}.`, {
        snapshot_id: id,
        array: key,
      });
    }
    if (Number(entry.byte_length) <= SMALL_PAYLOAD_BYTES) return this.openProven(frame, key, {}, signal);
    const withMacs = deliver && memory === null;
    const proof = await this.#provePayload(frame, entry, { withMacs, known, signal });
    const proofs = { [entry.file]: proof };
    if (startedAt !== undefined) memory?.remember(id, known, proofs, startedAt);
    return this.openProven(frame, key, proofs, signal);
  }

  /** One array of a frame; a large one was proven before and is held to that proof. */
  async openProven(
    frame: Frame,
    key: ArrayKey,
    proofs: Readonly<Record<string, ObjectProof>>,
    signal?: AbortSignal,
  ): Promise<StoredArray> {
    const entry = frame.manifest.arrays[key];
    if (entry === undefined) throw new Error('Only arrays of the manifest are opened.');
    const proof = proofs[entry.file];
    const bytes = proof === undefined || proof.size <= SMALL_PAYLOAD_BYTES;
    const about = { snapshotId: frame.snapshotId, key, entry, manifestSha256: frame.manifestSha256 };
    return new ObjectArray(about, bytes ? await this.readPayload(frame, entry, signal) : null, (start, end) =>
      this.#provenBlocks(frame, entry, { proof: proof as ObjectProof, start, end }),
    );
  }

  /** The files of a package whose every byte was just proven, in the order in which they were written. */
  filesOf(proven: ProvenFrame): PackageFiles {
    const { snapshotId, manifest, manifestBytes, manifestSha256, hasIntent } = proven;
    const payloads = Object.entries(manifest.arrays).map(([key, { file, byte_length }]): PackagedFile => {
      const open = () => this.openProven(proven, key, proven.proofs);
      return {
        name: file,
        byteLength: Number(byte_length),
        blocks: async function* () {
          yield* (await open()).blocks();
        },
      };
    });
    const stillTheSame = async (): Promise<void> => {
      const now = await this.proveFrame(snapshotId);
      if (now.manifestSha256 !== manifestSha256) throw named(changedWhileRead(MANIFEST_FILE), snapshotId);
    };
    return {
      manifest,
      manifestBytes,
      manifestSha256,
      hasIntent,
      files: [
        ...(hasIntent ? [inMemory(INTENT_FILE, intentBytes(snapshotId))] : []),
        ...payloads,
        inMemory(MANIFEST_FILE, manifestBytes, stillTheSame),
        inMemory(MARKER_FILE, markerBytes(manifestSha256)),
      ],
    };
  }

  /** Each block is held to the code that was made when the whole was proven, before any of it leaves. */
  async *#provenBlocks(
    { attempt, snapshotId }: Frame,
    { file }: ArrayEntry,
    { proof, start, end }: { readonly proof: ObjectProof; readonly start: number; readonly end: number },
  ): AsyncGenerator<Uint8Array, void, void> {
    if (end <= start) return;
    let index = Math.floor(start / BLOCK_BYTES);
    const part = {
      stamp: proof,
      start: index * BLOCK_BYTES,
      end: Math.min(proof.size, Math.ceil(end / BLOCK_BYTES) * BLOCK_BYTES),
    };
    try {
      for await (const block of inBlocks(this.#chunks(fileName(attempt, file), file, part))) {
        if (proof.macs !== undefined && !hasMac(block, expectedMac(proof.macs, index)))
          throw changedWhileRead(file);
        const position = index * BLOCK_BYTES;
        yield block.subarray(Math.max(0, start - position), end - position);
        index += 1;
      }
    } catch (error) {
      throw named(error, snapshotId);
    }
  }

  /** The bytes of a file as they come, held to one state of its object. */
  async *#chunks(
    name: string,
    file: string,
    part: { readonly stamp: ObjectStamp; readonly start?: number; readonly end?: number },
    signal?: AbortSignal,
  ): AsyncGenerator<Buffer, void, void> {
    try {
      yield* this.#context.objects.stream(name, part, signal);
    } catch (error) {
      if (!(error instanceof ObjectMissing)) throw error;
      throw error.reason === 'absent' ? missingFile(file) : changedWhileRead(file);
    }
  }
}

/** An array as its readers get it; what it needs of the engine it opens for each reading of its blocks. */
class ObjectArray implements StoredArray {
  readonly snapshotId: SnapshotId;
  readonly key: ArrayKey;
  readonly entry: ArrayEntry;
  readonly manifestSha256: string;
  readonly byteLength: number;
  readonly bytes: Uint8Array | null;
  readonly #read: (start: number, end: number) => AsyncGenerator<Uint8Array, void, void>;

  constructor(
    about: Pick<StoredArray, 'snapshotId' | 'key' | 'entry' | 'manifestSha256'>,
    bytes: Uint8Array | null,
    read: (start: number, end: number) => AsyncGenerator<Uint8Array, void, void>,
  ) {
    this.snapshotId = about.snapshotId;
    this.key = about.key;
    this.entry = about.entry;
    this.manifestSha256 = about.manifestSha256;
    this.byteLength = Number(about.entry.byte_length);
    this.bytes = bytes;
    this.#read = read;
  }

  async *blocks(start = 0, end = this.byteLength): AsyncGenerator<Uint8Array, void, void> {
    if (end <= start) return;
    if (this.bytes !== null) yield this.bytes.subarray(start, end);
    else yield* this.#read(start, end);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Cut into blocks of `BLOCK_BYTES`, the last one shorter; each is valid until the next one is asked for. */
export async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const taken = Math.min(BLOCK_BYTES - filled, chunk.length - at);
      block.set(chunk.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled < BLOCK_BYTES) continue;
      yield block;
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

/** What lies deeper than a file can is told as the directory it would be. */
export function entriesOf(listed: readonly ListedObject[]): readonly PackageEntry[] {
  const kinds = new Map<string, PackageEntry['kind']>();
  for (const { name } of listed) {
    const [first = '', ...deeper] = name.split('/');
    kinds.set(first, deeper.length > 0 ? 'directory' : 'file');
  }
  return [...kinds].map(([name, kind]) => ({ name, kind }));
}

function stampOf(stamps: ReadonlyMap<string, ObjectStamp>, file: string): ObjectStamp {
  const stamp = stamps.get(file);
  if (stamp === undefined) throw missingFile(file);
  return stamp;
}
