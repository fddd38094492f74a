/** What is published, the newest first, with what is damaged among it. */
import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { isSnapshotId } from '../contract/ids.ts';
import { COVERAGE_STATUSES, RESOLUTIONS } from '../contract/documents.ts';
import { count, counted } from './figures.ts';
import { Foreign, Loading, Moment, Size, Status, Trouble } from './parts.tsx';
import { go, links, NO_SEARCH, route, type Search } from './route.ts';
import type { DamagedSnapshot, SnapshotSummary } from './answers.ts';
import { plain } from './text.ts';
import { Timeline } from './timeline.tsx';
import { looksFor, matches, useWalk, type Entry, type Walk } from './walk.ts';

/** Rows that are shown at once, and added by each press. */
const ROWS = 100;

export function StoreView({ search }: { readonly search: Search }): JSX.Element {
  const walk = useWalk(search, looksFor(search));
  const [shown, setShown] = useState(ROWS);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const key = JSON.stringify(search);
  useEffect(() => setShown(ROWS), [key]);
  const found = looksFor(search) ? walk.entries.filter((entry) => matches(entry, search)) : walk.entries;
  const isSearched = key !== JSON.stringify(NO_SEARCH);
  const isEmpty = walk.entries.length === 0 && walk.next === null && !walk.isWalking && walk.error === null;
  const choose = (id: string, isChosen: boolean): void => {
    // The two that were chosen last.
    setChosen((before) => [...before.filter((other) => other !== id), ...(isChosen ? [id] : [])].slice(-2));
  };
  return (
    <>
      <header class="head">
        <h1 tabIndex={-1}>Store</h1>
        <p class="small">
          Listed by marker, manifest, inventory and lengths; a snapshot that is opened is proven byte for
          byte.
        </p>
      </header>
      {isEmpty && !isSearched ? (
        <Empty />
      ) : (
        <>
          <SearchForm search={search} entries={walk.entries} />
          <Timeline entries={found} />
          <Summary walk={walk} found={found} isSearched={isSearched} />
          {walk.error !== null && <Trouble error={walk.error} again={walk.again} />}
          {walk.isWalking && walk.entries.length === 0 && <Loading>Looking into the store …</Loading>}
          {chosen.length > 0 && <Chosen ids={chosen} clear={() => setChosen([])} />}
          {found.length > 0 && <Table entries={found.slice(0, shown)} chosen={chosen} choose={choose} />}
          {found.length > shown && (
            <p class="actions">
              <button type="button" onClick={() => setShown(shown + ROWS)}>
                Show {Math.min(ROWS, found.length - shown)} more
              </button>
            </p>
          )}
          {found.length <= shown && walk.next !== null && !walk.isWalking && (
            <p class="actions">
              <button
                type="button"
                onClick={() => {
                  setShown(shown + ROWS);
                  walk.goOn();
                }}
              >
                Look at what is older
              </button>
            </p>
          )}
        </>
      )}
    </>
  );
}

function Empty(): JSX.Element {
  return (
    <section class="panel empty">
      <h2>Nothing is published here yet</h2>
      <p>
        <a href={links.publish()}>Publish a snapshot by hand</a>, or see <a href="docs">how programs do it</a>
        .
      </p>
    </section>
  );
}

function SearchForm({
  search,
  entries,
}: {
  readonly search: Search;
  readonly entries: readonly Entry[];
}): JSX.Element {
  const [text, setText] = useState(search.text);
  const ids = { text: useId(), status: useId(), resolution: useId(), from: useId(), until: useId() };
  useEffect(() => setText(search.text), [search.text]);
  useEffect(() => {
    if (text === search.text) return;
    const timer = setTimeout(() => {
      if (route.peek().view === 'store') go(links.store({ ...search, text }), { replace: true });
    }, 250);
    return () => {
      clearTimeout(timer);
    };
  }, [text, search]);
  const set = (change: Partial<Search>): void => {
    go(links.store({ ...search, text, ...change }), { replace: true });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const sought = text.trim().toLowerCase();
    if (isSnapshotId(sought)) go(links.snapshot(sought));
    else set({});
  };
  const isSearched = JSON.stringify(search) !== JSON.stringify(NO_SEARCH);
  const options = (values: readonly string[], value: string) =>
    ['', ...values].map((one) => (
      <option value={one} selected={one === value}>
        {one === '' ? 'any' : one}
      </option>
    ));
  return (
    <form class="search" role="search" onSubmit={submit}>
      <p class="wide">
        <label for={ids.text}>Search</label>
        <input
          id={ids.text}
          type="search"
          value={text}
          placeholder="Beginning of an id, or any part of namespace, version or scope"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </p>
      <p>
        <label for={ids.status}>Coverage</label>
        <select id={ids.status} onChange={(event) => set({ status: event.currentTarget.value })}>
          {options([...COVERAGE_STATUSES, 'DAMAGED'], search.status)}
        </select>
      </p>
      <p>
        <label for={ids.resolution}>Resolution</label>
        <select id={ids.resolution} onChange={(event) => set({ resolution: event.currentTarget.value })}>
          {options(RESOLUTIONS, search.resolution)}
        </select>
      </p>
      <p>
        <label for={ids.from}>Finished from</label>
        <input
          id={ids.from}
          type="date"
          value={search.from}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
      </p>
      <p>
        <label for={ids.until}>until</label>
        <input
          id={ids.until}
          type="date"
          value={search.until}
          onChange={(event) => set({ until: event.currentTarget.value })}
        />
      </p>
      {search.namespace !== '' && (
        <p class="chip">
          Namespace <Foreign text={search.namespace} most={60} whole={false} />{' '}
          <a href={links.store({ ...search, namespace: '' })} aria-label="Show every namespace">
            ✕
          </a>
        </p>
      )}
      {isSearched && entries.length >= 0 && (
        <p>
          <a href={links.store()}>Clear</a>
        </p>
      )}
    </form>
  );
}

