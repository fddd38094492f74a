/** Manifests and arrays, each proven against its SHA-256 before anyone sees it (PW-07.03, PW-07.05). */
import { payloadFileName } from '../contract/package.ts';
import { createHash } from 'node:crypto';
import { sha256Hex } from '../contract/digest.ts';
import {
  DTYPES,
  dtypeWidth,
  isDtype,
  ownedArray,
  type Dtype,
  type IntegerArray,
} from '../contract/dtypes.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import { isArrayKey, isSnapshotId, type ArrayKey, type SnapshotId } from '../contract/ids.ts';
import { parseManifest, type ArrayEntry, type Manifest } from '../contract/manifest.ts';
import type { OpenedSnapshot, ProvenManifest } from '../contract/opened.ts';
import { isUint64 } from '../contract/uint64.ts';
import {
  contentLength,
  expectStatus,
  expectType,
  MAX_BYTES,
  readBody,
  representationDigest,
} from './answers.ts';
import {
  ChecksumMismatchError,
  ConnectionError,
  InvalidOptionError,
  ProtocolError,
  refusedLocally,
  SnapshotClientError,
  TimeoutError,
} from './errors.ts';
import { isTransient, pauseAfter, retryingRead, wait, type Answer, type Transport } from './transport.ts';

/** The path of a snapshot; ids and keys become parts of URLs, so they are checked first. Throws `InvalidSnapshotIdError`. */
export function snapshotPath(id: SnapshotId): string {
  if (isSnapshotId(id)) return `/snapshots/${id}`;
  throw refusedLocally(
    'invalid_snapshot_id',
    `A snapshot id is 32 lowercase hex digits; found ${JSON.stringify(String(id)).slice(0, 80)}.`,
    { expected: '32 lowercase hex digits' },
  );
}

/** The path of one array. Throws `InvalidSnapshotIdError` or a `ProblemError` `invalid_request`. */
function arrayPath(id: SnapshotId, key: ArrayKey): string {
  const base = snapshotPath(id);
  if (isArrayKey(key)) return `${base}/${payloadFileName(key)}`;
  throw refusedLocally(
    'invalid_request',
    `An array key matches [a-z][a-z0-9_]{0,63}; found ${JSON.stringify(String(key)).slice(0, 80)}.`,
    {},
  );
}

/** The manifest of a snapshot, all of whose bytes the service proves first. */
export async function fetchManifest(
  transport: Transport,
  id: SnapshotId,
  signal?: AbortSignal,
): Promise<ProvenManifest> {
  const path = snapshotPath(id);
  return retryingRead(transport.retry, signal, async () => {
    const answer = await expectStatus(await transport.request(path, { signal }), 200);
    return readManifest(answer, id);
  });
}

const INTENT_LINK = /<[^>]*\/intent\.json>; *rel="related"/u;

/**
 * Proves the manifest in an answer: its digests, canonical form, every rule of the contract, and that it is the
 * snapshot that was asked for.
 *
 * @throws ChecksumMismatchError, ProtocolError
 */
export async function readManifest(answer: Answer, id: SnapshotId): Promise<ProvenManifest> {
  expectType(answer, 'application/json');
  const { status } = answer;
  const expected = representationDigest(answer);
  const etag = answer.header('etag');
  const bytes = await readBody(answer, MAX_BYTES.manifest);
  const actual = sha256Hex(bytes);
  if (actual !== expected) throw new ChecksumMismatchError(`manifest of ${id}`, expected, actual);
  if (etag !== `"${expected}"`) {
    throw new ProtocolError(`The ETag of ${id} is ${etag ?? 'missing'}, not the manifest's SHA-256.`, {
      status,
    });
  }
  const manifest = parsed(bytes, status);
  const found = manifest.snapshot.snapshot_id;
  if (found !== id)
    throw new ProtocolError(`Expected the manifest of ${id}, found that of ${found}.`, { status });
  return {
    manifest,
    manifestBytes: bytes,
    manifestSha256: actual,
    hasIntent: INTENT_LINK.test(answer.list('link') ?? ''),
  };
}

function parsed(bytes: Uint8Array, status: number): Manifest {
  try {
    return parseManifest(bytes);
  } catch (cause) {
    if (!isAnySnapshotError(cause)) throw cause;
    throw new ProtocolError(cause.message, { status, cause });
  }
}

/** What the headers of an array say of it. */
export interface ArrayInfo {
  readonly dtype: Dtype;
  /** Elements. */
  readonly count: number;
  /** Bytes: count times the dtype's width. */
  readonly byteLength: number;
  /** Of the whole array, 64 lowercase hex digits. */
  readonly sha256: string;
  /** The strong entity tag, quotes included. */
  readonly etag: string;
}

/** Asks with HEAD; the service proves the array before it answers. */
export async function fetchArrayInfo(
  transport: Transport,
  id: SnapshotId,
  key: ArrayKey,
  signal?: AbortSignal,
): Promise<ArrayInfo> {
  const path = arrayPath(id, key);
  return retryingRead(transport.retry, signal, async () => {
    const answer = await transport.request(path, { method: 'HEAD', signal });
    answer.discard();
    if (answer.status === 200) return arrayInfo(answer);
    // The refusal of a HEAD has no body; the same question as GET says what is wrong.
    const full = await expectStatus(await transport.request(path, { signal }), 200);
    full.discard();
    return arrayInfo(full);
  });
}

