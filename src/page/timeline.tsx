/** When snapshots of each namespace were finished: one row for each, counted in equal spans of time. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { counted, localDate, localTime } from './figures.ts';
import { Foreign } from './parts.tsx';
import { links } from './route.ts';
import { plain } from './text.ts';
import type { Entry } from './walk.ts';

const SPANS = 96;
/** Rows at first; a store may have as many namespaces as snapshots. */
const ROWS = 6;
const MORE_ROWS = 200;
const STATUSES = ['COMPLETE', 'PARTIAL', 'UNAVAILABLE'] as const;

interface Row {
  readonly namespace: string;
  readonly total: number;
  /** Counts by span, and within it by status. */
  readonly spans: readonly (readonly number[])[];
}

interface Lines {
  readonly rows: readonly Row[];
  readonly firstMs: number;
  readonly lastMs: number;
  /** The most in one span of any row. */
  readonly most: number;
}

function linesOf(entries: readonly Entry[]): Lines {
  let firstMs = Infinity;
  let lastMs = -Infinity;
  for (const entry of entries) {
    if (entry.kind === 'damaged') continue;
    firstMs = Math.min(firstMs, entry.finishedMs);
    lastMs = Math.max(lastMs, entry.finishedMs);
  }
  const byNamespace = new Map<string, number[][]>();
  const span = Math.max(1, (lastMs - firstMs + 1) / SPANS);
  for (const entry of entries) {
    if (entry.kind === 'damaged') continue;
    const { source_namespace: namespace, coverage_status: status } = entry.summary;
    const spans = byNamespace.get(namespace) ?? Array.from({ length: SPANS }, () => [0, 0, 0]);
    byNamespace.set(namespace, spans);
    const counts = spans[Math.min(SPANS - 1, Math.floor((entry.finishedMs - firstMs) / span))];
    const at = STATUSES.indexOf(status);
    if (counts !== undefined) counts[at] = (counts[at] ?? 0) + 1;
  }
  const rows = [...byNamespace].map(([namespace, spans]) => ({
    namespace,
    spans,
    total: sum(spans.map(sum)),
  }));
  rows.sort((a, b) => b.total - a.total || (a.namespace < b.namespace ? -1 : 1));
  const most = Math.max(1, ...rows.slice(0, MORE_ROWS).flatMap(({ spans }) => spans.map(sum)));
  return { rows, firstMs, lastMs, most };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function Timeline({ entries }: { readonly entries: readonly Entry[] }): JSX.Element | null {
  const [isLong, setLong] = useState(false);
  const { rows, firstMs, lastMs, most } = linesOf(entries);
  if (rows.length === 0) return null;
  const shown = rows.slice(0, isLong ? MORE_ROWS : ROWS);
  const hidden = rows.length - shown.length;
  return (
    <section class="panel timeline" aria-labelledby="timeline">
      <header>
        <h2 id="timeline">Timeline</h2>
        <p class="small">
          {localDate(new Date(firstMs))} – {localDate(new Date(lastMs))}
        </p>
      </header>
      <ul>
        {shown.map((row) => (
          <li>
            <a href={links.store({ namespace: row.namespace })} title={plain(row.namespace)}>
              <Foreign text={row.namespace} most={60} whole={false} />
            </a>
            <Bars row={row} firstMs={firstMs} lastMs={lastMs} most={most} />
            <span class="figure">{row.total.toLocaleString('en')}</span>
          </li>
        ))}
      </ul>
      {(hidden > 0 || isLong) && rows.length > ROWS && (
        <button type="button" class="link" aria-expanded={isLong} onClick={() => setLong(!isLong)}>
          {isLong ? 'Fewer namespaces' : counted(hidden, 'further namespace')}
        </button>
      )}
    </section>
  );
}

const HEIGHT = 24;

function Bars({ row, firstMs, lastMs, most }: Omit<Lines, 'rows'> & { readonly row: Row }): JSX.Element {
  const spanMs = (lastMs - firstMs + 1) / SPANS;
  const statuses = STATUSES.map(
    (status, at) => [status, sum(row.spans.map((counts) => counts[at] ?? 0))] as const,
  );
  const told = statuses.filter(([, number]) => number > 0).map(([status, number]) => `${number} ${status}`);
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${SPANS * 4} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${counted(row.total, 'snapshot')}: ${told.join(', ')}`}
    >
      {row.spans.flatMap((counts, span) => {
        let top = HEIGHT;
        return counts.map((number, at) => {
          if (number === 0) return null;
          const height = Math.max(3, (number / most) * HEIGHT);
          top -= height;
          return (
            <rect
              class={STATUSES[at]?.toLowerCase()}
              x={span * 4}
              y={Math.max(0, top)}
              width={3}
              height={height}
            >
              <title>
                {`${number} ${STATUSES[at] ?? ''} from ${localTime(new Date(firstMs + span * spanMs))}`}
              </title>
            </rect>
          );
        });
      })}
    </svg>
  );
}
