/** Where two arrays differ, from their values: counted in equal spans of positions. */
import { pause, type Values } from './profile.ts';

export interface Span {
  /** Indexes, `end` not included. */
  readonly start: number;
  readonly end: number;
  readonly differing: number;
}

const SPANS = 240;
const TURN = 131_072;

type Elements = ArrayLike<number> | ArrayLike<bigint>;

function elementsOf({ parts }: Values): Elements {
  return parts[0]?.values ?? [];
}

/** Rows of one side, and where each lies on the other; -1 where it does not. */
export type Alignment = Int32Array;

/** So many rows are aligned by a key in the page. */
export const MOST_ROWS = 500_000;

/** For each row of `from`, the row of `to` that has the same key. Keys are unique: the service has compared by them. */
export async function aligned(from: Values, to: Values, signal: AbortSignal): Promise<Alignment> {
  const [left, right] = [elementsOf(from), elementsOf(to)];
  const rows = new Map<number | bigint, number>();
  for (let row = 0; row < right.length; row += 1) {
    if (row % TURN === 0) await pause(signal);
    rows.set(right[row] ?? 0, row);
  }
  const found = new Int32Array(left.length);
  for (let row = 0; row < left.length; row += 1) {
    if (row % TURN === 0) await pause(signal);
    found[row] = rows.get(left[row] ?? 0) ?? -1;
  }
  return found;
}

/** By position, or of the rows that both have; what lies beyond the shorter side differs. */
export async function differences(
  from: Values,
  to: Values,
  rows: Alignment | null,
  signal: AbortSignal,
): Promise<Span[]> {
  const [left, right] = [elementsOf(from), elementsOf(to)];
  const length = rows === null ? Math.max(left.length, right.length) : left.length;
  return counted(length, signal, (at) => {
    if (rows === null) return left[at] !== right[at];
    const other = rows[at] ?? -1;
    return other >= 0 && left[at] !== right[other];
  });
}

/** Rows of one side that the other does not have. */
export function unmatched(rows: Alignment, signal: AbortSignal): Promise<Span[]> {
  return counted(rows.length, signal, (at) => (rows[at] ?? -1) < 0);
}

async function counted(
  length: number,
  signal: AbortSignal,
  differs: (at: number) => boolean,
): Promise<Span[]> {
  const spans = Math.min(SPANS, length);
  const found: Span[] = [];
  for (let span = 0; span < spans; span += 1) {
    const start = Math.floor((length * span) / spans);
    const end = Math.floor((length * (span + 1)) / spans);
    let differing = 0;
    for (let at = start; at < end; at += 1) if (differs(at)) differing += 1;
    found.push({ start, end, differing });
    if (span % 16 === 0) await pause(signal);
  }
  return found;
}
