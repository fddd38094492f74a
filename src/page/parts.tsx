/** What every view is made of: text from producers, times, sizes, copying, problems. */
import type { ComponentChildren, JSX, TargetedSubmitEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ago, count, dateOf, exactTime, localTime, size } from './figures.ts';
import { addressOf, ask, keepToken, Refusal, token, whole } from './service.ts';
import { cut, pieces, plain } from './text.ts';

/** So many characters of a text are shown where it stands; the rest is behind a button. */
const SHOWN = 240;
/** And so many at once of a whole one. */
const WHOLE_PAGE = 8_000;

/** Marked characters instead of hidden ones, set apart from the direction of what is around. */
function Marked({ text }: { readonly text: string }): JSX.Element {
  return (
    <bdi>
      {pieces(text).map(({ text: piece, isEscape }) =>
        isEscape ? <span class="escape">{piece}</span> : piece,
      )}
    </bdi>
  );
}

/** A text from a producer: never markup, long ones cut, with a way to the whole. */
export function Foreign({
  text,
  most = SHOWN,
  whole: hasWhole = true,
}: {
  readonly text: string;
  readonly most?: number;
  /** False where a button would be in the way, as within a link; a cut is seen all the same. */
  readonly whole?: boolean;
}): JSX.Element {
  const start = cut(text, most);
  if (start.length === text.length) return <Marked text={text} />;
  return (
    <>
      <Marked text={start} />
      <span class="more">…</span>
      {hasWhole && <Whole text={text} />}
    </>
  );
}

function Whole({ text }: { readonly text: string }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const title = useId();
  const open = (): void => {
    setAt(0);
    dialog.current?.showModal();
  };
  return (
    <>
      {' '}
      <button type="button" class="link" onClick={open}>
        all {count(text.length)} characters
      </button>
      <dialog ref={dialog} aria-labelledby={title} onClose={() => setAt(null)}>
        {at !== null && (
          <>
            <h2 id={title}>
              Characters {count(at + 1)} to {count(Math.min(text.length, at + WHOLE_PAGE))} of{' '}
              {count(text.length)}
            </h2>
            <div class="whole" tabIndex={0} role="region" aria-labelledby={title}>
              <Marked text={text.slice(at, at + WHOLE_PAGE)} />
            </div>
            <p class="actions">
              <button type="button" disabled={at === 0} onClick={() => setAt(at - WHOLE_PAGE)}>
                Before
              </button>
              <button
                type="button"
                disabled={at + WHOLE_PAGE >= text.length}
                onClick={() => setAt(at + WHOLE_PAGE)}
              >
                After
              </button>
              <Copy text={text} label="Copy all" />
              <button type="button" class="main" onClick={() => dialog.current?.close()}>
                Close
              </button>
            </p>
          </>
        )}
      </dialog>
    </>
  );
}

/** Copies exactly this text. */
export function Copy({
  text,
  label = 'Copy',
  what,
}: {
  readonly text: string;
  readonly label?: string;
  /** For those who hear the button and do not see what it stands at. */
  readonly what?: string;
}): JSX.Element {
  const [state, setState] = useState<'' | 'copied' | 'not copied'>('');
  useEffect(() => {
    if (state === '') return;
    const timer = setTimeout(setState, 2_000, '');
    return () => {
      clearTimeout(timer);
    };
  }, [state]);
  const copy = (): void => {
    copyText(text).then(
      () => setState('copied'),
      () => setState('not copied'),
    );
  };
  return (
    <button
      type="button"
      class="copy"
      onClick={copy}
      aria-label={what === undefined ? undefined : `Copy ${what}`}
    >
      {state === '' ? label : state}
      <span class="hidden" role="status">
        {state}
      </span>
    </button>
  );
}

/** The clipboard of the browser is for https and loopback only; elsewhere a selection does. */
async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way without a secure context
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('The browser refused to copy.');
}

/** An id or a digest. */
export function Hex({
  text,
  what,
  short = false,
}: {
  readonly text: string;
  readonly what: string;
  readonly short?: boolean;
}): JSX.Element {
  return (
    <span class="hex">
      <code title={text}>{short ? `${text.slice(0, 12)}…` : text}</code> <Copy text={text} what={what} />
    </span>
  );
}

/** Local for people, and exact to the nanosecond. */
export function Moment({ ns }: { readonly ns: string }): JSX.Element {
  const date = dateOf(ns);
  return (
    <span class="moment">
      <time dateTime={date.toISOString()} title={`${ago(date)}; ${ns} ns`}>
        {localTime(date)}
      </time>{' '}
      <span class="exact">{exactTime(ns)}</span>
    </span>
  );
}

