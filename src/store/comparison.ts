/**
 * How two snapshots differ. Both sides are proven first; what differs by its checksum is read a second time, proven by the
 * block, and compared by the engine: by position, or in rows that are aligned by the values of one array. However large
 * the arrays are, a few blocks of them are in memory.
 */
import type { ArrayKey } from '../contract/ids.ts';
import {
  compareManifests,
  entryOf,
  MOST_EXAMPLES,
  type ArrayComparison,
  type Comparison,
  type RowComparison,
  type RowExample,
} from '../contract/comparison.ts';
import { dtypeWidth, elementAt, type Dtype } from '../contract/dtypes.ts';
import { SnapshotError, summarize } from '../contract/errors.ts';
import type { ArrayEntry, Manifest } from '../contract/manifest.ts';
import type {
  Alignment,
  DifferingElement,
  DifferingElements,
  KeyTrouble,
  KeyWindow,
  OrderedKey,
} from './comparison-kernel.ts';
import type { Executor } from './engine.ts';

/** One array whose bytes are proven as they are read. Whoever got it must `close` it. */
export interface ComparedPayload {
  /**
   * The bytes `start` up to but not including `end`, cut where a multiple of `BLOCK_BYTES` of the file is. A block is valid
   * until the next one is asked for.
   */
  blocks(start: number, end: number): AsyncGenerator<Uint8Array, void, void>;
  close(): Promise<void>;
}

/** A snapshot whose every byte was proven. */
export interface ProvenSide {
  readonly manifest: Manifest;
  open(key: ArrayKey, signal?: AbortSignal): Promise<ComparedPayload>;
}

/** One side of a comparison. */
export interface ComparedSide {
  /** Where what is compared is compared. */
  readonly executor: Executor;
  prove(signal: AbortSignal): Promise<ProvenSide>;
}

export interface CompareOptions {
  /** Aligns rows by the values of this array, which must be unique on each side; by position without. */
  readonly key?: ArrayKey | undefined;
  /** Ends the work when nobody waits for it any more; the comparison then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** One for each side. */
interface Both<T> {
  readonly from: T;
  readonly to: T;
}

async function onBoth<T, R>({ from, to }: Both<T>, work: (side: T) => Promise<R>): Promise<Both<R>> {
  const [one, other] = await Promise.all([work(from), work(to)]);
  return { from: one, to: other };
}

/** Rows of a window of each side, while keys ascend. A narrow array is then read in quarters of a block. */
const WINDOW_ROWS = 256 * 1024;
/** Rows of a side that are put in order where its keys do not ascend: some 50 bytes of memory each, of both sides. */
const MAX_SORTED_ROWS = 2 * 1024 * 1024;

/**
 * Throws what proving a side throws, naming its snapshot; `array_not_found` where a side lacks the key; `invalid_request`
 * where its values repeat, or are neither ascending nor few enough to be sorted.
 */
export async function compareSnapshots(
  from: ComparedSide,
  to: ComparedSide,
  { key, signal }: CompareOptions = {},
): Promise<Comparison> {
  const failed = new AbortController();
  const ended = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const proofs = [from.prove(ended), to.prove(ended)] as const;
  try {
    const [one, other] = await Promise.all(proofs);
    return await new Comparing({ from: one, to: other }, from.executor, ended).run(key);
  } catch (error) {
    // What the other side still proves is of no use to anyone.
    failed.abort(error);
    await Promise.allSettled(proofs);
    throw error;
  }
}

/** Rows of a window that both sides have, with their places; see `AlignmentRequest`. */
interface AlignedRows {
  readonly alignment: Alignment;
  readonly pairs: Uint32Array;
}

/** Memory that threads share, used again and again: fresh buffers pile up until they are collected. */
class SharedBytes {
  #buffer = new SharedArrayBuffer(0);

