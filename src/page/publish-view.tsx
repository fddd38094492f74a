/** Publishing by hand: the document as a form, files as arrays, and what is wrong with either beside it. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { COVERAGE_STATUSES, RESOLUTIONS } from '../contract/documents.ts';
import { DTYPE_NAMES, dtypeWidth, type Dtype } from '../contract/dtypes.ts';
import type { Violation } from '../contract/violations.ts';
import {
  documentOf,
  FIELD_PATHS,
  fieldsOf,
  freshId,
  nowNs,
  partOf,
  violationsOf,
  type DraftPart,
  type FieldPath,
  type Fields,
} from './draft.ts';
import { counted, size } from './figures.ts';
import { useLoad } from './load.ts';
import { Foreign, Size, Trouble } from './parts.tsx';
import { links } from './route.ts';
import type { Declarations } from './answers.ts';
import { getJson, Refusal } from './service.ts';
import { upload, type Upload } from './upload.ts';

function emptyFields(parent: string | null): Fields {
  const texts = Object.fromEntries(FIELD_PATHS.map((path) => [path, ''])) as Record<FieldPath, string>;
  return {
    ...texts,
    'snapshot.snapshot_id': freshId(),
    'snapshot.parent_id': parent ?? '',
    'snapshot.started_at_ns': nowNs(),
    'snapshot.finished_at_ns': nowNs(),
    'snapshot.resolution': 'value',
    'snapshot.coverage.status': 'COMPLETE',
  };
}

type Sending =
  | { readonly state: 'not' }
  | { readonly state: 'sending'; readonly sent: number; readonly total: number; readonly cancel: () => void }
  | { readonly state: 'published'; readonly id: string }
  | { readonly state: 'refused'; readonly error: unknown };

export function PublishView({ parent }: { readonly parent: string | null }): JSX.Element {
  const [fields, setFields] = useState(() => emptyFields(parent));
  const [parts, setParts] = useState<readonly DraftPart[]>([]);
  const [hasTried, setTried] = useState(false);
  const [sending, setSending] = useState<Sending>({ state: 'not' });
  const running = useRef<Upload | null>(null);
  const problems = useRef<HTMLDivElement>(null);
  const { data: ready } = useLoad('ready', (signal) => getJson('/readyz', { signal }));
  const { data: declarations, error: refused } = useLoad('contexts', (signal) =>
    getJson('/contexts', { signal }),
  );
  useEffect(() => () => running.current?.cancel(), []);

  const own = violationsOf(fields, parts);
  const told = sending.state === 'refused' ? violationsIn(sending.error) : [];
  const violations = [...(hasTried ? own : []), ...told];
  const set = (changes: Partial<Fields>): void => {
    setFields((before) => ({ ...before, ...changes }));
    if (sending.state === 'refused') setSending({ state: 'not' });
  };
  const setArrays = (changed: readonly DraftPart[]): void => {
    setParts(changed);
    if (sending.state === 'refused') setSending({ state: 'not' });
  };
  const send = (event: Event): void => {
    event.preventDefault();
    setTried(true);
    if (own.length > 0) {
      setSending({ state: 'not' });
      problems.current?.focus();
      return;
    }
    const started = upload(documentOf(fields, parts), parts, (sent, total) =>
      setSending({ state: 'sending', sent, total, cancel: started.cancel }),
    );
    running.current = started;
    setSending({ state: 'sending', sent: 0, total: 0, cancel: started.cancel });
    started.done.then(
      () => setSending({ state: 'published', id: fields['snapshot.snapshot_id'] }),
      (error: unknown) => {
        setSending({ state: 'refused', error });
        problems.current?.focus();
      },
    );
  };

  if (sending.state === 'published') {
    return (
      <Published
        id={sending.id}
        more={() => {
          setFields({ ...fields, ...emptyTimes(), 'snapshot.parent_id': sending.id });
          setParts([]);
          setTried(false);
          setSending({ state: 'not' });
        }}
      />
    );
  }
  const field = { fields, violations, set };
  return (
    <>
      <header class="head">
        <h1 tabIndex={-1}>Publish</h1>
        <p class="small">
          What is published is there as a whole, proven, and never changes. Nothing is published unless
          everything is right.
        </p>
      </header>
      {ready?.read_only === true && (
        <section class="trouble" role="alert">
          <h2>This service is read-only</h2>
          <p>Publish to the one that owns the store.</p>
        </section>
      )}
      {refused !== null && <Trouble error={refused} />}
      <Fill set={set} parts={parts} setParts={setArrays} />
      <form class="publish" onSubmit={send} noValidate>
        <fieldset>
          <legend>Snapshot</legend>
          <Field {...field} path="snapshot.snapshot_id" label="Id" wide mono>
            <button type="button" onClick={() => set({ 'snapshot.snapshot_id': freshId() })}>
              Another
            </button>
          </Field>
          <Field {...field} path="snapshot.parent_id" label="Parent" hint="empty for none" wide mono />
          <Field
            {...field}
            path="snapshot.source_namespace"
            label="Source namespace"
            hint="where the data lives"
          />
          <Field
            {...field}
            path="snapshot.source_version"
            label="Source version"
            hint="which version was read"
          />
          <Field {...field} path="snapshot.scope" label="Scope" hint="what part of it was read" />
          <Field
            {...field}
            path="snapshot.source_consistency"
            label="Consistency"
            hint="how consistent the read was"
          />
          <Field {...field} path="snapshot.started_at_ns" label="Started" hint="epoch nanoseconds" mono>
            <button type="button" onClick={() => set({ 'snapshot.started_at_ns': nowNs() })}>
              Now
            </button>
          </Field>
          <Field {...field} path="snapshot.finished_at_ns" label="Finished" hint="epoch nanoseconds" mono>
            <button type="button" onClick={() => set({ 'snapshot.finished_at_ns': nowNs() })}>
              Now
            </button>
          </Field>
          <Field {...field} path="snapshot.resolution" label="Resolution" choices={RESOLUTIONS} />
        </fieldset>
        <fieldset>
          <legend>Coverage</legend>
          <Field {...field} path="snapshot.coverage.status" label="Status" choices={COVERAGE_STATUSES} />
          <Field
            {...field}
            path="snapshot.coverage.expected_records"
            label="Expected records"
            hint="empty if unknown; unknown is not 0"
          />
          <Field {...field} path="snapshot.coverage.returned_records" label="Returned records" />
          <Field
            {...field}
            path="snapshot.coverage.failure_reasons"
            label="Failure reasons"
            hint="one a line; none if complete"
            lines
            wide
          />
        </fieldset>
        <fieldset>
          <legend>Fingerprint</legend>
          <Contexts declarations={declarations} fields={fields} set={set} />
          {FIELD_PATHS.filter((path) => path.startsWith('snapshot.fingerprint.')).map((path) => (
            <Field
              {...field}
              path={path}
              label={path.slice(path.lastIndexOf('.') + 1).replaceAll('_', ' ')}
            />
          ))}
        </fieldset>
        <Arrays parts={parts} setParts={setArrays} violations={violations} />
        <div ref={problems} tabIndex={-1} class="problems">
          {hasTried && own.length > 0 && (
            <section class="trouble" role="alert">
              <h2>{counted(own.length, 'thing')} to mend before it can be published</h2>
              <ul>
                {own.map(({ path, message }) => (
                  <li>
                    <code>{path}</code> {message}
                  </li>
                ))}
              </ul>
            </section>
          )}
          {sending.state === 'refused' && <Trouble error={sending.error} />}
          {sending.state === 'refused' && (
            <Existing error={sending.error} id={fields['snapshot.snapshot_id']} />
          )}
        </div>
        {sending.state === 'sending' ? (
          <Progress {...sending} />
        ) : (
          <p class="actions">
            <button class="main">Publish</button>
            <span class="small">
              {counted(parts.length, 'array')},{' '}
              {size(parts.reduce((sum, part) => sum + part.payloadBytes, 0))}
            </span>
          </p>
        )}
      </form>
    </>
  );
}

function emptyTimes(): Partial<Fields> {
  return {
    'snapshot.snapshot_id': freshId(),
    'snapshot.started_at_ns': nowNs(),
    'snapshot.finished_at_ns': nowNs(),
  };
}

function violationsIn(error: unknown): readonly Violation[] {
  return error instanceof Refusal ? (error.problem.errors ?? []) : [];
}

function Published({ id, more }: { readonly id: string; readonly more: () => void }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="panel empty" role="status">
      <h1 ref={heading} tabIndex={-1}>
        Published
      </h1>
      <p>
        <a class="id" href={links.snapshot(id)}>
          {id}
        </a>{' '}
        is on disk, proven and in place.
      </p>
      <p class="actions">
        <a class="button main" href={links.snapshot(id)}>
          Open it
        </a>
        <button type="button" onClick={more}>
          Publish a child of it
        </button>
      </p>
    </section>
  );
}

/** An id that is taken, or an end that nobody knows: the snapshot itself tells. */
function Existing({ error, id }: { readonly error: unknown; readonly id: string }): JSX.Element | null {
  if (!(error instanceof Refusal)) return null;
  if (error.status !== 0 && error.code !== 'snapshot_exists' && error.code !== 'publication_uncertain')
    return null;
  return (
    <p>
      <a href={links.snapshot(id)}>Open the snapshot {id}</a>
    </p>
  );
}