export function Size({ bytes }: { readonly bytes: string | bigint }): JSX.Element {
  const rounded = size(bytes);
  const exact = `${count(bytes)} bytes`;
  return (
    <span class="size" title={exact}>
      {rounded}
    </span>
  );
}

const STATUSES: Readonly<Record<string, { readonly sign: string; readonly meaning: string }>> = {
  COMPLETE: { sign: '●', meaning: 'everything expected was returned' },
  PARTIAL: { sign: '◐', meaning: 'records are missing' },
  UNAVAILABLE: { sign: '○', meaning: 'nothing could be captured' },
  DAMAGED: { sign: '▲', meaning: 'what is stored cannot be proven' },
  MISSING: { sign: '◌', meaning: 'named as a parent, and not in this store' },
  STAGING: { sign: '◌', meaning: 'an intent without a marker' },
  VALIDATED: { sign: '◉', meaning: 'a whole package that was never put in place' },
  INVALID: { sign: '▲', meaning: 'bytes or names that no running publication leaves' },
};

/** A status of coverage or a phase: by its sign and word, and not by its colour alone. */
export function Status({ status }: { readonly status: string }): JSX.Element {
  const { sign, meaning } = STATUSES[status] ?? { sign: '·', meaning: '' };
  return (
    <span class={`status ${status.toLowerCase()}`} title={meaning}>
      <span aria-hidden="true">{sign}</span> {status}
    </span>
  );
}

export function Loading({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <p class="loading" role="status">
      {children}
    </p>
  );
}

/** What went wrong, with what can be done here: a token, or another try. */
export function Trouble({
  error,
  again,
  title,
}: {
  readonly error: unknown;
  readonly again?: (() => void) | undefined;
  readonly title?: string;
}): JSX.Element {
  const { status, problem, message } =
    error instanceof Refusal
      ? error
      : new Refusal(-1, { detail: error instanceof Error ? error.message : String(error) });
  const { code, instance, errors = [] } = problem;
  return (
    <section class="trouble" role="alert">
      <h2>{title ?? problem.title ?? 'That did not work'}</h2>
      <p>
        <Foreign text={message} most={2_000} />
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ path, message: rule }) => (
            <li>
              <code>
                <Foreign text={path} />
              </code>{' '}
              <Foreign text={rule} />
            </li>
          ))}
        </ul>
      )}
      {status === 401 ? (
        <TokenForm />
      ) : (
        again !== undefined && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )
      )}
      {code !== undefined && (
        <p class="small">
          <a href={addressOf(`problems/${encodeURIComponent(code)}`)}>{code}</a>
          {instance !== undefined && (
            <>
              , in the log as <code>{plain(instance)}</code>
            </>
          )}
        </p>
      )}
    </section>
  );
}

function TokenForm(): JSX.Element {
  const field = useId();
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('token');
    if (typeof given === 'string' && given.trim() !== '') keepToken(given.trim());
  };
  return (
    <form class="token" onSubmit={submit}>
      <label for={field}>Token, kept for this tab only</label>
      <input id={field} name="token" type="password" autocomplete="off" required />
      <button class="main">Use it</button>
    </form>
  );
}

/** A download. With a token the browser cannot fetch by itself, so the page does it and hands the file over. */
export function Download({
  path,
  name,
  children,
}: {
  readonly path: string;
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const [state, setState] = useState<'' | 'loading' | 'failed'>('');
  if (token.value === null) {
    return (
      <a href={addressOf(path)} download={name}>
        {children}
      </a>
    );
  }
  const fetchIt = async (): Promise<void> => {
    setState('loading');
    try {
      const response = await ask(path);
      const url = URL.createObjectURL(await whole(() => response.blob()));
      const anchor = document.createElement('a');
      anchor.href = url;
      anchor.download = name;
      anchor.click();
      setTimeout(() => {
        URL.revokeObjectURL(url);
      }, 60_000);
      setState('');
    } catch {
      setState('failed');
    }
  };
  return (
    <button
      type="button"
      class="link"
      disabled={state === 'loading'}
      onClick={() => {
        fetchIt().catch(() => undefined);
      }}
    >
      {children}
      {state !== '' && ` (${state})`}
    </button>
  );
}

/** Lines to run elsewhere. */
export function Lines({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  const heading = useId();
  return (
    <section class="lines" aria-labelledby={heading}>
      <header>
        <h3 id={heading}>{title}</h3>
        <Copy text={text} what={title} />
      </header>
      <pre tabIndex={0} aria-labelledby={heading}>
        {text}
      </pre>
    </section>
  );
}