function Summary({
  walk,
  found,
  isSearched,
}: {
  readonly walk: Walk;
  readonly found: readonly Entry[];
  readonly isSearched: boolean;
}): JSX.Element {
  const { entries, next, isWalking, goOn, stop } = walk;
  const damaged = found.filter(({ kind }) => kind === 'damaged').length;
  const bytes = found.reduce(
    (total, entry) => (entry.kind === 'snapshot' ? total + BigInt(entry.summary.byte_length) : total),
    0n,
  );
  const all = next === null ? counted(entries.length, 'snapshot') : `the ${count(entries.length)} newest`;
  const isNarrowed = found.length !== entries.length;
  return (
    <div class="summary" role="status">
      {entries.length > 0 || !isWalking ? (
        <p>
          <strong>{isNarrowed ? `${count(found.length)} of ${all}` : upper(all)}</strong>
          {found.length > 0 && (
            <>
              , <Size bytes={bytes} />
            </>
          )}
          {damaged > 0 && <span class="damaged"> · {count(damaged)} damaged</span>}
          {found.length === 0 && isSearched && next === null && !isWalking && ' match'}
        </p>
      ) : (
        <p>…</p>
      )}
      {isWalking && entries.length > 0 ? (
        <p>
          <span class="loading">Looking further …</span>{' '}
          <button type="button" class="link" onClick={stop}>
            Stop
          </button>
        </p>
      ) : (
        next !== null && (
          <button type="button" class="link" onClick={goOn}>
            Look through everything
          </button>
        )
      )}
    </div>
  );
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Chosen({
  ids,
  clear,
}: {
  readonly ids: readonly string[];
  readonly clear: () => void;
}): JSX.Element {
  const [from = '', to] = ids;
  return (
    <div class="panel chosen" role="status">
      <span>
        {to === undefined ? 'Choose another snapshot to compare with ' : 'Compare '}
        {ids.map((id, at) => (
          <>
            {at > 0 && ' with '}
            <code>{id.slice(0, 12)}…</code>
          </>
        ))}
      </span>
      <span class="actions">
        {to !== undefined && (
          <a class="button main" href={links.compare(from, to)}>
            Compare
          </a>
        )}
        <button type="button" onClick={clear}>
          Clear
        </button>
      </span>
    </div>
  );
}

interface TableProps {
  readonly entries: readonly Entry[];
  readonly chosen: readonly string[];
  readonly choose: (id: string, isChosen: boolean) => void;
}

function Table({ entries, chosen, choose }: TableProps): JSX.Element {
  return (
    <table class="store">
      <caption class="hidden">Snapshots, the last finished first</caption>
      <thead>
        <tr>
          <th scope="col">
            <span class="hidden">Compare</span>
          </th>
          <th scope="col">Coverage</th>
          <th scope="col">Snapshot</th>
          <th scope="col">Source</th>
          <th scope="col">Finished</th>
          <th scope="col" class="figure">
            Arrays
          </th>
          <th scope="col" class="figure">
            Size
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) =>
          entry.kind === 'damaged' ? (
            <DamagedRow key={entry.damaged.snapshot_id} damaged={entry.damaged} />
          ) : (
            <Row
              key={entry.summary.snapshot_id}
              summary={entry.summary}
              isChosen={chosen.includes(entry.summary.snapshot_id)}
              choose={choose}
            />
          ),
        )}
      </tbody>
    </table>
  );
}

function Row({
  summary,
  isChosen,
  choose,
}: {
  readonly summary: SnapshotSummary;
  readonly isChosen: boolean;
  readonly choose: (id: string, isChosen: boolean) => void;
}): JSX.Element {
  const { snapshot_id: id, source_namespace: namespace, source_version: version, scope } = summary;
  return (
    <tr>
      <td class="choose">
        <input
          type="checkbox"
          aria-label={`Compare ${id}`}
          checked={isChosen}
          onChange={(event) => choose(id, event.currentTarget.checked)}
        />
      </td>
      <td>
        <Status status={summary.coverage_status} />
        <span class="exact">{summary.resolution}</span>
      </td>
      <th scope="row">
        <a class="id" href={links.snapshot(id)}>
          {id}
        </a>
      </th>
      <td class="source">
        <span class="strong">
          <Foreign text={namespace} most={80} whole={false} />
        </span>{' '}
        <Foreign text={version} most={60} whole={false} />
        <span class="exact">
          <Foreign text={scope} most={120} whole={false} />
        </span>
      </td>
      <td>
        <Moment ns={summary.finished_at_ns} />
      </td>
      <td class="figure" data-unit="arrays">
        {count(summary.array_count)}
      </td>
      <td class="figure">
        <Size bytes={summary.byte_length} />
      </td>
    </tr>
  );
}

function DamagedRow({ damaged }: { readonly damaged: DamagedSnapshot }): JSX.Element {
  const { snapshot_id: id, problem } = damaged;
  return (
    <tr class="damaged">
      <td class="choose" />
      <td>
        <Status status="DAMAGED" />
        <span class="exact">
          <Foreign text={problem.code} most={60} whole={false} />
        </span>
      </td>
      <th scope="row">
        {isSnapshotId(id) ? (
          <a class="id" href={links.snapshot(id)}>
            {id}
          </a>
        ) : (
          <span class="id" title={plain(id)}>
            <Foreign text={id} most={80} />
          </span>
        )}
      </th>
      <td class="source" colSpan={4}>
        <Foreign text={problem.detail} most={400} />
      </td>
    </tr>
  );
}