function Progress({ sent, total, cancel }: Extract<Sending, { state: 'sending' }>): JSX.Element {
  const label = useId();
  const isSent = total > 0 && sent >= total;
  return (
    <div class="panel progress">
      <p id={label} role="status">
        {isSent
          ? 'Everything has arrived; the service is proving it and putting it in place …'
          : `Sending: ${size(sent)}${total > 0 ? ` of ${size(total)}` : ''}`}
      </p>
      <progress aria-labelledby={label} max={total > 0 ? total : 1} {...(isSent ? {} : { value: sent })} />
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </div>
  );
}

interface FieldProps {
  readonly fields: Fields;
  readonly violations: readonly Violation[];
  readonly set: (changes: Partial<Fields>) => void;
  readonly path: FieldPath;
  readonly label: string;
  readonly hint?: string;
  readonly choices?: readonly string[];
  readonly lines?: boolean;
  readonly wide?: boolean;
  readonly mono?: boolean;
  readonly children?: ComponentChildren;
}

function Field({ fields, violations, set, path, label, hint, choices, ...rest }: FieldProps): JSX.Element {
  const { lines = false, wide = false, mono = false, children } = rest;
  const id = useId();
  // A reason is an element of its list, and shown at the list.
  const own = violations.filter((one) => one.path === path || one.path.startsWith(`${path}.`));
  const shared = {
    id,
    name: path,
    class: mono ? 'mono' : undefined,
    value: fields[path],
    'aria-invalid': own.length > 0,
    'aria-describedby': own.length > 0 ? `${id}-why` : undefined,
  };
  const onInput = (event: { currentTarget: { value: string } }): void =>
    set({ [path]: event.currentTarget.value });
  return (
    <div class={wide ? 'field wide' : 'field'}>
      <label for={id}>
        {label}
        {hint !== undefined && <span class="hint"> {hint}</span>}
      </label>
      <div class="entry">
        {choices !== undefined ? (
          <select {...shared} onChange={onInput}>
            {choices.map((choice) => (
              <option value={choice}>{choice}</option>
            ))}
          </select>
        ) : lines ? (
          <textarea {...shared} rows={3} onInput={onInput} />
        ) : (
          <input {...shared} type="text" autocomplete="off" spellcheck={false} onInput={onInput} />
        )}
        {children}
      </div>
      {own.length > 0 && (
        <p class="why" id={`${id}-why`}>
          {own.map(({ message }) => (
            <Foreign text={message} />
          ))}
        </p>
      )}
    </div>
  );
}