/** Throws `ProtocolError` for a header that is missing or contradicts another. */
function arrayInfo(answer: Answer): ArrayInfo {
  expectType(answer, 'application/octet-stream');
  const sha256 = representationDigest(answer);
  const dtype = answer.header('array-dtype');
  const count = answer.header('array-count');
  const endianness = answer.header('array-endianness');
  const etag = answer.header('etag');
  if (!isDtype(dtype)) throw wrong(answer, 'Array-Dtype', dtype, 'one of the eight integer dtypes');
  if (!isUint64(count)) throw wrong(answer, 'Array-Count', count, 'a number of elements');
  if (endianness !== 'little') throw wrong(answer, 'Array-Endianness', endianness, '"little"');
  if (etag === null || !/^"[^"]*"$/u.test(etag)) throw wrong(answer, 'ETag', etag, 'a strong entity tag');
  const byteLength = Number(count) * dtypeWidth(dtype);
  if (!Number.isSafeInteger(byteLength))
    throw wrong(answer, 'Array-Count', count, 'a length below 2^53 bytes');
  return { dtype, count: Number(count), byteLength, sha256, etag };
}

function wrong(answer: Answer, header: string, found: string | null, expected: string): ProtocolError {
  answer.discard();
  return new ProtocolError(`The header ${header} must be ${expected}; found ${found ?? 'none'}.`, {
    status: answer.status,
  });
}

export interface StreamOptions {
  /** First byte; 0 by default. */
  readonly start?: number;
  /** One after the last byte; the end of the array by default or where it lies beyond it. */
  readonly end?: number;
  readonly signal?: AbortSignal;
}

/**
 * The bytes of an array. A connection that breaks or stalls is followed by a Range request for the rest, under If-Range,
 * so that no two versions are ever mixed. A read of the whole array throws `ChecksumMismatchError` at its end if the
 * bytes are not those of its SHA-256: use them only once the iteration has ended. A part cannot be proven by itself.
 */
export async function* streamArray(
  transport: Transport,
  id: SnapshotId,
  key: ArrayKey,
  { start = 0, end, signal }: StreamOptions = {},
  onInfo: (info: ArrayInfo) => void = () => undefined,
): AsyncGenerator<Uint8Array, void, void> {
  checkRange(start, end);
  const path = arrayPath(id, key);
  const hash = createHash('sha256');
  let at = start;
  let failures = 0;
  let first: ArrayInfo | null = null;
  while (first === null || at < stopOf(first, end)) {
    try {
      const { answer, info } = await openFrom(transport, path, { at, end, first, signal });
      const stop = stopOf(info, end);
      try {
        if (first === null) onInfo(info);
        first = info;
        for await (const chunk of bytesBetween(answer, at, stop, info.byteLength)) {
          at += chunk.length;
          failures = 0;
          hash.update(chunk);
          yield chunk;
        }
      } finally {
        answer.discard();
      }
      if (at < stop) throw new ConnectionError(`${path}: the answer ended ${stop - at} bytes early.`);
    } catch (error) {
      failures += 1;
      const pause = mayResume(error) ? pauseAfter(failures, error, transport.retry) : null;
      if (pause === null) throw error;
      await wait(pause, signal);
    }
  }
  if (start > 0 || at < first.byteLength) return;
  const actual = hash.digest('hex');
  if (actual !== first.sha256) throw new ChecksumMismatchError(`array ${key} of ${id}`, first.sha256, actual);
}

function stopOf({ byteLength }: ArrayInfo, end: number | undefined): number {
  return Math.min(end ?? byteLength, byteLength);
}

interface Position {
  readonly at: number;
  readonly end: number | undefined;
  /** What the first answer said of the array. */
  readonly first: ArrayInfo | null;
  readonly signal: AbortSignal | undefined;
}

async function openFrom(
  transport: Transport,
  path: string,
  { at, end, first, signal }: Position,
): Promise<{ answer: Answer; info: ArrayInfo }> {
  const partial = at > 0 || end !== undefined;
  const headers: Record<string, string> = {};
  if (partial) headers['range'] = `bytes=${at}-${end === undefined ? '' : end - 1}`;
  if (partial && first !== null) headers['if-range'] = first.etag;
  const statuses = partial ? [200, 206] : [200];
  const answer = await expectStatus(await transport.request(path, { headers, signal }), ...statuses);
  const info = arrayInfo(answer);
  if (first !== null && info.etag !== first.etag) {
    answer.discard();
    throw new ProtocolError(`The array at ${path} changed while it was read; a published array never does.`, {
      status: answer.status,
    });
  }
  checkExtent(answer, info, at, end);
  return { answer, info };
}

