/** Two snapshots side by side, and what differs between them. Both were proven first. */
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { count, counted } from './figures.ts';
import { useLoad } from './load.ts';
import { Foreign, Loading, Status, Trouble } from './parts.tsx';
import { aligned, differences, MOST_ROWS, unmatched, type Span } from './positions.ts';
import { go, links } from './route.ts';
import type { ArrayEntry, Comparison, Manifest } from './answers.ts';
import { getJson } from './service.ts';
import { CoverageBar } from './snapshot-view.tsx';
import type { Values } from './profile.ts';
import { readValues, Turns, WHOLE_BYTES } from './values.ts';
import { plain } from './text.ts';

interface Compared {
  readonly comparison: Comparison;
  readonly from: Manifest;
  readonly to: Manifest;
}

export function CompareView({
  from,
  to,
  by,
}: {
  readonly from: string;
  readonly to: string;
  readonly by: string | null;
}): JSX.Element {
  const { data, error, isLoading, again } = useLoad(
    `${from} ${to} ${by ?? ''}`,
    async (signal): Promise<Compared> => {
      const manifestOf = (id: string) =>
        getJson('/snapshots/{snapshot_id}', { signal, ids: { snapshot_id: id } });
      const [comparison, one, other] = await Promise.all([
        getJson('/snapshots/{snapshot_id}/compare/{other}', {
          signal,
          ids: { snapshot_id: from, other: to },
          query: by === null ? {} : { key: by },
        }),
        manifestOf(from),
        manifestOf(to),
      ]);
      return { comparison, from: one, to: other };
    },
  );
  return (
    <>
      <header class="head">
        <h1 tabIndex={-1}>Difference</h1>
        <div class="links">
          <a href={links.compare(to, from, by)}>The other way round</a>
          <a href={links.lineage(to)}>Lineage</a>
          {by !== null && error !== null && <a href={links.compare(from, to)}>Compare by position</a>}
        </div>
      </header>
      {isLoading && <Loading>The service proves both, then compares them …</Loading>}
      {error !== null && <Trouble error={error} again={again} />}
      {data !== null && <Difference {...data} by={by} />}
    </>
  );
}

function Difference({ comparison, from, to, by }: Compared & { readonly by: string | null }): JSX.Element {
  const { obstacles, metadata, arrays, equal, rows } = comparison;
  const entries = Object.entries(arrays);
  const changed = entries.filter(([, { status }]) => status !== 'equal');
  const same = entries.filter(([, { status }]) => status === 'equal').map(([key]) => key);
  return (
    <>
      {obstacles.length > 0 && (
        <section class="panel obstacles" aria-labelledby="obstacles">
          <h2 id="obstacles">To be compared with care</h2>
          <p>
            The two do not mean the same by the same values:{' '}
            {obstacles.length === 1 ? 'this differs' : 'these differ'}.
          </p>
          <Fields fields={obstacles} />
        </section>
      )}
      <p class="verdict">
        {equal ? (
          <strong>Equal: every array and the coverage are the same.</strong>
        ) : (
          <>
            <strong>
              {changed.length === 0
                ? 'No array differs'
                : `${counted(changed.length, 'array')} of ${entries.length} differ${changed.length === 1 ? 's' : ''}`}
            </strong>
            {changed.length === 0 && ', the coverage does'}
          </>
        )}
      </p>
      <div class="columns">
        <Side title="From" manifest={from} />
        <Side title="To" manifest={to} />
      </div>
      <KeyChoice from={from} to={to} by={by} />
      {rows !== undefined && <Rows rows={rows} from={from} to={to} />}
      {changed.map(([key, array]) => (
        <OneArray key={`${key} ${by ?? ''}`} name={key} array={array} from={from} to={to} by={by} />
      ))}
      {same.length > 0 && (
        <section class="panel" aria-labelledby="same">
          <h2 id="same">{counted(same.length, 'array')} without a difference</h2>
          <p class="keys">
            {same.map((key) => (
              <code>{key}</code>
            ))}
          </p>
        </section>
      )}
      <section class="panel" aria-labelledby="metadata">
        <h2 id="metadata">{metadata.length === 0 ? 'All metadata is the same' : 'Metadata'}</h2>
        {metadata.length > 0 && <Fields fields={metadata} />}
      </section>
    </>
  );
}

