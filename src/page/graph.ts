/** A family of snapshots as a commit graph: rows from the newest down, each below all of its children, in as few lanes as it takes. */
import type { DamagedSnapshot, SnapshotSummary } from './answers.ts';

export type Member =
  | {
      readonly kind: 'snapshot';
      readonly id: string;
      readonly parent: string | null;
      readonly summary: SnapshotSummary;
    }
  | {
      readonly kind: 'damaged';
      readonly id: string;
      readonly parent: null;
      readonly damaged: DamagedSnapshot;
    }
  /** Named as a parent and not here. */
  | { readonly kind: 'missing'; readonly id: string; readonly parent: null };

export interface GraphRow {
  readonly member: Member;
  readonly lane: number;
  /** Row of the parent; null where there is none. */
  readonly parentRow: number | null;
}

export interface Graph {
  readonly rows: readonly GraphRow[];
  readonly lanes: number;
}

/** Those who are connected to `id` by parents and children, in any number of steps. */
export function familyOf(id: string, members: ReadonlyMap<string, Member>): Member[] {
  const children = new Map<string, string[]>();
  for (const { id: child, parent } of members.values()) {
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  const found = new Map<string, Member>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const member = members.get(next);
    if (member === undefined || found.has(next)) continue;
    found.set(next, member);
    if (member.parent !== null) open.push(member.parent);
    open.push(...(children.get(next) ?? []));
  }
  return [...found.values()];
}

/** `members` hold the parent of each of them, if only as a missing one. */
export function graphOf(members: readonly Member[]): Graph {
  const ordered = inOrder(members);
  const rowOf = new Map(ordered.map(({ id }, row) => [id, row]));
  /** What each lane leads to; null where it is free. */
  const lanes: (string | null)[] = [];
  const rows = ordered.map((member): GraphRow => {
    let lane = lanes.indexOf(member.id);
    if (lane < 0) lane = lanes.indexOf(null);
    if (lane < 0) lane = lanes.length;
    for (const [at, leadsTo] of lanes.entries()) if (leadsTo === member.id) lanes[at] = null;
    lanes[lane] = member.parent;
    return { member, lane, parentRow: member.parent === null ? null : (rowOf.get(member.parent) ?? null) };
  });
  return { rows, lanes: lanes.length };
}

/** The last finished first, but whatever the clocks said, no parent above its child. */
function inOrder(members: readonly Member[]): Member[] {
  const byId = new Map(members.map((member) => [member.id, member]));
  const childrenLeft = new Map<string, number>();
  for (const { parent } of members) {
    if (parent !== null) childrenLeft.set(parent, (childrenLeft.get(parent) ?? 0) + 1);
  }
  const ready = members.filter(({ id }) => !childrenLeft.has(id)).sort(newest);
  const ordered: Member[] = [];
  for (let next = ready.shift(); next !== undefined; next = ready.shift()) {
    ordered.push(next);
    const parent = next.parent === null ? undefined : byId.get(next.parent);
    if (parent === undefined) continue;
    const left = (childrenLeft.get(parent.id) ?? 0) - 1;
    childrenLeft.set(parent.id, left);
    if (left > 0) continue;
    const at = ready.findIndex((other) => newest(parent, other) < 0);
    ready.splice(at < 0 ? ready.length : at, 0, parent);
  }
  return ordered;
}

function newest(a: Member, b: Member): number {
  const [first, second] = [timeOf(a), timeOf(b)];
  if (first !== second) return first > second ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** What has no time is as old as can be. */
function timeOf(member: Member): bigint {
  return member.kind === 'snapshot' ? BigInt(member.summary.finished_at_ns) : -1n;
}
