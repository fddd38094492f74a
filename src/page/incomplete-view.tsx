/** Attempts that are no snapshots: what runs now, and what was left by those that did not get there. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { IN_FLIGHT } from '../contract/listings.ts';
import { ago, counted, localTime } from './figures.ts';
import { useLoad } from './load.ts';
import { Foreign, Loading, Size, Status, Trouble } from './parts.tsx';
import { links } from './route.ts';
import type { IncompleteAttempt } from './answers.ts';
import { getJson } from './service.ts';

const PAGE = 100;
/** Each look makes the service judge every attempt, so it is not taken unasked. */
const EVERY_MS = 3_000;

export function IncompleteView(): JSX.Element {
  const [limit, setLimit] = useState(PAGE);
  const [isWatching, setWatching] = useState(false);
  const { data, error, isLoading, again } = useLoad(String(limit), async (signal) => ({
    ...(await getJson('/incomplete', { signal, query: { limit } })),
    at: new Date(),
  }));
  useEffect(() => {
    if (!isWatching || isLoading || error !== null) return;
    const timer = setTimeout(again, EVERY_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [isWatching, isLoading, error]);
  const inFlight = data?.incomplete.filter(isInFlight) ?? [];
  return (
    <>
      <header class="head">
        <h1 tabIndex={-1}>Incomplete attempts</h1>
        <p class="small">
          Publications that are running, and what those left that did not get there. Nothing of it is a
          snapshot, and nothing is ever removed by the service.
        </p>
      </header>
      <div class="summary">
        <p role="status">
          {data === null ? (
            '…'
          ) : (
            <>
              <strong>
                {data.next === null ? '' : 'The first '}
                {counted(data.incomplete.length, 'attempt')}
              </strong>
              , {inFlight.length === 0 ? 'none' : inFlight.length} in flight{' '}
              <span class="small">at {localTime(data.at)}</span>
            </>
          )}
        </p>
        <p class="actions">
          <label>
            <input
              type="checkbox"
              checked={isWatching}
              onChange={(event) => setWatching(event.currentTarget.checked)}
            />{' '}
            look again every {EVERY_MS / 1000} s
          </label>
          <button type="button" onClick={again} disabled={isLoading}>
            Look again
          </button>
        </p>
      </div>
      {error !== null && <Trouble error={error} again={again} />}
      {isLoading && data === null && <Loading>The service is judging what lies there …</Loading>}
      {data?.incomplete.length === 0 && (
        <section class="panel empty">
          <h2>Nothing is incomplete</h2>
          <p>
            Every publication that was begun here became a snapshot, or was refused before it wrote anything.
          </p>
        </section>
      )}
      {data !== null && data.incomplete.length > 0 && (
        <ul class="attempts">
          {data.incomplete.map((attempt) => (
            <Attempt key={attempt.path} attempt={attempt} now={data.at.getTime()} />
          ))}
        </ul>
      )}
      {(data?.next ?? null) !== null && (
        <p class="actions">
          <button type="button" onClick={() => setLimit(Math.min(10_000, limit * 4))}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

function isInFlight({ diagnostic }: IncompleteAttempt): boolean {
  return diagnostic.endsWith(IN_FLIGHT);
}

function Attempt({
  attempt,
  now,
}: {
  readonly attempt: IncompleteAttempt;
  readonly now: number;
}): JSX.Element {
  const { path, snapshot_id: id, phase, diagnostic, byte_length: bytes, modified_at: modified } = attempt;
  return (
    <li class={isInFlight(attempt) ? 'panel in-flight' : 'panel'}>
      <header>
        <span class="facts">
          <Status status={phase} />
          {isInFlight(attempt) && <strong class="flag">in flight</strong>}
          <span>
            <Size bytes={bytes} />
          </span>
          {modified !== null && (
            <time dateTime={modified} title={`${localTime(new Date(modified))} (${modified})`}>
              changed {ago(new Date(modified), now)}
            </time>
          )}
        </span>
        <code>
          <Foreign text={path} />
        </code>
      </header>
      <p>
        <Foreign text={diagnostic} most={600} />
      </p>
      <p class="small">
        {id === null ? (
          'Whose attempt it was cannot be told.'
        ) : (
          <>
            For the snapshot{' '}
            <a class="id" href={links.snapshot(id)}>
              {id}
            </a>
          </>
        )}
      </p>
    </li>
  );
}
