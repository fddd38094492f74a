/**
 * What a comparison does to bytes, as tasks of the engine: elements side by side, keys put in order and brought together,
 * and the rows that they align. Bytes are little-endian elements; indexes count elements from the begin of the bytes given.
 * Everything is exact: 64-bit elements are compared as two words and shown as decimal text.
 */
import { MOST_EXAMPLES } from '../contract/comparison.ts';
import { DTYPES, dtypeWidth, elementAt, type Dtype } from '../contract/dtypes.ts';
import type { Turn } from './payload-proof.ts';

/** Two values of one place. */
export interface DifferingElement {
  /** In `from`. */
  readonly index: number;
  /** Decimal. */
  readonly from: string;
  readonly to: string;
}

export interface DifferingElements {
  readonly differing: number;
  /** Of the first and the last that differ; -1 where none does. */
  readonly first: number;
  readonly last: number;
  /** The first of them, at most `MOST_EXAMPLES`. */
  readonly examples: readonly DifferingElement[];
}

export interface ElementsRequest {
  readonly dtype: Dtype;
  /** As long as `to`. */
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

const NONE: DifferingElements = { differing: 0, first: -1, last: -1, examples: [] };

/** So many bytes are compared at once before their elements are looked at one by one; a multiple of every width. */
const SPAN_BYTES = 2048;

/** Compares elements of one dtype by position. */
export function compareElements({ dtype, from, to }: ElementsRequest): DifferingElements {
  if (Buffer.compare(from, to) === 0) return NONE;
  const width = dtypeWidth(dtype);
  const differ = differenceOf(width, from, to);
  const found: number[] = [];
  let differing = 0;
  let last = -1;
  for (let start = 0; start < from.length; start += SPAN_BYTES) {
    const end = Math.min(start + SPAN_BYTES, from.length);
    if (Buffer.compare(from.subarray(start, end), to.subarray(start, end)) === 0) continue;
    for (let index = start / width; index < end / width; index += 1) {
      if (!differ(index, index)) continue;
      if (differing < MOST_EXAMPLES) found.push(index);
      differing += 1;
      last = index;
    }
  }
  const examples = found.map((index) => pairOf(dtype, from, index, to, index));
  return { differing, first: found[0] ?? -1, last, examples };
}

function pairOf(
  dtype: Dtype,
  from: Uint8Array,
  index: number,
  to: Uint8Array,
  other: number,
): DifferingElement {
  return {
    index,
    from: String(elementAt(dtype, from, index)),
    to: String(elementAt(dtype, to, other)),
  };
}

/** Whether element `i` of `from` is another one than element `j` of `to`: no more than equality, in whatever byte order. */
function differenceOf(width: number, from: Uint8Array, to: Uint8Array): (i: number, j: number) => boolean {
  const [a, b] = [wordsOf(width, from), wordsOf(width, to)];
  if (width < 8) return (i, j) => a[i] !== b[j];
  return (i, j) => a[2 * i] !== b[2 * j] || a[2 * i + 1] !== b[2 * j + 1];
}

function wordsOf(width: number, bytes: Uint8Array): Uint8Array | Uint16Array | Uint32Array {
  if (width === 1) return bytes;
  // A view begins at a multiple of its width; what lies otherwise is copied.
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return width === 2
    ? new Uint16Array(buffer, byteOffset, length / 2)
    : new Uint32Array(buffer, byteOffset, length / 4);
}

/** The keys of one side, or a window of them. */
export interface KeyWindow {
  readonly dtype: Dtype;
  readonly bytes: Uint8Array;
  /** Whether no key of this side comes behind them. */
  readonly isLast: boolean;
  /** The element before the first, in whose order they follow; null at the begin, or where `order` is given. */
  readonly before: OrderedKey | null;
  /** The elements in ascending order, where they do not lie in it. */
  readonly order: Uint32Array | null;
}

/** A 64-bit integer as two numbers whose order is its own, whichever dtype it comes from. */
export type OrderedKey = readonly [high: number, low: number];

/** Reads keys of any dtype as `OrderedKey`s. */
class Keys {
  readonly count: number;
  readonly #dtype: Dtype;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #width: number;
  readonly #signed: boolean;

  constructor(dtype: Dtype, bytes: Uint8Array) {
    this.#dtype = dtype;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#width = dtypeWidth(dtype);
    this.#signed = DTYPES[dtype].signed;
    this.count = bytes.length / this.#width;
  }

