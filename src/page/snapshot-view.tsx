/** One snapshot, after the service has proven every byte of it. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isSnapshotId } from '../contract/ids.ts';
import { count, counted, duration, permille } from './figures.ts';
import { Histogram } from './histogram.tsx';
import { useLoad } from './load.ts';
import { Copy, Download, Foreign, Hex, Lines, Loading, Moment, Size, Status, Trouble } from './parts.tsx';
import { go, links } from './route.ts';
import type { ArrayEntry, Coverage, Manifest } from './answers.ts';
import { addressOf, getJson, token } from './service.ts';
import { profileOf, type Profile } from './profile.ts';
import { ASKED_BYTES, readValues, Turns } from './values.ts';

export function SnapshotView({ id }: { readonly id: string }): JSX.Element {
  const { data, error, isLoading, again } = useLoad(id, (signal) =>
    getJson('/snapshots/{snapshot_id}', { signal, ids: { snapshot_id: id } }),
  );
  return (
    <>
      <header class="head">
        <h1 tabIndex={-1}>Snapshot</h1>
        <p>
          <Hex text={id} what="the id" />
        </p>
        {data !== null && <Ways id={id} parent={data.snapshot.parent_id} />}
      </header>
      {isLoading && <Loading>The service is proving every byte of it …</Loading>}
      {error !== null && <Trouble error={error} again={again} />}
      {data !== null && <Whole id={id} manifest={data} />}
    </>
  );
}

function Ways({ id, parent }: { readonly id: string; readonly parent: string | null }): JSX.Element {
  return (
    <div class="links">
      {parent !== null && <a href={links.compare(parent, id)}>What changed since its parent</a>}
      <a href={links.lineage(id)}>Lineage</a>
      <a href={links.publish(id)}>Publish a child</a>
      <CompareWith id={id} />
    </div>
  );
}

function CompareWith({ id }: { readonly id: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [other, setOther] = useState('');
  if (!isOpen) {
    return (
      <button type="button" class="link" onClick={() => setOpen(true)}>
        Compare with …
      </button>
    );
  }
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault();
        if (isSnapshotId(other)) go(links.compare(other, id));
      }}
    >
      <input
        aria-label="Id of the snapshot to compare with"
        placeholder="32 hex digits"
        value={other}
        pattern="[0-9a-f]{32}"
        required
        ref={(field) => {
          field?.focus();
        }}
        onInput={(event) => setOther(event.currentTarget.value.trim())}
      />
      <button>Compare</button>
    </form>
  );
}

function Whole({ id, manifest }: { readonly id: string; readonly manifest: Manifest }): JSX.Element {
  const { snapshot, arrays } = manifest;
  const keys = Object.keys(arrays);
  const bytes = Object.values(arrays).reduce((sum, { byte_length }) => sum + BigInt(byte_length), 0n);
  const spent = BigInt(snapshot.finished_at_ns) - BigInt(snapshot.started_at_ns);
  return (
    <>
      <div class="columns">
        <section class="panel" aria-labelledby="coverage">
          <header>
            <h2 id="coverage">Coverage</h2>
            <Status status={snapshot.coverage.status} />
          </header>
          <CoverageBar coverage={snapshot.coverage} />
          <Reasons reasons={snapshot.coverage.failure_reasons} />
        </section>
        <section class="panel" aria-labelledby="source">
          <h2 id="source">Source</h2>
          <dl>
            <Fact name="Namespace">
              <Foreign text={snapshot.source_namespace} />
            </Fact>
            <Fact name="Version">
              <Foreign text={snapshot.source_version} />
            </Fact>
            <Fact name="Scope">
              <Foreign text={snapshot.scope} />
            </Fact>
            <Fact name="Consistency">
              <Foreign text={snapshot.source_consistency} />
            </Fact>
            <Fact name="Resolution">{snapshot.resolution}</Fact>
          </dl>
        </section>
        <section class="panel" aria-labelledby="capture">
          <h2 id="capture">Capture</h2>
          <dl>
            <Fact name="Started">
              <Moment ns={snapshot.started_at_ns} />
            </Fact>
            <Fact name="Finished">
              <Moment ns={snapshot.finished_at_ns} />
            </Fact>
            <Fact name="Took">{duration(spent)}</Fact>
            <Fact name="Parent">
              {snapshot.parent_id === null ? (
                'none'
              ) : (
                <a class="id" href={links.snapshot(snapshot.parent_id)}>
                  {snapshot.parent_id}
                </a>
              )}
            </Fact>
          </dl>
        </section>
        <section class="panel" aria-labelledby="fingerprint">
          <h2 id="fingerprint">Fingerprint</h2>
          <dl>
            {Object.entries(snapshot.fingerprint).map(([name, value]) => (
              <Fact name={name.replaceAll('_', ' ')}>
                <Foreign text={value} /> <Copy text={value} what={name.replaceAll('_', ' ')} />
              </Fact>
            ))}
          </dl>
        </section>
      </div>
      <Arrays id={id} arrays={arrays} bytes={bytes} />
      <section class="panel" aria-labelledby="use">
        <header>
          <h2 id="use">Take it with you</h2>
          <p class="downloads">
            <Download path={`snapshots/${id}/package.tar`} name={`${id}.tar`}>
              package.tar
            </Download>
            <Download path={`snapshots/${id}/manifest.json`} name="manifest.json">
              manifest.json
            </Download>
            <Download path={`snapshots/${id}/complete.sha256`} name="complete.sha256">
              complete.sha256
            </Download>
          </p>
        </header>
        <Lines title="curl" text={curlLines(id, keys)} />
        <Lines title="Python" text={pythonLines(id, keys)} />
      </section>
    </>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Returned of expected. What is unknown is drawn as unknown, and never as none. */
