/**
 * Proving the bytes of one payload: the one way in which its SHA-256 is taken from disk, whoever wants to know (PW-07.02,
 * PW-07.03), the read-back of one that is being written (PW-07.04 step 4), and the second read of a proven one.
 */
import { createHash, type Hash } from 'node:crypto';
import { sha256Hex } from '../contract/digest.ts';
import { StorageIntegrityError } from '../contract/errors.ts';
import { BLOCK_BYTES, BlockMacsBuilder, hasMac, type BlockMacs, type ExpectedMac } from './blocks.ts';
import {
  sameStamp,
  type Descriptor,
  type FileStamp,
  type FileSystem,
  type FileSystemReader,
} from './file-system.ts';
import {
  closeAfterFailure,
  closeRead,
  openRegularFile,
  readFailure,
  readInto,
  writeFullySync,
} from './io.ts';
import {
  changedWhileRead,
  checkDigest,
  checkLength,
  lengthMismatch,
  type PayloadClaim,
} from './package-checks.ts';

/** Payloads up to this size are delivered from memory, larger ones block by block. */
export const SMALL_PAYLOAD_BYTES = BLOCK_BYTES;

/** How much is hashed before other work of the same thread gets its turn, and before anyone who left is noticed. */
const SLICE_BYTES = 8 * 1024 * 1024;
/** What opening, looking at and closing a file costs, in bytes hashed meanwhile. */
const FILE_COST = 32 * 1024;

/** The state in which the checksum of a payload held. */
export interface PayloadProof extends FileStamp {
  /** Of a payload above `SMALL_PAYLOAD_BYTES`, where they were asked for. */
  readonly macs?: BlockMacs;
}

/** Proofs made before, by file name; a file in the same state is not hashed again. */
export type KnownProofs = Readonly<Record<string, PayloadProof>>;

/** What a task asks whether anybody still waits for it: a signal, or less. */
export type Ending = Pick<AbortSignal, 'throwIfAborted'>;

/** One task's hold on its thread: it gives way every few MiB, and ends there when nobody waits for it any more. */
export class Turn {
  readonly #signal: Ending | undefined;
  #spent = 0;

  constructor(signal?: Ending) {
    this.#signal = signal;
  }

  /** Counts work done; true when `giveWay` is due. */
  spend(bytes: number): boolean {
    this.#spent += bytes;
    return this.#spent >= SLICE_BYTES;
  }

  /** Throws the signal's reason once it has been given. */
  async giveWay(): Promise<void> {
    this.#spent = 0;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
  }
}

/** The state of a payload's file as it lies there, proven to have its length. */
export function statPayload(fs: FileSystemReader, directory: string, claim: PayloadClaim): FileStamp {
  let stamp: FileStamp;
  try {
    stamp = fs.statEntry(`${directory}/${claim.file}`);
  } catch (error) {
    throw readFailure(error, claim.file, 'inventory');
  }
  checkLength(claim, stamp.size);
  return stamp;
}

export interface ProofRequest {
  /** Absolute path of the package. */
  readonly directory: string;
  readonly claim: PayloadClaim;
  /** Makes the codes of its blocks too, of a payload that will be read again to be sent. */
  readonly withMacs?: boolean;
  /** Gets exactly the bytes that were hashed; as long as the payload. */
  readonly into?: Uint8Array;
}

/**
 * Proves one payload: a regular file of the claimed length and SHA-256, in the state that is returned. Throws
 * `StorageIntegrityError`, `unavailable`, or the reason of the turn's signal.
 */
export async function provePayload(
  fs: FileSystemReader,
  { directory, claim, withMacs, into }: ProofRequest,
  turn: Turn,
): Promise<PayloadProof> {
  const { file, stat } = openRegularFile(fs, `${directory}/${claim.file}`, claim.file);
  let macs: BlockMacsBuilder | null = null;
  try {
    checkLength(claim, stat.size);
    const size = Number(claim.byte_length);
    if (withMacs === true && size > SMALL_PAYLOAD_BYTES) macs = new BlockMacsBuilder(size);
    checkDigest(claim, await hashFile(fs, file, claim.file, { size, into, macs }, turn));
  } catch (error) {
    closeAfterFailure(fs, file);
    throw readFailure(error, claim.file, 'inventory');
  }
  closeRead(fs, file, claim.file);
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  const stamp = { dev, ino, size, mtimeNs, ctimeNs };
  return macs === null ? stamp : { ...stamp, macs: macs.build() };
}

interface HashRequest {
  readonly size: number;
  readonly into: Uint8Array | undefined;
  readonly macs: BlockMacsBuilder | null;
}

/** Each thread's own, for bytes that are hashed in the turn in which they were read and not kept. */
const SCRATCH = Buffer.allocUnsafeSlow(BLOCK_BYTES);
const ONE_MORE = Buffer.alloc(1);

