/** Which snapshots belong to a history, in which order they are told, and the lines that are drawn beside them. */
import type { SnapshotId } from '../contract/ids.ts';

/** What is kept of each snapshot of a store, so that a hundred thousand of them fit into memory. */
export interface Known {
  readonly id: SnapshotId;
  /** Null where it has none, or where it is damaged and none can be told. */
  readonly parent: SnapshotId | null;
  /** Epoch nanoseconds; 0 where it is damaged. */
  readonly finished: bigint;
}

/** `child`: of the snapshot asked for. `fork`: another child of one of its ancestors. */
export type Relation = 'self' | 'ancestor' | 'child' | 'fork';

export interface History<N extends Known> {
  /** Children before their parents, the last finished first. */
  readonly shown: readonly N[];
  readonly relations: ReadonlyMap<SnapshotId, Relation>;
  /** Named as parents by those shown, and not there. */
  readonly missing: readonly SnapshotId[];
  /** That belong to it and are not shown. */
  readonly omitted: number;
}

type Index<N> = ReadonlyMap<SnapshotId, N>;

/** All that pass the filter, as far as `limit` goes. */
export function historyOfAll<N extends Known>(
  index: Index<N>,
  passes: (node: N) => boolean,
  limit: number,
): History<N> {
  const all = [...index.values()].filter(passes).sort(newestFirst);
  return historyOf(index, all.slice(0, limit), new Map(), all.length);
}

/**
 * A snapshot of the index, its ancestors as far as they are there, its children, and the other children of its ancestors. Of
 * a long history children fill up to half of the `limit`, the nearest ancestors the rest; forks what is left.
 */
export function historyAround<N extends Known>(index: Index<N>, id: SnapshotId, limit: number): History<N> {
  const relations = new Map<SnapshotId, Relation>([[id, 'self']]);
  const ancestors: N[] = [];
  // What was forged on a disk may go round in a circle.
  for (let node = parentOf(index, index.get(id)); node !== undefined && !relations.has(node.id);) {
    relations.set(node.id, 'ancestor');
    ancestors.push(node);
    node = parentOf(index, node);
  }
  const children: N[] = [];
  const forks: N[] = [];
  for (const node of index.values()) {
    if (node.parent === null || relations.has(node.id)) continue;
    const relation = relations.get(node.parent);
    if (relation === 'self') children.push(node);
    if (relation === 'ancestor') forks.push(node);
  }
  for (const node of children) relations.set(node.id, 'child');
  for (const node of forks) relations.set(node.id, 'fork');
  children.sort(newestFirst);
  forks.sort(newestFirst);
  const chosen = [index.get(id)].filter((node) => node !== undefined);
  chosen.push(...children.slice(0, Math.floor(limit / 2)));
  chosen.push(...ancestors.slice(0, Math.max(0, limit - chosen.length)));
  const isShown = new Set(chosen.map((node) => node.id));
  const near = forks.filter(({ parent }) => parent !== null && isShown.has(parent));
  chosen.push(...near.slice(0, Math.max(0, limit - chosen.length)));
  return historyOf(index, chosen, relations, 1 + ancestors.length + children.length + forks.length);
}

function parentOf<N extends Known>(index: Index<N>, node: N | undefined): N | undefined {
  return node?.parent === null || node === undefined ? undefined : index.get(node.parent);
}

function newestFirst(a: Known, b: Known): number {
  if (a.finished !== b.finished) return a.finished > b.finished ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

function historyOf<N extends Known>(
  index: Index<N>,
  chosen: readonly N[],
  relations: ReadonlyMap<SnapshotId, Relation>,
  count: number,
): History<N> {
  const named = new Set(chosen.map(({ parent }) => parent).filter((parent) => parent !== null));
  const missing = [...named].filter((parent) => !index.has(parent));
  return { shown: childrenFirst(chosen), relations, missing, omitted: count - chosen.length };
}

/** The last finished first, but none before all of its children. */
function childrenFirst<N extends Known>(nodes: readonly N[]): readonly N[] {
  const sorted = [...nodes].sort(newestFirst);
  const waiting = new Map<SnapshotId, number>();
  for (const { parent } of nodes) if (parent !== null) waiting.set(parent, (waiting.get(parent) ?? 0) + 1);
  const ordered: N[] = [];
  const left = new Set(sorted);
  while (left.size > 0) {
    let [next] = left;
    for (const node of left) {
      if ((waiting.get(node.id) ?? 0) > 0) continue;
      next = node;
      break;
    }
    if (next === undefined) break;
    left.delete(next);
    ordered.push(next);
    if (next.parent !== null) waiting.set(next.parent, (waiting.get(next.parent) ?? 0) - 1);
  }
  return ordered;
}

/** One line: the drawing, and the snapshot it stands at; null for a line between, an id for a parent that is not there. */
export interface GraphLine<N> {
  readonly graph: string;
  readonly node: N | null;
  readonly missing: SnapshotId | null;
}

/** Draws a history of whole branches: each column leads from a child down to its parent. */
export function drawn<N extends Known>(
  { shown, missing }: History<N>,
  markOf: (node: N) => string,
): readonly GraphLine<N>[] {
  const lines: GraphLine<N>[] = [];
  const isShown = new Set(shown.map(({ id }) => id));
  const isMissing = new Set(missing);
  const lastChild = new Map(shown.map((node) => [node.parent, node]));
  /** Which parent each column waits for. */
  const columns: (SnapshotId | null)[] = [];
  const between = (at: number, mark: string): string =>
    columns.map((waits, column) => (column === at ? mark : waits === null ? ' ' : '│')).join(' ');
  const join = (id: SnapshotId): number => {
    const waiting = [...columns.keys()].filter((column) => columns[column] === id);
    const [first] = waiting;
    const last = waiting.at(-1);
    if (first !== undefined && last !== undefined && last > first) {
      const cells = columns.map((waits, column) => {
        if (column < first || column > last) return waits === null ? '  ' : '│ ';
        if (column === last) return '╯ ';
        return `${column === first ? '├' : waits === id ? '┴' : waits === null ? '─' : '┼'}─`;
      });
      lines.push({ graph: cells.join('').trimEnd(), node: null, missing: null });
      for (const column of waiting.slice(1)) columns[column] = null;
    }
    if (first !== undefined) return first;
    const free = columns.indexOf(null);
    const at = free === -1 ? columns.length : free;
    columns[at] = id;
    return at;
  };
  for (const node of shown) {
    const at = join(node.id);
    lines.push({ graph: between(at, markOf(node)).trimEnd(), node, missing: null });
    columns[at] = node.parent;
    while (columns.length > 0 && columns.at(-1) === null) columns.pop();
    if (node.parent === null || isShown.has(node.parent)) continue;
    // Others of its children may still come, and lead to the same place.
    if (lastChild.get(node.parent) !== node) continue;
    const end = join(node.parent);
    const isGone = isMissing.has(node.parent);
    lines.push({
      graph: between(end, isGone ? 'o' : '⋮').trimEnd(),
      node: null,
      missing: isGone ? node.parent : null,
    });
    columns[end] = null;
    while (columns.length > 0 && columns.at(-1) === null) columns.pop();
  }
  return lines;
}