  high(index: number): number {
    if (this.#width === 8) {
      return this.#signed
        ? this.#view.getInt32(index * 8 + 4, true)
        : this.#view.getUint32(index * 8 + 4, true);
    }
    return this.#signed && this.#narrow(index) < 0 ? -1 : 0;
  }

  /** Never negative. */
  low(index: number): number {
    return this.#width === 8 ? this.#view.getUint32(index * 8, true) : this.#narrow(index) >>> 0;
  }

  text(index: number): string {
    return String(elementAt(this.#dtype, this.#bytes, index));
  }

  #narrow(index: number): number {
    switch (this.#width) {
      case 1:
        return this.#signed ? this.#view.getInt8(index) : this.#view.getUint8(index);
      case 2:
        return this.#signed ? this.#view.getInt16(index * 2, true) : this.#view.getUint16(index * 2, true);
      default:
        return this.#signed ? this.#view.getInt32(index * 4, true) : this.#view.getUint32(index * 4, true);
    }
  }
}

/** Indexes that travel between threads without being copied. */
function sharedIndexes(length: number): Uint32Array<SharedArrayBuffer> {
  return new Uint32Array(new SharedArrayBuffer(4 * length));
}

/** Values of one digit: two bytes. */
const DIGITS = 2 ** 16;

/** The elements of `bytes` in ascending order, equal ones in that of their places: a radix sort, digit by digit. */
export async function sortKeys(
  { dtype, bytes }: Pick<KeyWindow, 'dtype' | 'bytes'>,
  turn: Turn,
): Promise<Uint32Array> {
  const keys = new Keys(dtype, bytes);
  const digits: readonly ((index: number) => number)[] = [
    (index) => keys.low(index) & 0xffff,
    (index) => keys.low(index) >>> 16,
    (index) => keys.high(index) & 0xffff,
    // Negative ones come first.
    (index) => (keys.high(index) >>> 16) ^ (DTYPES[dtype].signed ? 0x8000 : 0),
  ];
  let order = sharedIndexes(keys.count);
  for (let index = 0; index < keys.count; index += 1) order[index] = index;
  let next = sharedIndexes(keys.count);
  for (const digit of digits) {
    const places = new Uint32Array(DIGITS);
    for (let index = 0; index < keys.count; index += 1) bump(places, digit(index));
    if (!places.includes(keys.count)) {
      let before = 0;
      for (let value = 0; value < DIGITS; value += 1) {
        const count = places[value] ?? 0;
        places[value] = before;
        before += count;
      }
      for (const index of order) next[bump(places, digit(index))] = index;
      [order, next] = [next, order];
    }
    await turn.giveWay();
  }
  return order;
}

/** Adds one; gives what was there before. */
function bump(counts: Uint32Array, at: number): number {
  const before = counts[at] ?? 0;
  counts[at] = before + 1;
  return before;
}

/** A key that stands where it must not, by its place in the window and the one that it repeats. */
export interface KeyTrouble {
  readonly side: 'from' | 'to';
  /** `descending`: not in the order in which the keys are merged. */
  readonly kind: 'descending' | 'duplicate';
  /** Places in the window; `other` is -1 for the element before it. */
  readonly index: number;
  readonly other: number;
  /** Decimal. */
  readonly key: string;
}

export interface UnpairedRow {
  readonly kind: 'added' | 'removed';
  /** Decimal. */
  readonly key: string;
}

export interface Alignment {
  readonly trouble: KeyTrouble | null;
  /** Keys of each side that were taken, from the first on; the others wait for what comes behind the other side's window. */
  readonly from: number;
  readonly to: number;
  /** The last key taken of each side. */
  readonly lastFrom: OrderedKey | null;
  readonly lastTo: OrderedKey | null;
  readonly added: number;
  readonly removed: number;
  /** The first that only one side has, in the order of their keys. */
  readonly unpaired: readonly UnpairedRow[];
  /** Rows that both have. */
  readonly paired: number;
}

export interface AlignmentRequest {
  readonly from: KeyWindow;
  readonly to: KeyWindow;
  /**
   * Gets the places in both windows of each row that both have, one behind the other, in the order of their keys. In shared
   * memory where threads are involved, and large enough for as many rows as the smaller window has.
   */
  readonly pairs: Uint32Array;
}

/** Brings together the keys of two windows, each ascending by itself or by its `order`. */
export function alignKeys({ from, to, pairs }: AlignmentRequest): Alignment {
  const trouble = troubleOf('from', from) ?? troubleOf('to', to);
  const [a, b] = [new Keys(from.dtype, from.bytes), new Keys(to.dtype, to.bytes)];
  const unpaired: UnpairedRow[] = [];
  const found = { from: 0, to: 0, added: 0, removed: 0, paired: 0 };
  if (trouble !== null) return { trouble, ...found, lastFrom: null, lastTo: null, unpaired };
  const placeOf = ({ order }: KeyWindow, at: number): number => (order === null ? at : (order[at] ?? 0));
  while (found.from < a.count || found.to < b.count) {
    // What only one side still has may yet come on the other.
    if (found.from === a.count && !from.isLast) break;
    if (found.to === b.count && !to.isLast) break;
    const i = placeOf(from, found.from);
    const j = placeOf(to, found.to);
    const order = found.from === a.count ? 1 : found.to === b.count ? -1 : compareKeys(a, i, b, j);
    if (order === 0) {
      pairs[2 * found.paired] = i;
      pairs[2 * found.paired + 1] = j;
      found.paired += 1;
    } else if (unpaired.length < MOST_EXAMPLES) {
      unpaired.push(order < 0 ? { kind: 'removed', key: a.text(i) } : { kind: 'added', key: b.text(j) });
    }
    if (order < 0) found.removed += 1;
    if (order > 0) found.added += 1;
    if (order <= 0) found.from += 1;
    if (order >= 0) found.to += 1;
  }
  return {
    trouble: null,
    ...found,
    lastFrom: found.from === 0 ? from.before : keyAt(a, placeOf(from, found.from - 1)),
    lastTo: found.to === 0 ? to.before : keyAt(b, placeOf(to, found.to - 1)),
    unpaired,
  };
}

function keyAt(keys: Keys, index: number): OrderedKey {
  return [keys.high(index), keys.low(index)];
}

function compareKeys(a: Keys, i: number, b: Keys, j: number): number {
  return a.high(i) - b.high(j) || a.low(i) - b.low(j);
}

/** The first key that is not greater than the one before it. */
function troubleOf(side: KeyTrouble['side'], { dtype, bytes, before, order }: KeyWindow): KeyTrouble | null {
  const keys = new Keys(dtype, bytes);
  let [high, low]: OrderedKey = before ?? [-Infinity, 0];
  let other = -1;
  for (let at = 0; at < keys.count; at += 1) {
    const index = order === null ? at : (order[at] ?? 0);
    const [nextHigh, nextLow] = [keys.high(index), keys.low(index)];
    const step = nextHigh - high || nextLow - low;
    if (step <= 0) {
      const kind = step === 0 ? 'duplicate' : 'descending';
      return { side, kind, index, other, key: keys.text(index) };
    }
    high = nextHigh;
    low = nextLow;
    other = index;
  }
  return null;
}

export interface RowsRequest extends ElementsRequest {
  /** Of the rows that both sides have; see `AlignmentRequest`. */
  readonly pairs: Uint32Array;
  /** One byte for each of these rows, in shared memory where threads are involved: set where the row differs. */
  readonly changed: Uint8Array;
}

export interface DifferingRows extends DifferingElements {
  /** Rows in which nothing differed before. */
  readonly newly: number;
  /** Which row each of the examples is, in the order of their keys. */
  readonly rows: readonly number[];
}

/** Compares the elements of rows that both sides have; the examples are the first in the order of the keys. */
export function compareRows({ dtype, from, to, pairs, changed }: RowsRequest): DifferingRows {
  const differ = differenceOf(dtypeWidth(dtype), from, to);
  const rows: number[] = [];
  const examples: DifferingElement[] = [];
  let differing = 0;
  let newly = 0;
  let first = -1;
  let last = -1;
  for (let row = 0; row < changed.length; row += 1) {
    const i = pairs[2 * row] ?? 0;
    const j = pairs[2 * row + 1] ?? 0;
    if (!differ(i, j)) continue;
    if (differing < MOST_EXAMPLES) {
      rows.push(row);
      examples.push(pairOf(dtype, from, i, to, j));
    }
    differing += 1;
    if (changed[row] === 0) newly += 1;
    changed[row] = 1;
    if (first === -1 || i < first) first = i;
    if (i > last) last = i;
  }
  return { differing, newly, first, last, examples, rows };
}
