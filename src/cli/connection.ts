/** What commands share: their flags, how they reach a service, which snapshot is meant, and how they end. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type {
  ClientOptions,
  ListedSnapshot,
  ListPageOptions,
  Page,
  SnapshotClient,
  SnapshotSummary,
} from '../client/index.ts';
import { isSnapshotId, type SnapshotId } from '../contract/ids.ts';
import { CommandError, exitStatusOf, reportError, STATUS_HELP, statusOf } from './errors.ts';
import { formatTime, note } from './output.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8750';

export interface OutputOptions {
  readonly json?: boolean;
}

export interface ConnectionOptions extends OutputOptions {
  readonly url: string;
  readonly token?: string;
  readonly socket?: string;
  readonly timeout?: number;
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON, and errors as problem documents');
}

/** The one service that a command is about. */
export function withUrl(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'where the service is').env('SNAPSHOTS_URL').default(DEFAULT_URL))
    .addOption(
      new Option('--socket <path>', 'unix socket on which the service listens').env('SNAPSHOTS_SOCKET'),
    )
    .hook('preAction', (_, action) => {
      // A flag is over the environment: who names a URL does not mean the socket of a variable.
      const [url, from] = ['url', 'socket'].map((name) => action.getOptionValueSource(name));
      if (url === 'cli' && from === 'env') action.setOptionValue('socket', undefined);
    });
}

export function withConnection(command: Command): Command {
  return withUrl(withJson(command))
    .addOption(
      new Option('--token <token>', 'bearer token; better given by the environment').env('SNAPSHOTS_TOKEN'),
    )
    .option('--timeout <seconds>', 'give up when nothing comes for this long', positiveNumber);
}

/** What `<id>` may be wherever a command asks for one. */
export const ID_HELP = `An <id> is 32 hex digits, the first digits of one if no other begins so, latest,
or latest:<namespace>: the one that was finished last.`;

/** Examples and exit statuses at the end of `--help`. */
export function withExamples(command: Command, examples: string): Command {
  return command.addHelpText('after', `\nExamples:\n${examples}\n\n${STATUS_HELP}`);
}

/** What the client calls its options, as this command does. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  baseUrl: '--url (SNAPSHOTS_URL)',
  token: '--token (SNAPSHOTS_TOKEN)',
  socketPath: '--socket (SNAPSHOTS_SOCKET)',
};

/** The caller closes it. `names` are what its options are called where they were typed. */
export async function openClient(
  { url, token, socket, timeout }: ConnectionOptions,
  patience: Pick<ClientOptions, 'timeouts' | 'retry'> = {},
  names = OPTION_NAMES,
): Promise<SnapshotClient> {
  // Only here: help, versions and wrong words are told without the weight of a client.
  const { InvalidOptionError, SnapshotClient: Client } = await import('../client/index.ts');
  const ms = timeout === undefined ? undefined : Math.round(timeout * 1000);
  try {
    return new Client({
      ...patience,
      // A variable that is set to nothing counts as not set.
      baseUrl: url === '' ? DEFAULT_URL : url,
      ...(token === undefined || token === '' ? {} : { token }),
      ...(socket === undefined || socket === '' ? {} : { socketPath: socket }),
      ...(ms === undefined ? {} : { timeouts: { connectMs: ms, headersMs: ms, bodyMs: ms } }),
    });
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    const { option, problem } = error;
    throw new InvalidOptionError(names[option] ?? option, problem, { cause: error });
  }
}

