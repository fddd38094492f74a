/** What can be seen of the values of an array at a glance: exact, whatever their width. */
import type { Dtype } from '../contract/dtypes.ts';

export interface Part {
  /** Index of its first element. */
  readonly start: number;
  readonly values: ArrayLike<number> | ArrayLike<bigint>;
}

export interface Values {
  readonly dtype: Dtype;
  /** Of the whole array. */
  readonly count: number;
  readonly parts: readonly Part[];
  readonly isWhole: boolean;
}

export interface Bin {
  /** Both within the bin. */
  readonly from: bigint;
  readonly to: bigint;
  readonly count: number;
}

export interface Profile {
  readonly isWhole: boolean;
  /** Values that were read. */
  readonly seen: number;
  readonly first: readonly bigint[];
  readonly last: readonly bigint[];
  /** Of what was read; null of nothing. */
  readonly min: bigint | null;
  readonly max: bigint | null;
  readonly bins: readonly Bin[];
}

const ENDS = 5;
const BINS = 48;
/** After so many values the page may do something else. */
const TURN = 131_072;

/** What can be seen of values at a glance; exact, whatever their width. Rejects when aborted. */
export async function profileOf({ parts, isWhole, count }: Values, signal: AbortSignal): Promise<Profile> {
  const seen = parts.reduce((sum, { values }) => sum + values.length, 0);
  const head = parts[0]?.values ?? [];
  const tail = parts.at(-1)?.values ?? [];
  const first = slice(head, 0, Math.min(ENDS, head.length));
  const last = slice(tail, Math.max(0, tail.length - Math.min(ENDS, Math.max(0, count - ENDS))), tail.length);
  const ends = await extremes(parts, signal);
  if (ends === null) return { isWhole, seen, first, last, min: null, max: null, bins: [] };
  return { isWhole, seen, first, last, ...ends, bins: await histogram(parts, ends, signal) };
}

function slice(values: ArrayLike<number> | ArrayLike<bigint>, start: number, end: number): bigint[] {
  return Array.from({ length: end - start }, (_, at) => BigInt(values[start + at] ?? 0));
}

async function extremes(
  parts: readonly Part[],
  signal: AbortSignal,
): Promise<{ min: bigint; max: bigint } | null> {
  let min: number | bigint | undefined;
  let max: number | bigint | undefined;
  for (const { values } of parts) {
    for (let start = 0; start < values.length; start += TURN) {
      await pause(signal);
      for (let at = start; at < Math.min(values.length, start + TURN); at += 1) {
        const value = values[at];
        if (value === undefined) break;
        if (min === undefined || value < min) min = value;
        if (max === undefined || value > max) max = value;
      }
    }
  }
  return min === undefined || max === undefined ? null : { min: BigInt(min), max: BigInt(max) };
}

/** Bins of one width that cover everything from the least to the greatest value; one for each value where they are few. */
async function histogram(
  parts: readonly Part[],
  { min, max }: { readonly min: bigint; readonly max: bigint },
  signal: AbortSignal,
): Promise<Bin[]> {
  const range = max - min + 1n;
  const width = (range + BigInt(BINS) - 1n) / BigInt(BINS);
  const counts = new Array<number>(Number((range + width - 1n) / width)).fill(0);
  // Differences below 2^53 are exact as numbers, and much faster.
  const isSmall = range < 2n ** 53n && min >= -(2n ** 52n) && max <= 2n ** 52n;
  const least = Number(min);
  const wide = Number(width);
  for (const { values } of parts) {
    for (let start = 0; start < values.length; start += TURN) {
      await pause(signal);
      for (let at = start; at < Math.min(values.length, start + TURN); at += 1) {
        const value = values[at] ?? 0;
        const bin = isSmall
          ? Math.floor((Number(value) - least) / wide)
          : Number((BigInt(value) - min) / width);
        counts[bin] = (counts[bin] ?? 0) + 1;
      }
    }
  }
  return counts.map((count, at) => {
    const from = min + BigInt(at) * width;
    const to = from + width - 1n;
    return { from, to: to > max ? max : to, count };
  });
}

export async function pause(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
  signal.throwIfAborted();
}