export function CoverageBar({ coverage }: { readonly coverage: Coverage }): JSX.Element {
  const returned = BigInt(coverage.returned_records);
  const expected = coverage.expected_records === null ? null : BigInt(coverage.expected_records);
  if (expected === null) {
    return (
      <div class="coverage unknown">
        <p>
          <strong>{count(returned)}</strong> {returned === 1n ? 'record' : 'records'} returned, of an{' '}
          <strong>unknown</strong> number
        </p>
        <div class="gauge" role="img" aria-label={`${count(returned)} of an unknown number`} />
      </div>
    );
  }
  const share = permille(returned, expected);
  return (
    <div class={`coverage ${coverage.status.toLowerCase()}`}>
      <p>
        <strong>{count(returned)}</strong> of <strong>{count(expected)}</strong>{' '}
        {expected === 1n ? 'record' : 'records'} returned{' '}
        <span class="share">{expected === 0n ? '' : `${(share / 10).toFixed(1)} %`}</span>
      </p>
      <div class="gauge" role="img" aria-label={`${count(returned)} of ${count(expected)}`}>
        <div style={{ width: `${share / 10}%` }} />
      </div>
    </div>
  );
}

const REASONS = 20;

function Reasons({ reasons }: { readonly reasons: readonly string[] }): JSX.Element | null {
  const [shown, setShown] = useState(REASONS);
  if (reasons.length === 0) return null;
  return (
    <div class="reasons">
      <h3>{counted(reasons.length, 'reason')} for what is missing</h3>
      <ul>
        {reasons.slice(0, shown).map((reason) => (
          <li>
            <Foreign text={reason} />
          </li>
        ))}
      </ul>
      {reasons.length > shown && (
        <button type="button" class="link" onClick={() => setShown(shown + 200)}>
          Show more of them
        </button>
      )}
    </div>
  );
}

const ARRAYS = 50;

function Arrays({
  id,
  arrays,
  bytes,
}: {
  readonly id: string;
  readonly arrays: Manifest['arrays'];
  readonly bytes: bigint;
}): JSX.Element {
  const [isLogarithmic, setLogarithmic] = useState(false);
  const [shown, setShown] = useState(ARRAYS);
  const entries = Object.entries(arrays);
  return (
    <section class="panel arrays" aria-labelledby="arrays">
      <header>
        <h2 id="arrays">
          {counted(entries.length, 'array')}
          {entries.length > 0 && (
            <span class="small">
              , <Size bytes={bytes} />
            </span>
          )}
        </h2>
        {entries.length > 0 && (
          <label>
            <input
              type="checkbox"
              checked={isLogarithmic}
              onChange={(event) => setLogarithmic(event.currentTarget.checked)}
            />{' '}
            logarithmic heights
          </label>
        )}
      </header>
      {entries.length === 0 && <p class="small">This snapshot holds metadata only.</p>}
      {entries.slice(0, shown).map(([key, entry]) => (
        <OneArray key={`${id} ${key}`} id={id} name={key} entry={entry} isLogarithmic={isLogarithmic} />
      ))}
      {entries.length > shown && (
        <button type="button" onClick={() => setShown(shown + ARRAYS)}>
          Show {count(Math.min(ARRAYS, entries.length - shown))} more
        </button>
      )}
    </section>
  );
}

/** Others wait for their turn: whoever looks at a page is one client among many. */
const turns = new Turns(2);

interface OneArrayProps {
  readonly id: string;
  readonly name: string;
  readonly entry: ArrayEntry;
  readonly isLogarithmic: boolean;
}

