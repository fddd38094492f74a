/** Where a snapshot comes from and what came of it. */
import type { JSX } from 'preact';
import { counted } from './figures.ts';
import { familyOf, graphOf, type Graph, type GraphRow, type Member } from './graph.ts';
import { useLoad } from './load.ts';
import { Foreign, Hex, Loading, Moment, Status, Trouble } from './parts.tsx';
import { links } from './route.ts';
import type { DamagedSnapshot, SnapshotSummary } from './answers.ts';
import { getJson, isDamaged, LOOK, lookUp } from './service.ts';

/** The newest of the namespace that are looked at for forks and children. */
const NEWEST = 2_000;
/** Parents that are looked up one by one beyond those. */
const HOPS = 200;
/** Rows that are drawn. */
const ROWS = 500;

interface Lineage {
  readonly graph: Graph;
  /** False where forks and children may be missing from it. */
  readonly isWhole: boolean;
  readonly isCut: boolean;
}

export function LineageView({ id }: { readonly id: string }): JSX.Element {
  const { data, error, isLoading, again } = useLoad(id, (signal) => load(id, signal));
  return (
    <>
      <header class="head">
        <h1 tabIndex={-1}>Lineage</h1>
        <p>
          of <Hex text={id} what="the id" />
        </p>
        <div class="links">
          <a href={links.snapshot(id)}>Open the snapshot</a>
        </div>
      </header>
      {isLoading && <Loading>Looking for its parents and children …</Loading>}
      {error !== null && <Trouble error={error} again={again} />}
      {data !== null && (
        <>
          <p class="small">
            {counted(data.graph.rows.length, 'snapshot')}, the newest above; a line leads from a child down to
            its parent.
            {!data.isWhole &&
              ' The namespace holds more than the newest that were looked at: children may be missing here.'}
            {data.isCut && ' More than can be drawn belong to it.'}
          </p>
          <Drawn graph={data.graph} id={id} />
        </>
      )}
    </>
  );
}

async function load(id: string, signal: AbortSignal): Promise<Lineage> {
  const members = new Map<string, Member>();
  const note = (entry: SnapshotSummary | DamagedSnapshot): void => {
    members.set(entry.snapshot_id, memberOf(entry));
  };
  const own = await lookUp(id, signal);
  if (own === null) members.set(id, { kind: 'missing', id, parent: null });
  else note(own);
  let isWhole = true;
  if (own !== null && !isDamaged(own)) {
    const query = { ...LOOK, order: 'newest', limit: NEWEST } as const;
    const [family, children] = await Promise.all([
      getJson('/snapshots', { signal, query: { ...query, source_namespace: own.source_namespace } }),
      // A child may be of another namespace.
      getJson('/snapshots', { signal, query: { ...query, parent_id: id } }),
    ]);
    for (const entry of [...family.snapshots, ...children.snapshots]) if (!isDamaged(entry)) note(entry);
    isWhole = family.next === null && children.next === null;
  }
  const isFound = await addParents(id, members, signal);
  const family = familyOf(id, members);
  for (const { parent } of family) {
    // Of a side line: named, and not looked up.
    if (parent !== null && !members.has(parent)) family.push({ kind: 'missing', id: parent, parent: null });
  }
  const { rows, lanes } = graphOf(unique(family));
  return { graph: { rows: rows.slice(0, ROWS), lanes }, isWhole, isCut: !isFound || rows.length > ROWS };
}

function unique(members: readonly Member[]): Member[] {
  return [...new Map(members.map((member) => [member.id, member])).values()];
}

function memberOf(entry: SnapshotSummary | DamagedSnapshot): Member {
  const { snapshot_id: id } = entry;
  if (isDamaged(entry)) return { kind: 'damaged', id, parent: null, damaged: entry };
  return { kind: 'snapshot', id, parent: entry.parent_id, summary: entry };
}

/** Adds every parent of the line above `id`, and of those who join it; false where they are too many. */
async function addParents(id: string, members: Map<string, Member>, signal: AbortSignal): Promise<boolean> {
  for (let hops = 0; hops < HOPS; hops += 1) {
    const open = familyOf(id, members).find(({ parent }) => parent !== null && !members.has(parent))?.parent;
    if (open === undefined || open === null) return true;
    const entry = await lookUp(open, signal);
    members.set(open, entry === null ? { kind: 'missing', id: open, parent: null } : memberOf(entry));
  }
  return false;
}

