/**
 * What a publication is asked to take, and what then arrives: the metadata document, arrays of library callers as payloads,
 * and each payload matched against its declaration (PW-07.04 steps 1 and 3): no array missing, undeclared or twice.
 */
import {
  dtypeOfTypedArray,
  dtypeWidth,
  isDtype,
  littleEndian,
  type Dtype,
  type IntegerArray,
} from '../contract/dtypes.ts';
import { ContractViolationError, SnapshotError, summarize, type Violation } from '../contract/errors.ts';
import { isArrayKey, type ArrayKey } from '../contract/ids.ts';
import { DTYPE_MISSING, parseDraft, type DraftArray, type DraftManifest } from '../contract/manifest.ts';
import { arrayKeyOfFileName, payloadFileName } from '../contract/package.ts';
import { parseStrictJson } from '../contract/strict-json.ts';

/** What of a payload is known once all of it has arrived. */
export interface ArrivedPayload {
  readonly byteLength: number;
  /** 64 lowercase hex, of the bytes as they were received. */
  readonly sha256: string;
}

/** One array on its way in. `name` is the array's key or its file name `array-<key>.bin`. */
export interface IncomingPayload {
  readonly name: string;
  /** Raw little-endian bytes. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Known from the payload itself, where its format says so; must agree with the declared one. */
  readonly dtype?: Dtype;
}

/** Largest sizes accepted; absent means unlimited. Bytes are exact payload bytes. */
export interface StoreLimits {
  readonly arrays?: number;
  readonly arrayBytes?: number;
  readonly snapshotBytes?: number;
}

function arrayMismatch(errors: readonly Violation[], more: object = {}): SnapshotError<'array_mismatch'> {
  return new SnapshotError('array_mismatch', summarize(errors), { errors, ...more });
}

/** The declared key that a part's name stands for; throws `array_mismatch` for an undeclared or repeated one. */
export function declaredKey(draft: DraftManifest, name: string, arrived: ReadonlySet<ArrayKey>): ArrayKey {
  const key = isArrayKey(name) ? name : arrayKeyOfFileName(name);
  if (key === null || !Object.hasOwn(draft.arrays, key)) {
    const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
    throw arrayMismatch([
      {
        path: key === null ? 'arrays' : `arrays.${key}`,
        message: `a part named ${shown} arrived but is not declared; declare it in arrays or leave it out`,
      },
    ]);
  }
  if (arrived.has(key)) {
    throw arrayMismatch([
      { path: `arrays.${key}`, message: 'arrived twice; send exactly one part per array' },
    ]);
  }
  return key;
}

/**
 * The dtype of an array from its declaration, its payload, or both, which must then agree. Where neither says it, every
 * array of the draft whose dtype is still unknown is named at once.
 */
export function settledDtype(
  key: ArrayKey,
  payload: Dtype | undefined,
  draft: DraftManifest,
  settled: ReadonlyMap<ArrayKey, Dtype>,
): Dtype {
  const declared = draft.arrays[key]?.dtype;
  if (declared !== undefined && payload !== undefined && declared !== payload) {
    throw arrayMismatch(
      [{ path: `arrays.${key}.dtype`, message: `is declared ${declared} but the payload holds ${payload}` }],
      { expected: declared, actual: payload },
    );
  }
  const dtype = declared ?? payload;
  if (dtype === undefined) throw dtypesMissing(draft, settled);
  return dtype;
}

function dtypesMissing(draft: DraftManifest, settled: ReadonlyMap<ArrayKey, Dtype>): ContractViolationError {
  const unknown = Object.keys(draft.arrays).filter(
    (key) => draft.arrays[key]?.dtype === undefined && !settled.has(key),
  );
  return new ContractViolationError(
    unknown.map((key) => ({ path: `arrays.${key}.dtype`, message: DTYPE_MISSING })),
  );
}