function OneArray({ id, name, entry, isLogarithmic }: OneArrayProps): JSX.Element {
  const place = useRef<HTMLElement>(null);
  const isSmall = Number(entry.byte_length) <= ASKED_BYTES;
  const [isWanted, setWanted] = useState(false);
  const isSeen = useSeen(place);
  const file = `array-${name}`;
  return (
    <article ref={place} aria-labelledby={file}>
      <header>
        <h3 id={file}>
          <code>{name}</code>
        </h3>
        <p class="facts">
          <span>{entry.dtype}</span>
          <span>{counted(entry.count, 'value')}</span>
          <span>
            <Size bytes={entry.byte_length} />
          </span>
          <span class="downloads">
            <Download path={`snapshots/${id}/${file}.npy`} name={`${file}.npy`}>
              .npy
            </Download>
            <Download path={`snapshots/${id}/${file}.bin`} name={`${file}.bin`}>
              .bin
            </Download>
          </span>
        </p>
        <p class="digest">
          SHA-256 <Hex text={entry.sha256} what={`the SHA-256 of ${name}`} />
        </p>
      </header>
      {isWanted || (isSmall && isSeen) ? (
        <ArrayValues id={id} name={name} entry={entry} isLogarithmic={isLogarithmic} />
      ) : isSmall ? (
        <p class="values small">…</p>
      ) : (
        <p class="values">
          <button type="button" onClick={() => setWanted(true)}>
            Sample its values
          </button>{' '}
          <span class="small">
            The service proves all of its <Size bytes={entry.byte_length} /> first.
          </span>
        </p>
      )}
    </article>
  );
}

/** True from when it first came near the window. */
function useSeen(place: { readonly current: Element | null }): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: '200px' },
    );
    observer.observe(place.current);
    return () => {
      observer.disconnect();
    };
  }, []);
  return isSeen;
}

function ArrayValues({ id, name, entry, isLogarithmic }: OneArrayProps): JSX.Element {
  const { data, error, again } = useLoad(`${id} ${name}`, (signal) =>
    turns.take(async () => {
      signal.throwIfAborted();
      return profileOf(await readValues(id, name, entry, signal), signal);
    }),
  );
  if (error !== null) return <Trouble error={error} again={again} title={`${name} could not be read`} />;
  if (data === null) return <Loading>Reading its values …</Loading>;
  if (data.min === null || data.max === null) return <p class="values small">It is empty.</p>;
  return (
    <div class="values">
      <dl>
        <div>
          <dt>{data.isWhole ? 'Least' : 'Least seen'}</dt>
          <dd>{count(data.min)}</dd>
        </div>
        <div>
          <dt>{data.isWhole ? 'Greatest' : 'Greatest seen'}</dt>
          <dd>{count(data.max)}</dd>
        </div>
        <Ends profile={data} />
      </dl>
      <div>
        <Histogram bins={data.bins} what={name} isLogarithmic={isLogarithmic} />
        {!data.isWhole && (
          <p class="small sampled">
            Sampled: {count(data.seen)} of {counted(entry.count, 'value')}, by ranges from the beginning to
            the end.
          </p>
        )}
      </div>
    </div>
  );
}

function Ends({ profile: { first, last } }: { readonly profile: Profile }): JSX.Element {
  const list = (values: readonly bigint[]) => values.map(count).join('  ');
  return (
    <>
      <div>
        <dt>First</dt>
        <dd class="ends">{list(first)}</dd>
      </div>
      {last.length > 0 && (
        <div>
          <dt>Last</dt>
          <dd class="ends">{list(last)}</dd>
        </div>
      )}
    </>
  );
}

/** Ids and keys are plain letters, digits and `_`, so nothing needs quoting but the address itself. */
function curlLines(id: string, keys: readonly string[]): string {
  const at = addressOf(`snapshots/${id}`);
  const bearer = token.value === null ? '' : ' -H "Authorization: Bearer $SNAPSHOTS_TOKEN"';
  const fetched = keys.slice(0, 1).map((key) => `curl -f${bearer} -O ${at}/array-${key}.npy`);
  return [
    `curl -f${bearer} ${at}`,
    ...fetched,
    `curl -f${bearer} ${at}/package.tar | tar -x --one-top-level=${id}`,
  ].join('\n');
}

function pythonLines(id: string, keys: readonly string[]): string {
  const bearer = token.value !== null;
  return [
    'import io, json, urllib.request',
    ...(keys.length > 0 ? ['import numpy'] : []),
    ...(bearer ? ['import os'] : []),
    '',
    `at = "${addressOf(`snapshots/${id}`)}"`,
    'def read(path):',
    ...(bearer
      ? [
          '    headers = {"Authorization": "Bearer " + os.environ["SNAPSHOTS_TOKEN"]}',
          '    return urllib.request.urlopen(urllib.request.Request(at + path, headers=headers)).read()',
        ]
      : ['    return urllib.request.urlopen(at + path).read()']),
    '',
    'manifest = json.loads(read(""))',
    ...keys.slice(0, 8).map((key) => `${key}_array = numpy.load(io.BytesIO(read("/array-${key}.npy")))`),
    ...(keys.length > 8 ? [`# and ${keys.length - 8} more`] : []),
  ].join('\n');
}