/** Where the window is narrow, a row has a line more. */
const ROW = matchMedia('(max-width: 34rem)').matches ? 88 : 68;
const LANE = 22;
const MARGIN = 14;
/** Beyond so many lanes, lines lie on each other rather than push the text away. */
const LANES = 12;

function Drawn({ graph, id }: { readonly graph: Graph; readonly id: string }): JSX.Element {
  const { rows } = graph;
  const lanes = Math.min(LANES, graph.lanes);
  const x = (lane: number): number => MARGIN + Math.min(lane, LANES - 1) * LANE;
  const y = (row: number): number => row * ROW + ROW / 2;
  const width = 2 * MARGIN + (lanes - 1) * LANE;
  return (
    <div class="panel graph">
      <svg width={width} height={rows.length * ROW} aria-hidden="true">
        {rows.map(({ lane, parentRow }, row) => {
          const parent = parentRow === null ? undefined : rows[parentRow];
          if (parentRow === null || parent === undefined) return null;
          const [x1, y1, x2, y2] = [x(lane), y(row), x(parent.lane), y(parentRow)];
          const bend = y2 - ROW * 0.7;
          return <path d={`M${x1} ${y1}V${bend}C${x1} ${y2 - ROW * 0.2} ${x2} ${bend} ${x2} ${y2}`} />;
        })}
        {rows.map(({ member, lane }, row) => (
          <circle
            class={`${member.kind} ${member.kind === 'snapshot' ? member.summary.coverage_status.toLowerCase() : ''}`}
            cx={x(lane)}
            cy={y(row)}
            r={member.id === id ? 7 : 5.5}
          />
        ))}
      </svg>
      <ol>
        {rows.map((row) => (
          <li style={{ height: `${ROW}px` }} aria-current={row.member.id === id ? 'true' : undefined}>
            <Line row={row} rows={rows} id={id} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Line({
  row: { member, parentRow },
  rows,
  id,
}: {
  readonly row: GraphRow;
  readonly rows: readonly GraphRow[];
  readonly id: string;
}): JSX.Element {
  const own = rows.find((row) => row.member.id === id)?.member;
  const name =
    member.kind === 'missing' ? (
      <code>{member.id}</code>
    ) : (
      <a class="id" href={links.snapshot(member.id)}>
        {member.id}
      </a>
    );
  if (member.kind !== 'snapshot') {
    return (
      <>
        <p>
          {name} <Status status={member.kind === 'damaged' ? 'DAMAGED' : 'MISSING'} />
        </p>
        <p class="small">
          {member.kind === 'damaged' ? (
            <Foreign text={member.damaged.problem.detail} most={160} whole={false} />
          ) : (
            'named as a parent, and not in this store'
          )}
        </p>
      </>
    );
  }
  const { summary } = member;
  const parent = parentRow === null ? undefined : rows[parentRow]?.member;
  return (
    <>
      <p>
        {name} <Status status={summary.coverage_status} />
        {member.id === id && <strong class="flag"> this one</strong>}
      </p>
      <p class="small">
        <span class="strong">
          <Foreign text={summary.source_version} most={40} whole={false} />
        </span>{' '}
        <Moment ns={summary.finished_at_ns} />{' '}
        <span class="ways">
          {parent?.kind === 'snapshot' && <a href={links.compare(parent.id, member.id)}>since its parent</a>}{' '}
          {member.id !== id && own?.kind === 'snapshot' && (
            <a href={ordered(own.summary, summary)}>against this one</a>
          )}
        </span>
      </p>
    </>
  );
}

/** From the older to the newer. */
function ordered(a: SnapshotSummary, b: SnapshotSummary): string {
  const isFirst = BigInt(a.finished_at_ns) <= BigInt(b.finished_at_ns);
  return isFirst ? links.compare(a.snapshot_id, b.snapshot_id) : links.compare(b.snapshot_id, a.snapshot_id);
}
