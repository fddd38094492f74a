/** The values of an array as the service proves and sends them: read whole, or by ranges where they are many. */
import { dtypeWidth, isDtype, ownedArray } from '../contract/dtypes.ts';
import type { Part, Values } from './profile.ts';
import type { ArrayEntry } from './answers.ts';
import { ask, Refusal, whole } from './service.ts';

/** Arrays up to this size are read whole. */
export const WHOLE_BYTES = 16_777_216;
/** Of larger ones, so many ranges of this size, from the beginning to the end at equal distances. */
const RANGES = 6;
const RANGE_BYTES = 262_144;
/** Larger ones than this are sampled only when somebody asks: the service proves all of it first. */
export const ASKED_BYTES = 268_435_456;

export async function readValues(
  id: string,
  key: string,
  { dtype, count, byte_length, sha256 }: ArrayEntry,
  signal: AbortSignal,
): Promise<Values> {
  if (!isDtype(dtype)) throw new TypeError(`This page does not know the type ${String(dtype)}.`);
  const path = `snapshots/${id}/array-${key}.bin`;
  const length = Number(byte_length);
  const total = Number(count);
  if (length <= WHOLE_BYTES) {
    const bytes = length === 0 ? new ArrayBuffer(0) : await read(path, { signal }, length);
    return {
      dtype,
      count: total,
      isWhole: true,
      parts: [{ start: 0, values: ownedArray(dtype, new Uint8Array(bytes)) }],
    };
  }
  const width = dtypeWidth(dtype);
  // At once, so that they share one proof of the array.
  const parts = rangesOf(length, width).map(async (start): Promise<Part> => {
    const headers = { range: `bytes=${start}-${start + RANGE_BYTES - 1}`, 'if-range': `"${sha256}"` };
    const bytes = await read(path, { signal, headers }, RANGE_BYTES);
    return { start: start / width, values: ownedArray(dtype, new Uint8Array(bytes)) };
  });
  return { dtype, count: total, isWhole: false, parts: await Promise.all(parts) };
}

/** First bytes of the ranges, at whole elements. */
function rangesOf(length: number, width: number): number[] {
  const last = length - RANGE_BYTES;
  return Array.from({ length: RANGES }, (_, at) => Math.floor((last * at) / (RANGES - 1) / width) * width);
}

async function read(path: string, init: RequestInit, bytes: number): Promise<ArrayBuffer> {
  const response = await ask(path, init);
  const body = await whole(() => response.arrayBuffer(), init.signal);
  if (body.byteLength === bytes) return body;
  throw new Refusal(0, { detail: `The service sent ${body.byteLength} bytes instead of ${bytes}.` });
}

/** Work that only so many may do at once, in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