/** SHA-256 of an open file that must be `size` bytes long, not one more: it may have grown behind its stat. */
async function hashFile(
  fs: FileSystemReader,
  file: Descriptor,
  name: string,
  { size, into, macs }: HashRequest,
  turn: Turn,
): Promise<string> {
  const read = (position: number): Uint8Array => {
    const length = Math.min(BLOCK_BYTES, size - position);
    const block =
      into === undefined ? SCRATCH.subarray(0, length) : into.subarray(position, position + length);
    const count = readInto(fs, file, block, position);
    if (count < length) throw lengthMismatch(name, BigInt(size), BigInt(position + count));
    return block;
  };
  let sha256: string;
  if (size <= BLOCK_BYTES) sha256 = sha256Hex(read(0));
  else {
    const hash = createHash('sha256');
    for (let position = 0; position < size; position += BLOCK_BYTES) {
      const block = read(position);
      hash.update(block);
      macs?.add(block);
      if (turn.spend(block.length)) await turn.giveWay();
    }
    sha256 = hash.digest('hex');
  }
  if (readInto(fs, file, ONE_MORE, size) > 0) throw lengthMismatch(name, BigInt(size), 'more');
  if (turn.spend(FILE_COST + (size <= BLOCK_BYTES ? size : 0))) await turn.giveWay();
  return sha256;
}

/** One block of a proven payload, read again. Plain data but for `bytes`, which is shared memory where threads are involved. */
export interface BlockRead {
  readonly file: Descriptor;
  /** Filled whole. */
  readonly bytes: Uint8Array;
  /** Byte position in the file. */
  readonly position: number;
  /** How messages call the file. */
  readonly name: string;
  /** The state in which the file was proven. */
  readonly stamp: FileStamp;
  /** Null where the proof was remembered and not made for this read. */
  readonly mac: ExpectedMac | null;
}

/** Throws `length` or `checksum` unless the block is what was proven, or the read's own error. */
export function readBlock(
  fs: FileSystemReader,
  { file, bytes, position, name, stamp, mac }: BlockRead,
): void {
  if (readInto(fs, file, bytes, position) < bytes.length) {
    throw new StorageIntegrityError(`${name} became shorter while it was being read.`, {
      problem: 'length',
      location: name,
    });
  }
  if (!sameStamp(fs.statOpen(file), stamp)) throw changedWhileRead(name);
  if (mac !== null && !hasMac(bytes, mac)) throw changedWhileRead(name);
}

/**
 * Small enough to stay in the processor's own cache from the write to the read and the hash. For larger writes ext4 takes
 * larger pieces of memory, which on a virtual machine are those that its host took back: 512 MiB then cost a second more.
 */
const PIECE_BYTES = 128 * 1024;

export interface StoredFile {
  /** 64 lowercase hex, of the bytes as they were read back. */
  readonly sha256: string;
  /** The state of the file after its last byte was read back. */
  readonly stamp: FileStamp;
}

/**
 * A payload that is written, read back and hashed piece by piece: what was read is compared with what was received, and it
 * is the read bytes that are hashed. They come from the system's memory of the file; that the disk has them too is for the
 * sync to see to.
 */
export class PayloadFile {
  readonly #fs: FileSystem;
  readonly #out: Descriptor;
  readonly #path: string;
  readonly #name: string;
  readonly #hash: Hash = createHash('sha256');
  readonly #buffer = Buffer.allocUnsafe(PIECE_BYTES);
  #in: Descriptor | null = null;
  #position = 0;
  #failed = false;

  /** `out` was just created at `path` and is open for writing; `name` is how messages call it. */
  constructor(fs: FileSystem, out: Descriptor, path: string, name: string) {
    this.#fs = fs;
    this.#out = out;
    this.#path = path;
    this.#name = name;
  }

  /**
   * Takes what comes behind all before it. Write, read back and hash without a turn of another thread between them: waking
   * one costs more than the work. Throws the write's own error, `checksum` or `length`; after a failure nothing more is
   * written.
   */
  store(bytes: Uint8Array): void {
    if (this.#failed) throw new Error('Nothing more is written to a payload after a failure.');
    this.#failed = true;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) this.#piece(bytes.subarray(at, at + PIECE_BYTES));
    this.#failed = false;
  }

  /** The proof of a file that must be exactly as long as what was taken. Closes what was opened here. */
  finish(): StoredFile {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = this.#fs.statOpen(this.#reading());
      const expected = BigInt(this.#position);
      if (size !== expected) throw lengthMismatch(this.#name, expected, size);
      return { sha256: this.#hash.digest('hex'), stamp: { dev, ino, size, mtimeNs, ctimeNs } };
    } catch (error) {
      throw readFailure(error, this.#name, 'inventory');
    } finally {
      this.close();
    }
  }

  close(): void {
    if (this.#in !== null) this.#fs.closeSync(this.#in);
    this.#in = null;
  }

  #reading(): Descriptor {
    this.#in ??= openRegularFile(this.#fs, this.#path, this.#name).file;
    return this.#in;
  }

  #piece(expected: Uint8Array): void {
    writeFullySync(this.#fs, this.#out, expected, this.#position);
    const read = this.#buffer.subarray(0, expected.length);
    this.#read(read);
    if (!read.equals(expected)) {
      throw new StorageIntegrityError(`${this.#name} does not hold the bytes that were written to it.`, {
        problem: 'checksum',
        location: this.#name,
      });
    }
    this.#hash.update(read);
    this.#position += read.length;
  }

  #read(buffer: Buffer): void {
    let count: number;
    try {
      count = readInto(this.#fs, this.#reading(), buffer, this.#position);
    } catch (error) {
      throw readFailure(error, this.#name, 'inventory');
    }
    if (count === buffer.length) return;
    throw lengthMismatch(this.#name, BigInt(this.#position + buffer.length), BigInt(this.#position + count));
  }
}