/** Refuses a payload as soon as it is longer than it may be, with what is known at that moment. */
export function checkRunningLength(
  key: ArrayKey,
  draft: DraftArray,
  byteLength: number,
  snapshotBytes: number,
  limits: StoreLimits,
): void {
  if (draft.byte_length !== undefined && BigInt(byteLength) > BigInt(draft.byte_length)) {
    throw arrayMismatch(
      [
        {
          path: `arrays.${key}.byte_length`,
          message: `is declared ${draft.byte_length} but more bytes arrived`,
        },
      ],
      { expected: draft.byte_length },
    );
  }
  if (limits.arrayBytes !== undefined && byteLength > limits.arrayBytes) {
    throw limitExceeded('array_bytes', limits.arrayBytes, `array ${key}`);
  }
  if (limits.snapshotBytes !== undefined && snapshotBytes > limits.snapshotBytes) {
    throw limitExceeded('snapshot_bytes', limits.snapshotBytes, 'the snapshot');
  }
}

function limitExceeded(
  limit: 'array_bytes' | 'snapshot_bytes',
  bytes: number,
  what: string,
): SnapshotError<'limit_exceeded'> {
  return new SnapshotError(
    'limit_exceeded',
    `More than ${bytes} bytes arrived for ${what}; the limit ${limit} of this service is ${bytes} bytes.`,
    { limit, expected: String(bytes) },
  );
}

export function checkArrayCount(draft: DraftManifest, limits: StoreLimits): void {
  const count = Object.keys(draft.arrays).length;
  if (limits.arrays === undefined || count <= limits.arrays) return;
  throw new SnapshotError(
    'limit_exceeded',
    `The document declares ${count} arrays; the limit arrays of this service is ${limits.arrays}.`,
    { limit: 'arrays', expected: String(limits.arrays), actual: String(count) },
  );
}

/** Everything that can be wrong once all parts are in, reported at once: missing arrays, widths, counts, digests. */
export function checkArrivals(
  draft: DraftManifest,
  dtypes: ReadonlyMap<ArrayKey, Dtype>,
  written: ReadonlyMap<ArrayKey, ArrivedPayload>,
): void {
  // An absent part can say no dtype either.
  if (Object.keys(draft.arrays).some((key) => draft.arrays[key]?.dtype === undefined && !dtypes.has(key))) {
    throw dtypesMissing(draft, dtypes);
  }
  const errors: Violation[] = [];
  let detail: { expected: string; actual: string } | undefined;
  const differ = (path: string, what: string, expected: string, actual: string): void => {
    detail ??= { expected, actual };
    errors.push({ path, message: `${what} ${expected}, but ${actual} arrived` });
  };
  for (const [key, declared] of Object.entries(draft.arrays)) {
    const path = `arrays.${key}`;
    const payload = written.get(key);
    const dtype = dtypes.get(key);
    if (payload === undefined || dtype === undefined) {
      errors.push({ path, message: `is declared but no part ${key} or ${payloadFileName(key)} arrived` });
      continue;
    }
    const width = dtypeWidth(dtype);
    if (payload.byteLength % width !== 0) {
      detail ??= { expected: `a multiple of ${width} bytes`, actual: String(payload.byteLength) };
      errors.push({
        path,
        message: `must be a multiple of ${width} bytes (${dtype}), but ${payload.byteLength} arrived`,
      });
    } else if (declared.count !== undefined && declared.count !== String(payload.byteLength / width)) {
      differ(`${path}.count`, 'is declared', declared.count, String(payload.byteLength / width));
    }
    if (declared.byte_length !== undefined && declared.byte_length !== String(payload.byteLength)) {
      differ(`${path}.byte_length`, 'is declared', declared.byte_length, String(payload.byteLength));
    }
    if (declared.sha256 !== undefined && declared.sha256 !== payload.sha256) {
      differ(`${path}.sha256`, 'is declared', declared.sha256, payload.sha256);
    }
  }
  if (errors.length > 0) throw arrayMismatch(errors, detail);
}

/** A document of this size is read in a few milliseconds, whatever it holds. */
const SMALL_DOCUMENT_BYTES = 64 * 1024;

/** Generous for everything around the arrays and for what an array may say, and small beside what a MiB can hold. */
const VALUES = 10_000;
const VALUES_PER_ARRAY = 100;

/**
 * Throws `malformed_json`, `limit_exceeded` (`metadata_values`) or `ContractViolationError`. A dtype may be missing: a
 * payload may know its own.
 */
export function readDraft(bytes: Uint8Array, maxValues: number): DraftManifest {
  return parseDraft(parseStrictJson(bytes, { maxValues }), { dtypeFromPayload: true });
}

