/** Names of a directory of any size in order, without ever sorting, or holding the event loop for, all of them at once. */

/** Names of one room, in pieces of at most a few thousand. */
export interface NamesSource {
  /** Whether they come in the order of their bytes; then `from` may leave out all up to `after`. */
  readonly areOrdered: boolean;
  readonly from: (after: string | undefined) => AsyncIterable<readonly string[]>;
}

/** Names that come in order, one by one; each with whether it is the last one. */
export async function* inOrder(
  pieces: AsyncIterable<readonly string[]>,
): AsyncGenerator<{ readonly item: string; readonly isLast: boolean }, void, void> {
  let held: string | undefined;
  for await (const piece of pieces) {
    for (const name of piece) {
      if (held !== undefined) yield { item: held, isLast: false };
      held = name;
    }
  }
  if (held !== undefined) yield { item: held, isLast: true };
}

/** Sorted pieces that are merged while they are read: whoever wants the first ten pays for ten. */
export class SortedRuns<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #runs: (readonly T[])[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** Takes a piece of at most a few thousand, and sorts it in place. */
  add(piece: T[]): void {
    if (piece.length > 0) this.#runs.push(piece.sort(this.#compare));
  }

  /** All items in order; each with whether it is the last one. */
  *[Symbol.iterator](): Generator<{ readonly item: T; readonly isLast: boolean }, void, void> {
    const heap = new Heap<Cursor<T>>((a, b) => this.#compare(a.head, b.head));
    for (const run of this.#runs) heap.push({ run, at: 0, head: run[0] as T });
    for (let first = heap.pop(); first !== undefined; first = heap.pop()) {
      const { run, at, head } = first;
      if (at + 1 < run.length) heap.push({ run, at: at + 1, head: run[at + 1] as T });
      yield { item: head, isLast: heap.size === 0 };
    }
  }
}

interface Cursor<T> {
  readonly run: readonly T[];
  readonly at: number;
  readonly head: T;
}

/** A binary heap: the least item first. */
class Heap<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (this.#compare(above, item) <= 0) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#compare(items[child + 1] as T, items[child] as T) < 0) child += 1;
      const below = items[child] as T;
      if (this.#compare(last, below) <= 0) break;
      items[at] = below;
      at = child;
    }
    items[at] = last;
    return first;
  }
}

/**
 * The port gives names byte by byte (`latin1`), as a name on a disk need not be text: what is UTF-8 is shown as that text,
 * of what is not every byte beyond ASCII as `\xNN`.
 */
export function nameAsText(name: string): string {
  const bytes = Buffer.from(name, 'latin1');
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  // eslint-disable-next-line no-control-regex -- all that is beyond ASCII
  return name.replace(/[^\x00-\x7f]/gu, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Whether the name can be used in a path; others are shown, and not looked into. */
export function isText(name: string): boolean {
  const bytes = Buffer.from(name, 'latin1');
  return Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes);
}

/** A name as a cursor, from which `nameOfCursor` gives every name back, text or not. */
export function cursorOfName(name: string): string {
  return nameAsText(name.replaceAll('\\', '\\\\'));
}

export function nameOfCursor(cursor: string): string {
  return Buffer.from(cursor, 'utf8')
    .toString('latin1')
    .replace(/\\(?:\\|x([0-9a-f]{2}))/gu, (_, code: string | undefined) =>
      code === undefined ? '\\' : String.fromCharCode(parseInt(code, 16)),
    );
}

export const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