/** The answer must hold exactly the bytes asked for, or, with status 200, all of them. */
function checkExtent(answer: Answer, info: ArrayInfo, at: number, end: number | undefined): void {
  const { status } = answer;
  const total = info.byteLength;
  const stop = stopOf(info, end);
  if (status === 206) {
    const found = answer.header('content-range');
    const expected = `bytes ${at}-${stop - 1}/${total}`;
    if (found !== expected) {
      answer.discard();
      throw new ProtocolError(`Expected Content-Range "${expected}", found ${found ?? 'none'}.`, { status });
    }
  }
  const length = status === 206 ? stop - at : total;
  const declared = contentLength(answer);
  if (declared !== null && declared !== length) {
    answer.discard();
    throw new ProtocolError(`Expected ${length} bytes of the array, found a Content-Length of ${declared}.`, {
      status,
    });
  }
}

/** A server that ignores Range sends everything: what was not asked for is skipped, what was not announced refused. */
async function* bytesBetween(
  answer: Answer,
  at: number,
  stop: number,
  total: number,
): AsyncGenerator<Uint8Array, void, void> {
  const { status } = answer;
  const last = status === 206 ? stop : total;
  let position = status === 206 ? at : 0;
  for await (const chunk of answer.chunks()) {
    const wanted = chunk.subarray(Math.max(0, at - position), Math.max(0, stop - position));
    position += chunk.length;
    if (position > last) {
      throw new ProtocolError(`The answer goes on after the ${last} bytes it announced.`, { status });
    }
    if (wanted.length > 0) yield wanted;
    // Reading a wanted answer to its end keeps the connection; leaving an unwanted rest ends it.
    if (position >= stop && stop < last) return;
  }
}

function mayResume(error: unknown): boolean {
  return isTransient(error) || (error instanceof TimeoutError && error.phase === 'body');
}

function checkRange(start: number, end: number | undefined): void {
  if (!Number.isSafeInteger(start) || start < 0) {
    throw new InvalidOptionError('start', `must be a whole number of bytes of at least 0; found ${start}.`);
  }
  if (end !== undefined && (!Number.isSafeInteger(end) || end <= start)) {
    throw new InvalidOptionError(
      'end',
      `must be a whole number of bytes greater than start ${start}; found ${end}.`,
    );
  }
}

/** Arrays fetched at once: enough to hide the latency of many small ones. */
const LANES = 4;

/** Asks for the manifest once and for each array once, whatever their number. */
export async function openSnapshot(
  transport: Transport,
  id: SnapshotId,
  signal?: AbortSignal,
): Promise<OpenedSnapshot> {
  const proven = await fetchManifest(transport, id, signal);
  const entries = Object.entries(proven.manifest.arrays);
  const arrays = Object.create(null) as Record<ArrayKey, IntegerArray>;
  // In the manifest's order, whichever arrives first.
  for (const [key, { dtype }] of entries) arrays[key] = new DTYPES[dtype].arrayType(0);
  const waiting = entries.values();
  // One failure ends them all: nobody waits for what is still on its way.
  const failed = new AbortController();
  const ended = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const lane = async (): Promise<void> => {
    for (const [key, entry] of waiting) {
      arrays[key] = await fetchArray(transport, id, key, { entry, signal: ended });
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(LANES, entries.length) }, lane));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
  return { metadata: proven.manifest.snapshot, ...proven, arrays };
}

interface FetchArrayOptions {
  /** The proven manifest's word on the array, which the answer must keep. */
  readonly entry?: ArrayEntry;
  readonly signal?: AbortSignal | undefined;
}

/** Throws `ChecksumMismatchError`, `ArrayNotFoundError`, and what `streamArray` throws. */
export async function fetchArray(
  transport: Transport,
  id: SnapshotId,
  key: ArrayKey,
  { entry, signal }: FetchArrayOptions = {},
): Promise<IntegerArray> {
  const received = { dtype: 'uint8' as Dtype, bytes: new Uint8Array(0) };
  let at = 0;
  const blocks = streamArray(transport, id, key, signal === undefined ? {} : { signal }, (info) => {
    if (entry !== undefined) checkEntry(id, key, entry, info);
    received.dtype = info.dtype;
    received.bytes = allocated(key, info.byteLength);
  });
  for await (const block of blocks) {
    received.bytes.set(block, at);
    at += block.length;
  }
  return ownedArray(received.dtype, received.bytes);
}

function allocated(key: ArrayKey, byteLength: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(byteLength);
  } catch (cause) {
    throw new SnapshotClientError(
      'too_large',
      `The array ${key} of ${byteLength} bytes does not fit into memory; read it in pieces with streamArray.`,
      { cause },
    );
  }
}

function checkEntry(id: SnapshotId, key: ArrayKey, entry: ArrayEntry, info: ArrayInfo): void {
  if (info.sha256 !== entry.sha256) {
    throw new ChecksumMismatchError(`array ${key} of ${id}`, entry.sha256, info.sha256);
  }
  if (info.dtype !== entry.dtype || String(info.byteLength) !== entry.byte_length) {
    throw new ProtocolError(
      `The array ${key} of ${id} is announced as ${info.byteLength} bytes of ${info.dtype}; its manifest says ` +
        `${entry.byte_length} bytes of ${entry.dtype}.`,
    );
  }
}
