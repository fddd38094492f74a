/** What all client commands share: how they reach a service, and how they end. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { SnapshotClient, SnapshotClientError, type ClientOptions } from '../client/index.ts';
import { EXIT, EXIT_CODES_HELP, exitCodeOf } from './exit-codes.ts';
import { reportError } from './output.ts';

const DEFAULT_URL = 'http://127.0.0.1:8750';

export interface OutputOptions {
  readonly json?: boolean;
}

export interface ConnectionOptions extends OutputOptions {
  readonly url: string;
  readonly token?: string;
  readonly socket?: string;
  readonly timeout?: number;
}

export function newCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'print JSON, and errors as problem documents');
}

export function withConnection(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'where the service is').env('SNAPSHOTS_URL').default(DEFAULT_URL))
    .addOption(
      new Option('--token <token>', 'bearer token; better given by the environment').env('SNAPSHOTS_TOKEN'),
    )
    .addOption(
      new Option('--socket <path>', 'unix socket on which the service listens').env('SNAPSHOTS_SOCKET'),
    )
    .option('--timeout <seconds>', 'give up when nothing comes for this long', positiveNumber)
    .hook('preAction', (_, action) => {
      // A flag is over the environment: who names a URL does not mean the socket of a variable.
      const [url, from] = ['url', 'socket'].map((name) => action.getOptionValueSource(name));
      if (url === 'cli' && from === 'env') action.setOptionValue('socket', undefined);
    });
}

/** What the client calls its options, as this command does. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  baseUrl: '--url (SNAPSHOTS_URL)',
  token: '--token (SNAPSHOTS_TOKEN)',
  socketPath: '--socket (SNAPSHOTS_SOCKET)',
};

function newClient(options: ClientOptions): SnapshotClient {
  try {
    return new SnapshotClient(options);
  } catch (cause) {
    if (!(cause instanceof SnapshotClientError)) throw cause;
    const message = cause.message.replace(
      /^(baseUrl|token|socketPath)\b/u,
      (name) => OPTION_NAMES[name] ?? name,
    );
    throw new SnapshotClientError(cause.code, message, { cause });
  }
}

/** Examples and exit statuses at the end of `--help`. */
export function withExamples(command: Command, examples: string): Command {
  return command.addHelpText('after', `\nExamples:\n${examples}\n${EXIT_CODES_HELP}`);
}

/** Runs `work` with a client and closes it. */
export async function withClient<T>(
  options: ConnectionOptions,
  work: (client: SnapshotClient) => Promise<T>,
): Promise<T> {
  const { url, token, socket, timeout } = options;
  const ms = timeout === undefined ? undefined : Math.round(timeout * 1000);
  const client = newClient({
    // A variable that is set to nothing counts as not set.
    baseUrl: url === '' ? DEFAULT_URL : url,
    ...(token === undefined || token === '' ? {} : { token }),
    ...(socket === undefined || socket === '' ? {} : { socketPath: socket }),
    ...(ms === undefined ? {} : { timeouts: { connectMs: ms, headersMs: ms, bodyMs: ms } }),
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Turns what `work` throws into a message and an exit status. */
export async function concluding({ json = false }: OutputOptions, work: () => Promise<void>): Promise<void> {
  process.stdout.on('error', endQuietly);
  try {
    await work();
  } catch (error) {
    reportError(error, json);
    process.exitCode = exitCodeOf(error);
  } finally {
    process.stdout.off('error', endQuietly);
  }
}

/** The reader of a pipe, such as `head`, has seen enough. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  reportError(new Error(`standard output cannot be written (${error.code ?? error.message})`), false);
  process.exit(EXIT.failed);
}

function positiveNumber(text: string): number {
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
