/** One request and its answer over undici; every failure on the way becomes one of the client's errors. */
import { errors, Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { ConnectionError, ProtocolError, SnapshotClientError, TimeoutError } from './errors.ts';
import type { ResolvedOptions, RetryPolicy } from './options.ts';
import { socketFailure } from './socket-failures.ts';

export interface Answer {
  readonly status: number;
  /** The header's value, or null; one that came several times is joined with commas. */
  header(name: string): string | null;
  /** The body as it arrives; throws the client's errors. Reading to the end frees the connection. */
  chunks(): AsyncGenerator<Buffer, void, void>;
  /** Gives up on the rest of the body. */
  discard(): void;
}

export interface RequestOptions {
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

export interface Transport {
  readonly retry: RetryPolicy;
  /** `path` begins with a slash and is put after the base path. */
  request(path: string, options?: RequestOptions): Promise<Answer>;
  close(): Promise<void>;
}

interface Where {
  readonly address: string;
  readonly socketPath: string | null;
}

export function openTransport(options: ResolvedOptions): Transport {
  const { origin, basePath, timeouts, token } = options;
  const dispatcher = options.dispatcher ?? newPool(options);
  const common = token === null ? {} : { authorization: `Bearer ${token}` };
  const where = { address: options.socketPath ?? `${origin}${basePath}`, socketPath: options.socketPath };
  return {
    retry: options.retry,
    async request(path, { method = 'GET', headers = {}, body, signal } = {}) {
      signal?.throwIfAborted();
      try {
        const data = await dispatcher.request({
          origin,
          path: `${basePath}${path}`,
          method,
          headers: { ...common, ...headers },
          // undici takes any async iterable of bytes; its types name only Node's own.
          body: (body ?? null) as Dispatcher.DispatchOptions['body'] & null,
          headersTimeout: timeouts.headersMs,
          bodyTimeout: timeouts.bodyMs,
          ...(signal === undefined ? {} : { signal }),
        });
        return answerOf(data, where, signal);
      } catch (error) {
        throw asClientError(error, where, signal);
      }
    },
    async close() {
      if (options.dispatcher === null) await dispatcher.close();
    },
  };
}

function newPool({ origin, socketPath, timeouts }: ResolvedOptions): Pool {
  return new Pool(origin, {
    connect: { timeout: timeouts.connectMs, ...(socketPath === null ? {} : { socketPath }) },
  });
}

function answerOf(data: Dispatcher.ResponseData, where: Where, signal: AbortSignal | undefined): Answer {
  const { headers, body } = data;
  // A body that nobody reads may still fail; that must not end the process.
  body.on('error', () => undefined);
  return {
    status: data.statusCode,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : (value ?? null);
    },
    async *chunks() {
      try {
        for await (const chunk of body) yield chunk as Buffer;
      } catch (error) {
        throw asClientError(error, where, signal);
      }
    },
    discard() {
      body.destroy();
    },
  };
}

/** Node's and undici's codes in words; the original stays as the cause. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name cannot be looked up for the moment',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut short',
  UND_ERR_DESTROYED: 'this client is closed',
  UND_ERR_CLOSED: 'this client is closed',
};

const TIMEOUT_PHASES: Readonly<Record<string, TimeoutError['phase']>> = {
  UND_ERR_CONNECT_TIMEOUT: 'connect',
  UND_ERR_HEADERS_TIMEOUT: 'headers',
  UND_ERR_BODY_TIMEOUT: 'body',
};

const TIMEOUT_TEXTS = {
  connect: 'no connection was made',
  headers: 'no answer began',
  body: 'the answer stopped coming',
} as const;

function asClientError(
  error: unknown,
  { address, socketPath }: Where,
  signal: AbortSignal | undefined,
): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (!(error instanceof Error) || error instanceof SnapshotClientError) return error;
  const code = codeOf(error);
  const phase = TIMEOUT_PHASES[code];
  if (phase !== undefined) {
    return new TimeoutError(phase, `${address}: ${TIMEOUT_TEXTS[phase]} within the timeout.`, {
      cause: error,
    });
  }
  if (error instanceof errors.HTTPParserError) {
    return new ProtocolError(`${address}: what answers is not HTTP (${error.message}). Check the URL.`, {
      cause: error,
    });
  }
  if (code === '') return error;
  const failure = socketPath === null ? null : socketFailure(socketPath, code);
  const reason = failure ?? REASONS[code] ?? error.message;
  return new ConnectionError(`${address}: ${reason} (${code}).`, { cause: error });
}

function codeOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Node gathers the failures of a name's several addresses into one error.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0]);
  return '';
}
