/** The listing as the store's view walks through it: a first page at once, the rest only when somebody looks for something. */
import { useEffect, useState } from 'preact/hooks';
import { dateOf } from './figures.ts';
import type { Search } from './route.ts';
import type { DamagedSnapshot, SnapshotSummary } from './answers.ts';
import { getJson, isDamaged, LOOK, token } from './service.ts';
import { cut } from './text.ts';

/** Entries of the first page. */
const FIRST = 100;
/** Of each further one: the most that the service gives, which ends them by their bytes. */
const FURTHER = 10_000;
/** What the page keeps; a store beyond it is looked at in parts, by days or namespaces. */
const MOST = 200_000;
/** A text of an entry is kept to this length; its own view has all of it. */
const KEPT = 300;

export type Entry =
  | { readonly kind: 'snapshot'; readonly summary: SnapshotSummary; readonly finishedMs: number }
  | { readonly kind: 'damaged'; readonly damaged: DamagedSnapshot };

export interface Walk {
  readonly entries: readonly Entry[];
  /** Null where everything was looked at. */
  readonly next: string | null;
  readonly isWalking: boolean;
  readonly error: unknown;
  /** Goes on to the end, or to what the page keeps. */
  readonly goOn: () => void;
  readonly stop: () => void;
  readonly again: () => void;
}

/** What the service itself can narrow: the page looks for the rest. */
type Narrowed = Pick<Search, 'namespace' | 'from' | 'until'>;

export function useWalk({ namespace, from, until }: Narrowed, isSearching: boolean): Walk {
  const [wanted, setWanted] = useState<'first' | 'all' | 'stopped'>('first');
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<Pick<Walk, 'entries' | 'next' | 'error' | 'isWalking'>>(NOTHING);
  const key = JSON.stringify([namespace, from, until, turn, token.value]);
  useEffect(() => {
    const aborter = new AbortController();
    setState(NOTHING);
    setWanted('first');
    const narrowed = { namespace, from, until };
    const begin = async (): Promise<void> => {
      const page = await load(narrowed, null, FIRST, aborter.signal);
      setState({ entries: joined([], page.entries), next: page.next, error: null, isWalking: false });
      if (page.next === null) return;
      const damaged = await load(narrowed, BEFORE_DAMAGED, FIRST, aborter.signal);
      setState((before) => ({ ...before, entries: joined(before.entries, damaged.entries) }));
    };
    begin().catch((error: unknown) => {
      if (!aborter.signal.aborted) setState((before) => ({ ...before, error, isWalking: false }));
    });
    return () => {
      aborter.abort();
    };
  }, [key]);

  const { entries, next, isWalking, error } = state;
  const goesOn = wanted === 'all' || (isSearching && wanted !== 'stopped');
  const isDue = goesOn && next !== null && error === null && entries.length < MOST;
  useEffect(() => {
    if (!isDue) return;
    const aborter = new AbortController();
    setState((before) => ({ ...before, isWalking: true }));
    load({ namespace, from, until }, next, FURTHER, aborter.signal).then(
      (page) =>
        setState((before) => ({
          entries: joined(before.entries, page.entries),
          next: page.next,
          error: null,
          isWalking: false,
        })),
      (failure: unknown) => {
        if (!aborter.signal.aborted) setState((before) => ({ ...before, error: failure, isWalking: false }));
      },
    );
    return () => {
      aborter.abort();
    };
  }, [isDue, next, key]);

  return {
    entries,
    next,
    isWalking: isWalking || isDue,
    error,
    goOn: () => setWanted('all'),
    stop: () => {
      setWanted('stopped');
      setState((before) => ({ ...before, isWalking: false }));
    },
    again: () => setTurn((before) => before + 1),
  };
}

const NOTHING = { entries: [], next: null, error: null, isWalking: true };

/** In the order of the service what has no time comes last: it would never be seen in a large store, so it is asked for. */
const BEFORE_DAMAGED = `damaged.${'0'.repeat(32)}`;

/** What is damaged comes first, and nothing twice. */
function joined(before: readonly Entry[], more: readonly Entry[]): readonly Entry[] {
  const known = new Set(
    before.flatMap((entry) => (entry.kind === 'damaged' ? [entry.damaged.snapshot_id] : [])),
  );
  const isNew = (entry: Entry): boolean => entry.kind === 'damaged' && !known.has(entry.damaged.snapshot_id);
  return [
    ...before.filter(({ kind }) => kind === 'damaged'),
    ...more.filter(isNew),
    ...before.filter(({ kind }) => kind === 'snapshot'),
    ...more.filter(({ kind }) => kind === 'snapshot'),
  ];
}

async function load(
  { namespace, from, until }: Narrowed,
  after: string | null,
  limit: number,
  signal: AbortSignal,
): Promise<{ entries: readonly Entry[]; next: string | null }> {
  const { snapshots, next } = await getJson('/snapshots', {
    signal,
    query: {
      ...LOOK,
      order: 'newest',
      limit,
      source_namespace: namespace,
      since: dayNs(from, 0),
      until: dayNs(until, 1),
      ...(after === null ? {} : { after }),
    },
  });
  return { entries: snapshots.map(entryOf), next };
}

function entryOf(listed: SnapshotSummary | DamagedSnapshot): Entry {
  if (isDamaged(listed)) return { kind: 'damaged', damaged: listed };
  const { source_namespace, source_version, scope } = listed;
  const summary = {
    ...listed,
    source_namespace: cut(source_namespace, KEPT),
    source_version: cut(source_version, KEPT),
    scope: cut(scope, KEPT),
  };
  return { kind: 'snapshot', summary, finishedMs: dateOf(listed.finished_at_ns).getTime() };
}

/** The first, or with `days` 1 the last nanosecond of a local day; empty for none. */
function dayNs(day: string, days: 0 | 1): string {
  const [year, month, date] = day.split('-').map(Number);
  if (year === undefined || month === undefined || date === undefined) return '';
  const ms = new Date(year, month - 1, date + days).getTime();
  return Number.isNaN(ms) || ms < 0 ? '' : String(BigInt(ms) * 1_000_000n - BigInt(days));
}

/** Whether the page itself has to look for something: the service narrows by namespace and days only. */
export function looksFor({ text, status, resolution }: Search): boolean {
  return `${text}${status}${resolution}` !== '';
}

export function matches(entry: Entry, { text, status, resolution }: Search): boolean {
  const sought = text.trim().toLowerCase();
  if (entry.kind === 'damaged') {
    const { snapshot_id: id } = entry.damaged;
    return (
      resolution === '' && (status === '' || status === 'DAMAGED') && id.toLowerCase().startsWith(sought)
    );
  }
  const {
    snapshot_id: id,
    source_namespace,
    source_version,
    scope,
    coverage_status,
    resolution: own,
  } = entry.summary;
  if (status !== '' && status !== coverage_status) return false;
  if (resolution !== '' && resolution !== own) return false;
  if (sought === '' || id.startsWith(sought)) return true;
  return [source_namespace, source_version, scope].some((field) => field.toLowerCase().includes(sought));
}