function Side({
  title,
  manifest: { snapshot },
}: {
  readonly title: string;
  readonly manifest: Manifest;
}): JSX.Element {
  const heading = useId();
  return (
    <section class="panel" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>
          {title} <Foreign text={snapshot.source_version} most={40} whole={false} />
        </h2>
        <Status status={snapshot.coverage.status} />
      </header>
      <p>
        <a class="id" href={links.snapshot(snapshot.snapshot_id)}>
          {snapshot.snapshot_id}
        </a>
      </p>
      <CoverageBar coverage={snapshot.coverage} />
    </section>
  );
}

type Field = Comparison['metadata'][number];

function Fields({ fields }: { readonly fields: readonly Field[] }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Fields that differ">
      <table class="fields">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">From</th>
            <th scope="col">To</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ path, from, to }) => (
            <tr>
              <th scope="row">{path.replace(/^snapshot\./u, '').replaceAll('_', ' ')}</th>
              <td>
                <FieldValue value={from} />
              </td>
              <td>
                <FieldValue value={to} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FieldValue({ value }: { readonly value: Field['from'] }): JSX.Element {
  if (value === null) return <em>none</em>;
  if (typeof value === 'string') return <Foreign text={value} />;
  if (value.length === 0) return <em>none</em>;
  return (
    <ul>
      {value.slice(0, 20).map((one) => (
        <li>
          <Foreign text={one} />
        </li>
      ))}
      {value.length > 20 && <li>and {count(value.length - 20)} more</li>}
    </ul>
  );
}

/** Rows can be aligned by an array that both have under one type. */
function KeyChoice({
  from,
  to,
  by,
}: Omit<Compared, 'comparison'> & { readonly by: string | null }): JSX.Element | null {
  const id = useId();
  const keys = Object.keys(from.arrays).filter(
    (key) => Object.hasOwn(to.arrays, key) && to.arrays[key]?.dtype === from.arrays[key]?.dtype,
  );
  if (keys.length === 0) return null;
  return (
    <p class="by">
      <label for={id}>Compare rows</label>{' '}
      <select
        id={id}
        onChange={(event) => {
          const { value } = event.currentTarget;
          go(links.compare(from.snapshot.snapshot_id, to.snapshot.snapshot_id, value === '' ? null : value));
        }}
      >
        <option value="" selected={by === null}>
          by their position
        </option>
        {keys.map((key) => (
          <option value={key} selected={by === key}>
            by the key {key}
          </option>
        ))}
      </select>
    </p>
  );
}

const KINDS = ['added', 'removed', 'changed', 'same'] as const;

function Rows({
  rows,
  from,
  to,
}: {
  readonly rows: NonNullable<Comparison['rows']>;
  readonly from: Manifest;
  readonly to: Manifest;
}): JSX.Element {
  const load = useLoad(`rows ${rows.key}`, (signal) =>
    turns.take(async () => {
      const keys = await bothOf(rows.key, from, to, signal);
      if (keys === null || keys.some((values) => values.count > MOST_ROWS)) return null;
      const [removed, added] = await Promise.all([
        aligned(keys[0], keys[1], signal).then((alignment) => unmatched(alignment, signal)),
        aligned(keys[1], keys[0], signal).then((alignment) => unmatched(alignment, signal)),
      ]);
      return { removed, added };
    }),
  );
  return (
    <section class="panel" aria-labelledby="rows">
      <h2 id="rows">
        Rows by <code>{rows.key}</code>
      </h2>
      <ul class="tally">
        {KINDS.map((kind) => (
          <li class={kind}>
            <strong>{count(rows[kind])}</strong> {kind}
          </li>
        ))}
      </ul>
      {load.data !== null && rows.removed !== '0' && (
        <Strip spans={load.data.removed} kind="removed" what="Rows of the first that were removed" />
      )}
      {load.data !== null && rows.added !== '0' && (
        <Strip spans={load.data.added} kind="added" what="Rows of the second that were added" />
      )}
      {rows.examples.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="The first rows that differ">
          <table class="fields">
            <thead>
              <tr>
                <th scope="col" class="figure">
                  {rows.key}
                </th>
                <th scope="col">Row</th>
                <th scope="col">Arrays</th>
              </tr>
            </thead>
            <tbody>
              {rows.examples.map(({ key, kind, arrays }) => (
                <tr>
                  <td class="figure">
                    <code>{count(key)}</code>
                  </td>
                  <td>{kind}</td>
                  <td>{arrays.join(', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const turns = new Turns(1);

/** Both sides of an array; null where one is not there, or too long to be read whole. */
async function bothOf(
  key: string,
  from: Manifest,
  to: Manifest,
  signal: AbortSignal,
): Promise<readonly [Values, Values] | null> {
  signal.throwIfAborted();
  const entries = [from, to].map(({ arrays }) => (Object.hasOwn(arrays, key) ? arrays[key] : undefined));
  const [one, other] = entries;
  if (one === undefined || other === undefined || !isShort(one) || !isShort(other)) return null;
  return Promise.all([
    readValues(from.snapshot.snapshot_id, key, one, signal),
    readValues(to.snapshot.snapshot_id, key, other, signal),
  ]);
}

function isShort({ byte_length: length }: ArrayEntry): boolean {
  return Number(length) <= WHOLE_BYTES;
}

type ArrayDifference = Comparison['arrays'][string];

interface OneArrayProps {
  readonly name: string;
  readonly array: ArrayDifference;
  readonly from: Manifest;
  readonly to: Manifest;
  readonly by: string | null;
}

const STATUS_WORDS: Readonly<Record<ArrayDifference['status'], string>> = {
  equal: 'equal',
  changed: 'changed',
  added: 'only in the second',
  removed: 'only in the first',
  retyped: 'of another type: elements cannot be compared',
};

function OneArray({ name, array, from, to, by }: OneArrayProps): JSX.Element {
  const heading = useId();
  const { status, examples } = array;
  return (
    <section class="panel difference" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>
          <code>{name}</code> <span class={`tag ${status}`}>{STATUS_WORDS[status]}</span>
        </h2>
        <p class="small">
          <SideOf side={array.from} /> → <SideOf side={array.to} />
        </p>
      </header>
      {status === 'changed' && array.differing === '0' && <p>Only rows were added, removed or moved.</p>}
      {status === 'changed' && array.differing !== '0' && (
        <>
          <p>
            <strong>{count(array.differing)}</strong>{' '}
            {by === null || !isAligned(name, by, from) ? 'elements' : 'aligned rows'} differ
            {array.first !== null && array.last !== null && (
              <>
                , the first at index <code>{count(array.first)}</code>, the last at{' '}
                <code>{count(array.last)}</code>
              </>
            )}
          </p>
          <Positions name={name} array={array} from={from} to={to} by={by} />
          {examples.length > 0 && <Examples examples={examples} what={name} />}
        </>
      )}
    </section>
  );
}

function SideOf({ side }: { readonly side: ArrayDifference['from'] }): JSX.Element {
  return <>{side === null ? 'not there' : `${counted(side.count, 'value')} of ${side.dtype}`}</>;
}

/** Arrays of another length than the key are compared by position. */
function isAligned(name: string, by: string, { arrays }: Manifest): boolean {
  return arrays[name]?.count === arrays[by]?.count;
}

function Positions({ name, array, from, to, by }: OneArrayProps): JSX.Element {
  const { data, error, isLoading } = useLoad(`${name} ${by ?? ''}`, (signal) =>
    turns.take(async () => {
      const values = await bothOf(name, from, to, signal);
      if (values === null) return null;
      const isByKey = by !== null && isAligned(name, by, from) && isAligned(name, by, to);
      if (!isByKey) return differences(...values, null, signal);
      const keys = await bothOf(by, from, to, signal);
      if (keys === null || keys.some((one) => one.count > MOST_ROWS)) return null;
      return differences(...values, await aligned(...keys, signal), signal);
    }),
  );
  if (isLoading) return <Loading>Drawing where …</Loading>;
  if (error !== null) return <Trouble error={error} title="Where they differ could not be drawn" />;
  if (data !== null)
    return (
      <Strip
        spans={data}
        kind="changed"
        what={`Where ${name} differs, by ${by !== null && isAligned(name, by, from) ? 'row of the first' : 'position'}`}
      />
    );
  return <Bounds array={array} />;
}

/** Each span of positions, the darker the more of it differs. */
function Strip({
  spans,
  kind,
  what,
}: {
  readonly spans: readonly Span[];
  readonly kind: string;
  readonly what: string;
}): JSX.Element {
  const last = spans.at(-1)?.end ?? 0;
  const touched = spans.filter(({ differing }) => differing > 0).length;
  return (
    <figure class="strip">
      <svg
        viewBox={`0 0 ${Math.max(1, last)} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${what}: in ${touched} of ${spans.length} equal spans`}
      >
        {spans.map(({ start, end, differing }) =>
          differing === 0 ? null : (
            <rect
              class={kind}
              x={start}
              y={0}
              width={end - start}
              height={10}
              opacity={0.35 + 0.65 * (differing / (end - start))}
            >
              <title>{`${count(differing)} of ${count(end - start)} from index ${count(start)}`}</title>
            </rect>
          ),
        )}
      </svg>
      <figcaption>
        <span>{last === 0 ? '' : '0'}</span>
        <span>{plain(what)}</span>
        <span>{last === 0 ? '' : count(last - 1)}</span>
      </figcaption>
    </figure>
  );
}

/** Of long arrays, what the service told: from the first to the last that differs. */
function Bounds({ array: { from, to, first, last } }: { readonly array: ArrayDifference }): JSX.Element {
  const length = Math.max(Number(from?.count ?? 0), Number(to?.count ?? 0));
  return (
    <>
      <figure class="strip">
        <svg
          viewBox="0 0 1000 10"
          preserveAspectRatio="none"
          role="img"
          aria-label="From the first to the last that differs"
        >
          <rect
            class="changed"
            opacity={0.5}
            x={(Number(first) / length) * 1000}
            y={0}
            width={Math.max(2, ((Number(last) - Number(first) + 1) / length) * 1000)}
            height={10}
          />
        </svg>
        <figcaption>
          <span>0</span>
          <span>{count(length - 1)}</span>
        </figcaption>
      </figure>
      <p class="small">
        Too long to be read here element by element: drawn from the first to the last that differs, as the
        service found them.
      </p>
    </>
  );
}

function Examples({
  examples,
  what,
}: {
  readonly examples: ArrayDifference['examples'];
  readonly what: string;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`The first differences of ${what}`}>
      <table class="fields">
        <thead>
          <tr>
            <th scope="col" class="figure">
              Index
            </th>
            <th scope="col" class="figure">
              From
            </th>
            <th scope="col" class="figure">
              To
            </th>
            <th scope="col" class="figure">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {examples.map(({ index, from, to }) => {
            const change = BigInt(to) - BigInt(from);
            return (
              <tr>
                <td class="figure">
                  <code>{count(index)}</code>
                </td>
                <td class="figure">
                  <code>{count(from)}</code>
                </td>
                <td class="figure">
                  <code>{count(to)}</code>
                </td>
                <td class="figure">
                  <code>{`${change > 0n ? '+' : ''}${count(change)}`}</code>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