/** Runs `work` with a client and closes it. */
export async function withClient<T>(
  options: ConnectionOptions,
  work: (client: SnapshotClient) => Promise<T>,
  patience: Pick<ClientOptions, 'timeouts' | 'retry'> = {},
): Promise<T> {
  const client = await openClient(options, patience);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const ID_BEGINNING = /^[0-9a-f]{1,31}$/u;
const LATEST = /^latest(?::(?<namespace>.+))?$/su;
const MOST_SHOWN = 10;

/** Whatever has a listing to look ids up in: a client, or a store that was opened by its address. */
export interface Lister {
  listPage(options: ListPageOptions): Promise<Page<ListedSnapshot>>;
}

/**
 * The id that is meant: a whole one, the beginning of one, or the last finished (of a namespace). What is found this way
 * is proven when it is read. Throws `CommandError`, and `InvalidSnapshotIdError` for anything else.
 */
export async function resolveId(client: Lister, text: string, signal?: AbortSignal): Promise<SnapshotId> {
  const isWhole: boolean = isSnapshotId(text);
  if (isWhole) return text;
  const latest = LATEST.exec(text);
  if (latest !== null) return latestId(client, latest.groups?.['namespace'], signal);
  if (!ID_BEGINNING.test(text)) throw await noId(text);
  const found = await beginningWith(client, text, MOST_SHOWN + 1, signal);
  const [only, ...others] = found;
  if (only === undefined) {
    throw new CommandError('failed', `no snapshot is published whose id begins with ${text}`, {
      status: statusOf('notFound'),
    });
  }
  if (others.length === 0) return only.id;
  const shown = found.slice(0, MOST_SHOWN).map(({ id, about }) => `${id}${about}`);
  if (found.length > MOST_SHOWN) shown.push('and more');
  throw new CommandError('ambiguous_id', `several ids begin with ${text}: ${shown.join(', ')}`);
}

/** As the client refuses it, and with what the command takes beside a whole id. */
async function noId(text: string): Promise<Error> {
  const { refusedLocally } = await import('../client/errors.ts');
  const expected = '32 lowercase hex digits, the first of them, latest or latest:<namespace>';
  const found = JSON.stringify(text).slice(0, 80);
  return refusedLocally('invalid_snapshot_id', `A snapshot id is ${expected}; found ${found}.`, { expected });
}

/** As many entries as asked for, and where they go on; a page may hold fewer than it was asked for, or none. */
export async function listed(
  client: Lister,
  { limit, after: start, ...query }: ListPageOptions & { readonly limit: number },
): Promise<{ readonly items: readonly ListedSnapshot[]; readonly next: string | null }> {
  const items: ListedSnapshot[] = [];
  let after = start;
  for (;;) {
    const asked = Math.min(limit - items.length, PAGE_SIZE);
    const page = await client.listPage({ ...query, limit: asked, after });
    items.push(...page.items);
    if (page.next === null || items.length >= limit) return { items, next: page.next };
    after = page.next;
  }
}

/** The most that the service gives at once. */
const PAGE_SIZE = 1000;

async function latestId(
  client: Lister,
  namespace: string | undefined,
  signal: AbortSignal | undefined,
): Promise<SnapshotId> {
  const { items } = await listed(client, {
    order: 'newest',
    limit: 1,
    proof: 'frame',
    sourceNamespace: namespace,
    signal,
  });
  const [last] = items;
  if (last !== undefined) return last.snapshot_id;
  const where = namespace === undefined ? '' : ` in the namespace ${JSON.stringify(namespace)}`;
  throw new CommandError('failed', `no snapshot is published${where}, so there is no latest one`, {
    status: statusOf('notFound'),
  });
}

/** At most `limit` published ids with this beginning, without proving their bytes; a damaged one is one of them. */
export async function beginningWith(
  client: Lister,
  beginning: string,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly { readonly id: SnapshotId; readonly about: string }[]> {
  return (await entriesFrom(client, beginning, limit, signal))
    .filter((item) => item.snapshot_id.startsWith(beginning) && isSnapshotId(item.snapshot_id))
    .map((item) => ({ id: item.snapshot_id, about: 'problem' in item ? ' (damaged)' : aboutOf(item) }));
}

/** What a whole id stands for in a listing, without proving its bytes; null where nothing is published under it. */
export async function entryOf(
  client: Lister,
  id: SnapshotId,
  signal?: AbortSignal,
): Promise<ListedSnapshot | null> {
  const [first] = await entriesFrom(client, id, 1, signal);
  return first?.snapshot_id === id ? first : null;
}

/** The first `limit` entries by id, from the first that could begin so. */
async function entriesFrom(
  client: Lister,
  beginning: string,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<readonly ListedSnapshot[]> {
  // The greatest possible id before the first that begins so; the page goes on after it.
  const first = beginning === '' ? 0n : BigInt(`0x${beginning.padEnd(32, '0')}`);
  const after = first === 0n ? undefined : (first - 1n).toString(16).padStart(32, '0');
  const query = { order: 'id', after, limit, proof: 'frame', damaged: 'show', signal } as const;
  return (await listed(client, query)).items;
}

function aboutOf({ source_namespace: namespace, finished_at_ns: finished }: SnapshotSummary): string {
  return ` (${namespace}, ${formatTime(finished)})`;
}

interface Conclusion {
  /** What `work` left, told to people after its failure. */
  readonly left?: () => string | null;
  /** Of a verb that ends with statuses of its own. */
  readonly statusOf?: (error: unknown) => number;
}

/** Turns what `work` throws into a message and an exit status. */
export async function concluding(
  { json = false }: OutputOptions,
  work: () => Promise<void>,
  { left = () => null, statusOf: ownStatusOf = exitStatusOf }: Conclusion = {},
): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.exitCode = ownStatusOf(error);
    reportError(error, json);
    const line = left();
    if (line !== null && !json) note(`  ${line}`);
    if (error instanceof CommandError && error.code === 'interrupted') endInterrupted();
  }
}

/** How many pieces of work were left that the system cannot be told to end. */
let unendable = 0;

/**
 * Node waits at its end for calls into the system that are under way, and the opening or reading of a pipe to which nobody
 * writes comes to no end. Who asked to stop is not held up by that: the very signal then ends the process, after everything
 * that listens for its exit, and a shell shows the same status.
 */
function endInterrupted(): never {
  const signal = Number(process.exitCode) - SIGNALLED;
  if (unendable > 0 && signal > 0) {
    for (const name of Object.keys(SIGNALS)) process.removeAllListeners(name);
    process.once('exit', () => process.kill(process.pid, signal));
  }
  process.exit();
}

/** A shell's status of what a signal has ended, less the signal. */
const SIGNALLED = 128;
const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/**
 * Runs `work` with a signal that is aborted by Ctrl-C, SIGTERM and SIGHUP, so that it ends in order; a second one ends
 * the process at once. `whatStays` says where things are then.
 */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  whatStays: () => string | null = () => null,
): Promise<T> {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals): void => {
    const status = SIGNALLED + SIGNALS[name as keyof typeof SIGNALS];
    if (controller.signal.aborted) {
      process.exitCode = status;
      endInterrupted();
    }
    controller.abort(new CommandError('interrupted', 'interrupted', { status }));
  };
  for (const name of Object.keys(SIGNALS)) process.on(name, stop);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    const { status, message } = controller.signal.reason as CommandError;
    const stays = whatStays();
    throw new CommandError('interrupted', stays === null ? message : `${message}: ${stays}`, {
      status: status ?? statusOf('interrupted'),
    });
  } finally {
    for (const name of Object.keys(SIGNALS)) process.off(name, stop);
  }
}