  /** So many bytes, holding anything; what was taken before must no longer be used. */
  take(length: number): Uint8Array<SharedArrayBuffer> {
    if (this.#buffer.byteLength < length) this.#buffer = new SharedArrayBuffer(length);
    return new Uint8Array(this.#buffer, 0, length);
  }
}

interface Column {
  readonly key: ArrayKey;
  readonly dtype: Dtype;
  readonly tally: Tally;
}

class Comparing {
  readonly #sides: Both<ProvenSide>;
  readonly #executor: Executor;
  readonly #signal: AbortSignal;
  /** Of a window: its keys, one array of each side, and what is found of its rows. */
  readonly #keys = { from: new SharedBytes(), to: new SharedBytes() };
  readonly #columns = { from: new SharedBytes(), to: new SharedBytes() };
  readonly #pairs = new SharedBytes();
  readonly #changed = new SharedBytes();

  constructor(sides: Both<ProvenSide>, executor: Executor, signal: AbortSignal) {
    this.#sides = sides;
    this.#executor = executor;
    this.#signal = signal;
  }

  async run(key: ArrayKey | undefined): Promise<Comparison> {
    const { from, to } = this.#sides;
    const { arrays: entries, ...document } = compareManifests(from.manifest, to.manifest);
    const rows = key === undefined ? null : await this.#compareRows(key, entries);
    const arrays = Object.create(null) as Record<ArrayKey, ArrayComparison>;
    for (const [name, entry] of Object.entries(entries)) {
      const byRows = rows?.columns.find((column) => column.key === name)?.tally.result();
      const found = byRows ?? (entry.status === 'changed' ? await this.#compareByPosition(name) : {});
      arrays[name] = { ...entry, ...found };
    }
    return { ...document, arrays, ...(rows === null ? {} : { rows: rows.result() }) };
  }

  async #compareByPosition(key: ArrayKey): Promise<Tallied> {
    const from = this.#entry(this.#sides.from, key);
    const to = this.#entry(this.#sides.to, key);
    const { dtype } = from;
    const shorter = Math.min(Number(from.count), Number(to.count));
    const tally = new Tally();
    const end = shorter * dtypeWidth(dtype);
    await this.#reading(this.#sides.from, key, (a) =>
      this.#reading(this.#sides.to, key, async (b) => {
        let at = 0;
        for await (const [one, other] of together(a.blocks(0, end), b.blocks(0, end))) {
          const found = await this.#executor.run(
            'compareElements',
            { dtype, from: one, to: other },
            this.#signal,
          );
          tally.add(found, at);
          at += one.length / dtypeWidth(dtype);
        }
      }),
    );
    tally.addBeyond(shorter, Math.max(Number(from.count), Number(to.count)));
    return tally.result();
  }

  async #compareRows(key: ArrayKey, arrays: Readonly<Record<ArrayKey, ArrayComparison>>): Promise<Rows> {
    const keys = await onBoth(this.#sides, async (side) => this.#keyEntry(side, key));
    const columns = Object.entries(arrays).flatMap(([name, { status, from, to }]) =>
      (status === 'equal' || status === 'changed') &&
      from?.count === keys.from.count &&
      to?.count === keys.to.count
        ? [{ key: name, dtype: from.dtype }]
        : [],
    );
    const rows = (): Rows => new Rows(key, columns);
    return (await this.#merge(rows(), keys)) ?? (await this.#sortAndMerge(rows(), keys));
  }

  /** Window by window, while the keys of both sides ascend; null as soon as they do not. */
  async #merge(rows: Rows, keys: Both<ArrayEntry>): Promise<Rows | null> {
    let start: Both<number> = { from: 0, to: 0 };
    let before: Both<OrderedKey | null> = { from: null, to: null };
    const window = async (side: keyof Both<unknown>): Promise<KeyWindow> => {
      const { count, dtype } = keys[side];
      const left = Number(count) - start[side];
      const length = Math.min(left, WINDOW_ROWS);
      const bytes = await this.#readRows(this.#keys, side, rows.key, start[side], length);
      return { dtype, bytes, isLast: left === length, before: before[side], order: null };
    };
    do {
      const windows = await onBoth({ from: 'from', to: 'to' }, window);
      const { alignment, pairs } = await this.#align(windows);
      const { trouble } = alignment;
      if (trouble?.kind === 'descending') return null;
      if (trouble !== null) throw this.#duplicate(rows.key, trouble, start[trouble.side]);
      await this.#compareWindow(rows, windows.from, { alignment, pairs }, start);
      start = { from: start.from + alignment.from, to: start.to + alignment.to };
      before = { from: alignment.lastFrom, to: alignment.lastTo };
    } while (start.from < Number(keys.from.count) || start.to < Number(keys.to.count));
    return rows;
  }

  /** Everything at once, with the keys put in order. */
  async #sortAndMerge(rows: Rows, keys: Both<ArrayEntry>): Promise<Rows> {
    for (const side of ['from', 'to'] as const) this.#checkSortable(this.#sides[side], rows.key, keys[side]);
    const windows: KeyWindow[] = [];
    for (const side of ['from', 'to'] as const) {
      const { dtype, count } = keys[side];
      const bytes = await this.#readRows(this.#keys, side, rows.key, 0, Number(count));
      const order = await this.#executor.run('sortKeys', { dtype, bytes }, this.#signal);
      windows.push({ dtype, bytes, isLast: true, before: null, order });
    }
    const [from, to] = windows as [KeyWindow, KeyWindow];
    const { alignment, pairs } = await this.#align({ from, to });
    if (alignment.trouble !== null) throw this.#duplicate(rows.key, alignment.trouble, 0);
    await this.#compareWindow(rows, from, { alignment, pairs }, { from: 0, to: 0 });
    return rows;
  }

  async #align(windows: Both<KeyWindow>): Promise<AlignedRows> {
    const lengths = [windows.from, windows.to].map(({ dtype, bytes }) => bytes.length / dtypeWidth(dtype));
    const { buffer, length } = this.#pairs.take(8 * Math.min(...lengths));
    const pairs = new Uint32Array(buffer, 0, length / 4);
    const alignment = await this.#executor.run('alignKeys', { ...windows, pairs }, this.#signal);
    return { alignment, pairs: pairs.subarray(0, 2 * alignment.paired) };
  }

  /** Array by array: of a window of rows, never more than one array of each side is in memory. */
  async #compareWindow(
    rows: Rows,
    keys: KeyWindow,
    { alignment, pairs }: AlignedRows,
    start: Both<number>,
  ): Promise<void> {
    const changed = this.#changed.take(alignment.paired).fill(0);
    /** The first changed rows, with the arrays in which they do. */
    const arraysOf = new Map<number, ArrayKey[]>();
    let count = 0;
    for (const { key, dtype, tally } of rows.columns) {
      if (alignment.paired === 0 || key === rows.key) continue;
      const from = await this.#readRows(this.#columns, 'from', key, start.from, alignment.from);
      const to = await this.#readRows(this.#columns, 'to', key, start.to, alignment.to);
      const found = await this.#executor.run(
        'compareRows',
        { dtype, from, to, pairs, changed },
        this.#signal,
      );
      tally.add(found, start.from);
      count += found.newly;
      for (const row of found.rows) arraysOf.set(row, [...(arraysOf.get(row) ?? []), key]);
    }
    const examples = [...arraysOf].map(([row, arrays]): RowExample => {
      const key = String(elementAt(keys.dtype, keys.bytes, pairs[2 * row] ?? 0));
      return { key, kind: 'changed', arrays };
    });
    rows.add(alignment, count, examples);
  }

  /** Elements `start` up to `start + count` of an array of one side. */
  async #readRows(
    into: Both<SharedBytes>,
    name: keyof Both<unknown>,
    key: ArrayKey,
    start: number,
    count: number,
  ): Promise<Uint8Array> {
    const side = this.#sides[name];
    const width = dtypeWidth(this.#entry(side, key).dtype);
    const bytes = into[name].take(count * width);
    if (count === 0) return bytes;
    await this.#reading(side, key, async (payload) => {
      let at = 0;
      for await (const block of payload.blocks(start * width, (start + count) * width)) {
        this.#signal.throwIfAborted();
        bytes.set(block, at);
        at += block.length;
      }
    });
    return bytes;
  }

  async #reading(
    side: ProvenSide,
    key: ArrayKey,
    read: (payload: ComparedPayload) => Promise<void>,
  ): Promise<void> {
    const payload = await side.open(key, this.#signal);
    try {
      await read(payload);
    } finally {
      await payload.close();
    }
  }

  #entry({ manifest }: ProvenSide, key: ArrayKey): ArrayEntry {
    const entry = entryOf(manifest, key);
    if (entry === null) throw new Error(`There is no array ${key} on this side.`);
    return entry;
  }

  #keyEntry({ manifest }: ProvenSide, key: ArrayKey): ArrayEntry {
    const entry = entryOf(manifest, key);
    if (entry !== null) return entry;
    const { snapshot_id: id } = manifest.snapshot;
    throw new SnapshotError(
      'array_not_found',
      `Snapshot ${id} has no array ${key} by whose values rows could be aligned.`,
      { snapshot_id: id, array: key },
    );
  }

  #duplicate(
    key: ArrayKey,
    { side, index, other, key: value }: KeyTrouble,
    start: number,
  ): SnapshotError<'invalid_request'> {
    return unusableKey(
      `${key} of snapshot ${this.#sides[side].manifest.snapshot.snapshot_id} holds ${value} at index ${start + other} and ` +
        `again at index ${start + index}, so it names no row; give an array whose values are unique on each side, or compare ` +
        'by position, without a key',
    );
  }

  #checkSortable({ manifest }: ProvenSide, key: ArrayKey, { count }: ArrayEntry): void {
    if (Number(count) <= MAX_SORTED_ROWS) return;
    throw unusableKey(
      `${key} does not ascend on both sides, and the ${count} values of snapshot ${manifest.snapshot.snapshot_id} are more ` +
        `than the ${MAX_SORTED_ROWS} that are put in order; publish rows in ascending order of ${key}, or compare by ` +
        'position, without a key',
    );
  }
}

