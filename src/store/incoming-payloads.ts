/** Matches what arrives against what was declared (PW-07.04 steps 1 and 3): no array missing, undeclared or twice. */
import { arrayKeyOfFileName, payloadFileName } from '../contract/package.ts';
import { dtypeWidth, type Dtype } from '../contract/dtypes.ts';
import { ContractViolationError, SnapshotError, summarize, type Violation } from '../contract/errors.ts';
import { isArrayKey, type ArrayKey } from '../contract/ids.ts';
import { DTYPE_MISSING, type DraftArray, type DraftManifest } from '../contract/manifest.ts';
import type { WrittenPayload } from './payload-writer.ts';

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
  written: ReadonlyMap<ArrayKey, WrittenPayload>,
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