/**
 * What `work` gives, or the reason of the signal: opening a pipe that nobody writes to, or reading one in which nothing
 * comes, cannot be ended otherwise. Reading standard input at least holds up no process that ends.
 */
export async function unlessAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  { endsWithProcess = false }: { readonly endsWithProcess?: boolean } = {},
): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  if (!endsWithProcess) {
    unendable += 1;
    // What fails after that is nobody's.
    work.catch(() => undefined).finally(() => (unendable -= 1));
  }
  return Promise.race([work, aborted]);
}

/** Only for people: with `json`, standard error holds problem documents and nothing else. */
export function noteUnless({ json = false }: OutputOptions, line: string): void {
  if (!json) note(line);
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('Expected a number greater than 0.');
  }
  return value;
}

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d+$/u.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('Expected a whole number of at least 1.');
  }
  return value;
}

/** What `<time>` may be wherever a command asks for one. */
export const TIME_HELP =
  'A <time> is a date or time (2026-01-31, 2026-01-31T12:00Z), an age (90m, 12h, 7d), or nanoseconds since 1970.';

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** Epoch nanoseconds, decimal. */
export function timeInNanoseconds(text: string): string {
  if (/^\d{1,20}$/u.test(text)) return String(BigInt(text));
  const age = /^(?<count>\d{1,9})(?<unit>[smhdw])$/u.exec(text)?.groups;
  const ms =
    age === undefined
      ? /^\d{4}-\d{2}-\d{2}/u.test(text)
        ? Date.parse(text)
        : Number.NaN
      : Date.now() - Number(age['count']) * SECONDS[age['unit'] as keyof typeof SECONDS] * 1000;
  if (Number.isNaN(ms)) {
    throw new InvalidArgumentError(
      'Expected a time such as 2026-01-31 or 2026-01-31T12:00Z, an age such as 12h or 7d, or nanoseconds.',
    );
  }
  return String(BigInt(Math.max(ms, 0)) * 1_000_000n);
}