function unusableKey(message: string): SnapshotError<'invalid_request'> {
  const errors = [{ path: 'key', message }];
  return new SnapshotError('invalid_request', summarize(errors), { errors });
}

/** Blocks of two payloads, side by side, while both have some. */
async function* together(
  ...payloads: readonly [AsyncGenerator<Uint8Array, void, void>, AsyncGenerator<Uint8Array, void, void>]
): AsyncGenerator<readonly [Uint8Array, Uint8Array], void, void> {
  const [from, to] = payloads;
  try {
    for (;;) {
      const [one, other] = await Promise.all([from.next(), to.next()]);
      if (one.done === true || other.done === true) return;
      yield [one.value, other.value];
    }
  } finally {
    await Promise.allSettled([from.return(), to.return()]);
  }
}

type Tallied = Pick<ArrayComparison, 'differing' | 'first' | 'last' | 'examples'>;

/** What was found of one array so far, piece by piece. */
class Tally {
  #differing = 0;
  #first = Infinity;
  #last = -1;
  readonly #examples: DifferingElement[] = [];

  /** Of a piece whose first element has this index. */
  add({ differing, first, last, examples }: DifferingElements, start: number): void {
    if (differing === 0) return;
    this.#differing += differing;
    this.#first = Math.min(this.#first, start + first);
    this.#last = Math.max(this.#last, start + last);
    const shown = examples.slice(0, MOST_EXAMPLES - this.#examples.length);
    this.#examples.push(...shown.map((one) => ({ ...one, index: start + one.index })));
  }

  /** Elements that only the longer side has. */
  addBeyond(shorter: number, longer: number): void {
    if (longer > shorter) {
      this.add({ differing: longer - shorter, first: 0, last: longer - shorter - 1, examples: [] }, shorter);
    }
  }

  result(): Tallied {
    const examples = this.#examples.map((one) => ({ ...one, index: String(one.index) }));
    const isNone = this.#differing === 0;
    return {
      differing: String(this.#differing),
      first: isNone ? null : String(this.#first),
      last: isNone ? null : String(this.#last),
      examples,
    };
  }
}

/** What was found of the rows so far, window by window in the order of their keys. */
class Rows {
  readonly key: ArrayKey;
  /** The arrays that have an element for each key, on both sides. */
  readonly columns: readonly Column[];
  readonly #found = { added: 0, removed: 0, changed: 0, same: 0 };
  readonly #examples: RowExample[] = [];

  constructor(key: ArrayKey, columns: readonly Omit<Column, 'tally'>[]) {
    this.key = key;
    this.columns = columns.map((column) => ({ ...column, tally: new Tally() }));
  }

  add(
    { added, removed, unpaired, paired }: Alignment,
    changed: number,
    examples: readonly RowExample[],
  ): void {
    this.#found.added += added;
    this.#found.removed += removed;
    this.#found.changed += changed;
    this.#found.same += paired - changed;
    const found = [...examples, ...unpaired.map((row): RowExample => ({ ...row, arrays: [] }))];
    found.sort((a, b) => (BigInt(a.key) < BigInt(b.key) ? -1 : 1));
    this.#examples.push(...found.slice(0, MOST_EXAMPLES - this.#examples.length));
  }

  result(): RowComparison {
    const { added, removed, changed, same } = this.#found;
    return {
      key: this.key,
      added: String(added),
      removed: String(removed),
      changed: String(changed),
      same: String(same),
      examples: this.#examples,
    };
  }
}
