/** What a mirror has to bring: the two listings compared, and the parents that a chosen snapshot needs (CONTRACT section 6). */
import type { DamagedSnapshot, ListedSnapshot } from '../../client/index.ts';
import type { SnapshotId } from '../../contract/ids.ts';
import { entryOf, resolveId } from '../connection.ts';
import { CommandError, exitStatusOf, statusOf } from '../errors.ts';
import type { OpenedStore, SideName } from '../stores.ts';

/** A snapshot that FROM has and TO lacks, as FROM lists it. */
export interface Wanted {
  readonly id: SnapshotId;
  readonly parentId: SnapshotId | null;
  readonly manifestSha256: string;
  readonly arrayCount: number;
  /** Of all its arrays. */
  readonly byteLength: bigint;
}

/** Why a snapshot is not at TO, or not the one that FROM has. */
export interface Problem {
  readonly snapshot_id: string;
  /** Where it lies that it could not be brought. */
  readonly side: SideName;
  readonly code: string;
  readonly detail: string;
}

export interface Plan {
  /** Everything to bring, chosen or a parent of what is. */
  readonly wanted: ReadonlyMap<SnapshotId, Wanted>;
  /** Those of `wanted` that TO could not take, as their parent is not there and will not be. */
  readonly blocked: ReadonlyMap<SnapshotId, Problem>;
  /** Chosen ones that TO has already, with the same manifest. */
  readonly equal: number;
  /** Chosen ones that cannot be brought. */
  readonly problems: readonly Problem[];
}

export interface Selection {
  /** Ids, beginnings of ids or `latest`; empty for all that the others let pass. */
  readonly ids: readonly string[];
  readonly namespace?: string | undefined;
  /** Finished then or later, epoch nanoseconds. */
  readonly since?: string | undefined;
}

type Stores = Readonly<Record<SideName, OpenedStore>>;

/** How a snapshot stands between the two sides: alike where it can be a parent at TO as it is. */
type Standing =
  | { readonly is: 'alike' | 'nowhere' }
  | { readonly is: 'lacking'; readonly wanted: Wanted }
  /** `fitAsParent` where TO has it whole, and what FROM has under its id cannot be read. */
  | { readonly is: 'in conflict'; readonly problem: Problem; readonly fitAsParent: boolean };

/** The frame of each is proven where it lies; every byte of what is brought is proven when it is read. */
const FRAMES = { proof: 'frame', damaged: 'show' } as const;

/** `onListed` hears how many entries were looked at so far. Throws what the listings do, and says on which side. */
export async function makePlan(
  stores: Stores,
  selection: Selection,
  signal: AbortSignal,
  onListed: (count: number) => void,
): Promise<Plan> {
  return selection.ids.length > 0
    ? planOfIds(stores, selection.ids, signal)
    : planOfListings(stores, selection, signal, onListed);
}

/** Asks for single snapshots, as a listing of everything is long where a few are meant. */
async function planOfIds(stores: Stores, texts: readonly string[], signal: AbortSignal): Promise<Plan> {
  const ids = new Set<SnapshotId>();
  for (const text of texts) {
    ids.add(await onSide('from', resolveId(stores.from, text, signal)));
  }
  const plan = new PlanDraft();
  for (const id of ids) {
    const here = await onSide('from', entryOf(stores.from, id, signal));
    if (here === null) plan.problems.push(notAtFrom(id));
    else plan.choose(standing(here, await onSide('to', entryOf(stores.to, id, signal))));
  }
  return plan.withParents((id) => standingOf(stores, id, signal));
}

async function standingOf({ from, to }: Stores, id: SnapshotId, signal: AbortSignal): Promise<Standing> {
  const there = await onSide('to', entryOf(to, id, signal));
  const here = await onSide('from', entryOf(from, id, signal));
  return standing(here, there);
}

/** Lists both sides once, and remembers what TO has and what it lacks: some 500 bytes a snapshot. */
async function planOfListings(
  stores: Stores,
  selection: Selection,
  signal: AbortSignal,
  onListed: (count: number) => void,
): Promise<Plan> {
  let listed = 0;
  const there = new Map<string, There>();
  for await (const entry of listedOnSide('to', stores.to.list(FRAMES, signal))) {
    there.set(entry.snapshot_id, 'problem' in entry ? entry : entry.manifest_sha256);
    onListed((listed += 1));
  }
  const plan = new PlanDraft();
  const notAlike = new Map<string, Standing>();
  for await (const entry of listedOnSide('from', stores.from.list(FRAMES, signal))) {
    const found = standing(entry, there.get(entry.snapshot_id) ?? null);
    if (found.is !== 'alike') notAlike.set(entry.snapshot_id, found);
    if (isChosen(entry, selection)) plan.choose(found);
    onListed((listed += 1));
  }
  return plan.withParents(async (id) => {
    const known = notAlike.get(id) ?? (there.has(id) ? standing(null, there.get(id) ?? null) : null);
    // It may have been published since, below where the listing was by then.
    const found = known ?? (await standingOf(stores, id, signal));
    notAlike.set(id, found);
    return found;
  });
}