export class DraftReader {
  readonly #readElsewhere: (bytes: Uint8Array, maxValues: number) => Promise<DraftManifest>;
  readonly #maxValues: number;
  /** A document of a few MiB may hold millions of values: of such trees there is one at a time, in one thread of many. */
  #last: Promise<unknown> = Promise.resolve();

  /** `maxArrays` of one snapshot, absent where any number may come. */
  constructor(
    maxArrays: number | undefined,
    readElsewhere: (bytes: Uint8Array, maxValues: number) => Promise<DraftManifest>,
  ) {
    this.#maxValues = maxArrays === undefined ? Infinity : VALUES + VALUES_PER_ARRAY * maxArrays;
    this.#readElsewhere = readElsewhere;
  }

  async read(bytes: Uint8Array): Promise<DraftManifest> {
    if (bytes.length <= SMALL_DOCUMENT_BYTES) return readDraft(bytes, this.#maxValues);
    const turn = this.#last.then(() => this.#readElsewhere(bytes, this.#maxValues));
    this.#last = turn.catch(() => undefined);
    const { snapshot, arrays } = await turn;
    // Whatever travels between threads comes with a prototype, and `constructor` is a legal key.
    return { snapshot, arrays: Object.assign(Object.create(null) as DraftManifest['arrays'], arrays) };
  }
}

/** A stream of raw little-endian bytes with its dtype; chunks may be of any length. */
export interface ByteStream {
  readonly dtype: Dtype;
  readonly data: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export type ArrayInput = IntegerArray | ByteStream;

/** Bytes copied at once from a caller's array. */
const COPY_BYTES = 1024 * 1024;

/** Throws `ContractViolationError` listing every key and every value that is not an array of integers. */
export function declaredArrays(arrays: Readonly<Record<ArrayKey, ArrayInput>>): DraftManifest['arrays'] {
  const declared = Object.create(null) as Record<ArrayKey, DraftArray>;
  const errors: Violation[] = [];
  for (const [key, input] of Object.entries(arrays)) {
    const path = `arrays.${key}`;
    if (!isArrayKey(key)) {
      errors.push({ path, message: 'is no array key: expected [a-z][a-z0-9_]{0,63}' });
      continue;
    }
    const dtype = dtypeOf(input);
    if (dtype === null) {
      errors.push({
        path: `${path}.dtype`,
        message:
          'expected a typed array of 8 to 64 bit integers, or { dtype, data } with one of their dtypes',
      });
      continue;
    }
    declared[key] = { dtype };
  }
  if (errors.length > 0) throw new ContractViolationError(errors);
  return declared;
}

export async function* payloadsOf(
  arrays: Readonly<Record<ArrayKey, ArrayInput>>,
): AsyncGenerator<IncomingPayload, void, void> {
  for (const [name, input] of Object.entries(arrays)) {
    yield { name, chunks: isByteStream(input) ? iterate(name, input.data) : littleEndianBytes(input) };
    await Promise.resolve();
  }
}

function dtypeOf(input: unknown): Dtype | null {
  if (isByteStream(input)) return isDtype(input.dtype) ? input.dtype : null;
  return dtypeOfTypedArray(input);
}

function isByteStream(input: unknown): input is ByteStream {
  return (
    typeof input === 'object' &&
    input !== null &&
    'dtype' in input &&
    'data' in input &&
    !ArrayBuffer.isView(input)
  );
}

/** Wider elements or text would be cut down to bytes without a word. */
async function* iterate(key: ArrayKey, data: ByteStream['data']): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of data as AsyncIterable<unknown> | Iterable<unknown>) {
    if (!(chunk instanceof Uint8Array)) {
      throw new ContractViolationError([
        { path: `arrays.${key}`, message: 'must be a stream of Uint8Array chunks; found another value' },
      ]);
    }
    yield chunk;
  }
}

async function* littleEndianBytes(array: IntegerArray): AsyncGenerator<Uint8Array, void, void> {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let at = 0; at < bytes.length; at += COPY_BYTES) {
    yield littleEndian(bytes.slice(at, at + COPY_BYTES), array.BYTES_PER_ELEMENT);
    await Promise.resolve();
  }
}