/** A declared context fills the whole identity in. */
function Contexts({
  declarations,
  fields,
  set,
}: {
  readonly declarations: Declarations | null;
  readonly fields: Fields;
  readonly set: (changes: Partial<Fields>) => void;
}): JSX.Element | null {
  const id = useId();
  if (declarations === null) return null;
  const { contexts, algorithms } = declarations;
  const choose = (contextId: string): void => {
    const context = contexts.find((one) => one.context_id === contextId);
    if (context === undefined) return;
    set({
      'snapshot.fingerprint.context_id': context.context_id,
      'snapshot.fingerprint.algorithm_id': context.algorithm_id,
      'snapshot.fingerprint.algorithm_name':
        algorithms.find((one) => one.id === context.algorithm_id)?.name ?? '',
      'snapshot.fingerprint.normalization_profile_id': context.normalization_profile_id,
      'snapshot.fingerprint.source_schema_id': context.source_schema_id,
      'snapshot.fingerprint.mode': context.mode,
    });
  };
  const chosen = fields['snapshot.fingerprint.context_id'];
  return (
    <div class="field wide">
      <label for={id}>
        Declared context<span class="hint"> fills in everything below</span>
      </label>
      <select id={id} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{contexts.length === 0 ? 'none is declared' : 'choose one'}</option>
        {contexts.map(({ context_id: context }) => (
          <option value={context} selected={context === chosen}>
            {context}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A metadata document or a manifest that somebody has fills the form in. */
function Fill({
  set,
  parts,
  setParts,
}: {
  readonly set: (changes: Partial<Fields>) => void;
  readonly parts: readonly DraftPart[];
  readonly setParts: (parts: readonly DraftPart[]) => void;
}): JSX.Element {
  const id = useId();
  const [problem, setProblem] = useState('');
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const filled = file.size > 10_000_000 ? null : fieldsOf(await file.text());
    setProblem(
      filled === null ? `${file.name} is no metadata document: JSON with "snapshot" and "arrays".` : '',
    );
    if (filled === null) return;
    set(filled.fields);
    setParts(parts.map((part) => withDtype(part, filled.dtypes)));
  };
  return (
    <p class="fill">
      <label for={id}>Fill in from a metadata document or a manifest</label>{' '}
      <input
        id={id}
        type="file"
        accept=".json,application/json"
        onChange={(event) => {
          read(event.currentTarget.files?.[0]).catch(() => setProblem('The file cannot be read.'));
        }}
      />
      {problem !== '' && (
        <span class="why" role="alert">
          <Foreign text={problem} />
        </span>
      )}
    </p>
  );
}

function withDtype(part: DraftPart, dtypes: Readonly<Record<string, Dtype>>): DraftPart {
  const dtype = Object.hasOwn(dtypes, part.key) ? dtypes[part.key] : undefined;
  return part.isNpy || dtype === undefined ? part : { ...part, dtype };
}

function Arrays({
  parts,
  setParts,
  violations,
}: {
  readonly parts: readonly DraftPart[];
  readonly setParts: (parts: readonly DraftPart[]) => void;
  readonly violations: readonly Violation[];
}): JSX.Element {
  const id = useId();
  const add = async (files: readonly File[]): Promise<void> => {
    setParts([...parts, ...(await Promise.all(files.map(partOf)))]);
  };
  const change = (at: number, changes: Partial<DraftPart>): void => {
    setParts(parts.map((part, index) => (index === at ? { ...part, ...changes } : part)));
  };
  return (
    <fieldset>
      <legend>Arrays</legend>
      <div class="field wide">
        <label for={id}>
          Files<span class="hint"> raw little-endian integers, or .npy, which say their type themselves</span>
        </label>
        <input
          id={id}
          type="file"
          multiple
          onChange={(event) => {
            const field = event.currentTarget;
            add([...(field.files ?? [])]).then(
              () => (field.value = ''),
              () => undefined,
            );
          }}
        />
      </div>
      {parts.map((part, at) => (
        <PartRow
          key={at}
          part={part}
          violations={violations.filter(
            ({ path }) => path === `arrays.${part.key}` || path.startsWith(`arrays.${part.key}.`),
          )}
          change={(changes) => change(at, changes)}
          remove={() => setParts(parts.filter((_, index) => index !== at))}
        />
      ))}
    </fieldset>
  );
}

function PartRow({
  part,
  violations,
  change,
  remove,
}: {
  readonly part: DraftPart;
  readonly violations: readonly Violation[];
  readonly change: (changes: Partial<DraftPart>) => void;
  readonly remove: () => void;
}): JSX.Element {
  const { key, file, dtype, isNpy, payloadBytes } = part;
  const why = useId();
  const isWrong = violations.length > 0;
  const elements = dtype === '' ? null : payloadBytes / dtypeWidth(dtype);
  return (
    <div class="part" role="group" aria-label={`Array ${key}`}>
      <input
        class="mono"
        aria-label="Key"
        value={key}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? why : undefined}
        onInput={(event) => change({ key: event.currentTarget.value })}
      />
      {isNpy ? (
        <span class="dtype">{dtype === '' ? 'no integers' : `${dtype}, of its header`}</span>
      ) : (
        <select
          aria-label="Type"
          onChange={(event) => change({ dtype: event.currentTarget.value as Dtype | '' })}
        >
          {['', ...DTYPE_NAMES].map((name) => (
            <option value={name} selected={name === dtype}>
              {name === '' ? 'which type?' : name}
            </option>
          ))}
        </select>
      )}
      <span class="small">
        <Foreign text={file.name} most={60} whole={false} />, <Size bytes={String(file.size)} />
        {elements !== null && Number.isInteger(elements) && `, ${counted(elements, 'value')}`}
      </span>
      <button type="button" onClick={remove} aria-label={`Remove ${key}`}>
        Remove
      </button>
      {isWrong && (
        <p class="why" id={why}>
          {violations.map(({ message }) => (
            <Foreign text={message} />
          ))}
        </p>
      )}
    </div>
  );
}