function isChosen(entry: ListedSnapshot, { namespace, since }: Selection): boolean {
  // What is damaged does not say what it is: it may be one of those that are meant.
  if ('problem' in entry) return true;
  return (
    (namespace === undefined || entry.source_namespace === namespace) &&
    (since === undefined || BigInt(entry.finished_at_ns) >= BigInt(since))
  );
}

/** What has to be known of an entry at TO: its manifest's SHA-256, or what is wrong with it. */
type There = string | DamagedSnapshot;

function standing(here: ListedSnapshot | null, found: ListedSnapshot | There | null): Standing {
  const there =
    typeof found === 'object' && found !== null && !('problem' in found) ? found.manifest_sha256 : found;
  if (typeof there === 'object' && there !== null) return inConflict('to', there, false);
  if (here === null) return { is: there === null ? 'nowhere' : 'alike' };
  if ('problem' in here) return inConflict('from', here, there !== null);
  if (there === here.manifest_sha256) return { is: 'alike' };
  if (there !== null) {
    const problem = differs(here.snapshot_id, here.manifest_sha256, there);
    return { is: 'in conflict', problem, fitAsParent: false };
  }
  return {
    is: 'lacking',
    wanted: {
      id: here.snapshot_id,
      parentId: here.parent_id,
      manifestSha256: here.manifest_sha256,
      arrayCount: here.array_count,
      byteLength: BigInt(here.byte_length),
    },
  };
}

function inConflict(
  side: SideName,
  { snapshot_id, problem: { code, detail } }: DamagedSnapshot,
  fitAsParent: boolean,
): Standing {
  return { is: 'in conflict', problem: { snapshot_id, side, code, detail }, fitAsParent };
}

/** Digests are those of the manifests at FROM and at TO, null where that cannot be read. */
export function differs(id: SnapshotId, from: string, to: string | null): Problem {
  const found =
    to === null
      ? 'what cannot be read'
      : `another snapshot: its manifest has the SHA-256 ${to}, that of FROM ${from}`;
  return {
    snapshot_id: id,
    side: 'to',
    code: 'snapshot_exists',
    detail: `TO has under this id ${found}. Nothing is ever overwritten.`,
  };
}

function notAtFrom(id: SnapshotId): Problem {
  return { snapshot_id: id, side: 'from', code: 'snapshot_not_found', detail: 'FROM has no such snapshot.' };
}

/** Of a snapshot whose parent TO does not have, and will not. */
export function withoutParent(child: Wanted, why: string): Problem {
  return {
    snapshot_id: child.id,
    side: 'to',
    code: 'parent_not_complete',
    detail: `Its parent ${child.parentId} ${why}, and no store takes a child without its parent.`,
  };
}

class PlanDraft {
  readonly problems: Problem[] = [];
  readonly #chosen: Wanted[] = [];
  #equal = 0;

  choose(found: Standing): void {
    if (found.is === 'lacking') this.#chosen.push(found.wanted);
    else if (found.is === 'in conflict') this.problems.push(found.problem);
    else this.#equal += 1;
  }

  /** Adds the parents that TO lacks, whether chosen or not. */
  async withParents(standingOfParent: (id: SnapshotId) => Promise<Standing>): Promise<Plan> {
    const wanted = new Map<SnapshotId, Wanted>();
    const blocked = new Map<SnapshotId, Problem>();
    for (const first of this.#chosen) {
      let next: Wanted | null = first;
      while (next !== null && !wanted.has(next.id)) {
        const child: Wanted = next;
        wanted.set(child.id, child);
        const parent: Standing =
          child.parentId === null ? { is: 'alike' } : await standingOfParent(child.parentId);
        if (parent.is === 'nowhere') blocked.set(child.id, withoutParent(child, 'lies on neither side'));
        if (parent.is === 'in conflict' && !parent.fitAsParent) {
          blocked.set(child.id, withoutParent(child, `cannot be brought (${parent.problem.detail})`));
        }
        next = parent.is === 'lacking' ? parent.wanted : null;
      }
    }
    return { wanted, blocked, equal: this.#equal, problems: this.problems };
  }
}

const NAMES: Readonly<Record<SideName, string>> = { from: 'FROM', to: 'TO' };

/** Failures of services name an address at best: this says which of the two it is. */
async function onSide<T>(side: SideName, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw ofSide(side, error);
  }
}

async function* listedOnSide<T>(side: SideName, items: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  try {
    yield* items;
  } catch (error) {
    throw ofSide(side, error);
  }
}

function ofSide(side: SideName, error: unknown): unknown {
  // Wrong words are of no side.
  const isOfSide = error instanceof Error && !(error instanceof CommandError);
  if (!isOfSide || exitStatusOf(error) === statusOf('usage')) return error;
  return new CommandError('failed', `${NAMES[side]}: ${error.message}`, { cause: error });
}
