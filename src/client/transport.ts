/** One request and its answer over undici, and when to ask again; every failure on the way is one of the client's errors. */
import { statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { UnavailableError } from '../contract/errors.ts';
import {
  ConnectionError,
  isProblemError,
  ProtocolError,
  SnapshotClientError,
  TimeoutError,
} from './errors.ts';
import type { ResolvedOptions, RetryPolicy } from './options.ts';
import { errors, Pool, requestOver } from './undici.ts';

export interface Answer {
  readonly status: number;
  /** The value of a header that may stand once, or null. Throws `ProtocolError` for one that came several times. */
  header(name: string): string | null;
  /** The value of a header that is a list, its lines joined with commas, or null. */
  list(name: string): string | null;
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

/** Answers with a status below 200 before the one that counts; each of them starts the timeout anew. */
const MAX_INTERIM_ANSWERS = 16;

/** A body must bring as many in each `bodyMs` that is spent waiting for it: a byte a minute is no progress. */
const PACE_BYTES = 1024;

interface Where {
  readonly address: string;
  readonly socketPath: string | null;
  readonly bodyMs: number;
  readonly signal: AbortSignal | undefined;
}

export function openTransport(options: ResolvedOptions): Transport {
  const { origin, basePath, timeouts, token, socketPath } = options;
  const dispatcher = options.dispatcher ?? newPool(options);
  const common = token === null ? {} : { authorization: `Bearer ${token}` };
  const address = socketPath ?? `${origin}${basePath}`;
  return {
    retry: options.retry,
    async request(path, { method = 'GET', headers = {}, body, signal } = {}) {
      signal?.throwIfAborted();
      const where = { address, socketPath, bodyMs: timeouts.bodyMs, signal };
      let interim = 0;
      try {
        const data = await requestOver(dispatcher, {
          origin,
          path: `${basePath}${path}`,
          method,
          headers: { ...common, ...headers },
          // undici takes any async iterable of bytes; its types name only Node's own.
          body: (body ?? null) as Dispatcher.DispatchOptions['body'] & null,
          headersTimeout: timeouts.headersMs,
          bodyTimeout: timeouts.bodyMs,
          onInfo({ statusCode }) {
            interim += 1;
            if (interim <= MAX_INTERIM_ANSWERS) return;
            throw new ProtocolError(
              `${address}: more than ${MAX_INTERIM_ANSWERS} interim answers came instead of one that counts.`,
              { status: statusCode },
            );
          },
          ...(signal === undefined ? {} : { signal }),
        });
        return answerOf(data, where);
      } catch (error) {
        throw asClientError(error, where);
      }
    },
    async close() {
      if (options.dispatcher === null) await dispatcher.close();
    },
  };
}

function newPool({ origin, socketPath, timeouts }: ResolvedOptions): Dispatcher {
  return new Pool(origin, {
    connect: { timeout: timeouts.connectMs, ...(socketPath === null ? {} : { socketPath }) },
  });
}

function answerOf({ statusCode: status, headers, body }: Dispatcher.ResponseData, where: Where): Answer {
  // A body that nobody reads may still fail; that must not end the process.
  body.on('error', () => undefined);
  return {
    status,
    header(name) {
      const value = headers[name];
      if (!Array.isArray(value)) return value ?? null;
      body.destroy();
      throw new ProtocolError(`The header ${name} came ${value.length} times; it may stand once.`, {
        status,
      });
    },
    list(name) {
      return [headers[name] ?? []].flat().join(', ') || null;
    },
    async *chunks() {
      const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
      let waitedMs = 0;
      let received = 0;
      try {
        for (;;) {
          const asked = performance.now();
          const { done, value } = await pieces.next();
          if (done === true) return;
          waitedMs += performance.now() - asked;
          received += value.length;
          if (where.bodyMs > 0 && waitedMs > where.bodyMs * (1 + received / PACE_BYTES)) {
            throw new TimeoutError(
              'pace',
              `${where.address}: ${received} bytes in ${Math.round(waitedMs / 1000)} s are too few to wait for the rest.`,
            );
          }
          yield value;
        }
      } catch (error) {
        throw asClientError(error, where);
      } finally {
        body.destroy();
      }
    },
    discard() {
      body.destroy();
    },
  };
}

const NO_TLS = 'what listens there does not speak TLS; use http:// instead of https://';
const UNKNOWN_ISSUER =
  'the certificate of the service is not signed by anyone known here; name its issuer in NODE_EXTRA_CA_CERTS';

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
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'the service has no certificate for this name; check the URL',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the service is for another name; check the URL',
  CERT_HAS_EXPIRED: 'the certificate of the service has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_ISSUER,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  UND_ERR_DESTROYED: 'this client is closed',
  UND_ERR_CLOSED: 'this client is closed',
};

const TIMEOUTS: Readonly<
  Record<string, { readonly phase: TimeoutError['phase']; readonly text: string } | undefined>
> = {
  UND_ERR_CONNECT_TIMEOUT: { phase: 'connect', text: 'no connection was made' },
  UND_ERR_HEADERS_TIMEOUT: { phase: 'headers', text: 'no answer began' },
  UND_ERR_BODY_TIMEOUT: { phase: 'body', text: 'the answer stopped coming' },
};

function asClientError(error: unknown, { address, socketPath, signal }: Where): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (!(error instanceof Error) || error instanceof SnapshotClientError) return error;
  const code = codeOf(error);
  const timeout = TIMEOUTS[code];
  if (timeout !== undefined) {
    return new TimeoutError(timeout.phase, `${address}: ${timeout.text} within the timeout.`, {
      cause: error,
    });
  }
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
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

/** Why a unix socket cannot be reached; null for failures that have nothing to do with the file, such as a reset. */
function socketFailure(path: string, code: string): string | null {
  switch (code) {
    case 'ENOENT':
      return stateOf(dirname(path)) === 'ENOENT'
        ? 'the folder of this socket does not exist; check the path'
        : 'there is no such socket; check the path, and that the service was started with --socket';
    case 'ENOTDIR':
      return 'what should be the folder of this socket is a file; check the path';
    case 'EACCES':
      return typeof stateOf(path) === 'string'
        ? 'this user may not look into the folder of this socket; ask for access to it'
        : 'this user may not write to this socket; ask for access to it';
    case 'ECONNREFUSED': {
      const found = stateOf(path);
      return typeof found !== 'string' && !found.isSocket()
        ? 'this is no socket; check the path'
        : 'nothing listens on this socket; start the service';
    }
    default:
      return null;
  }
}

function stateOf(path: string): Stats | string {
  try {
    return statSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

/** Failures after which the same question may find an answer: a lost connection, a service that is briefly unavailable. */
export function isTransient(error: unknown): boolean {
  return error instanceof ConnectionError || error instanceof UnavailableError || isGatewayFailure(error);
}

/** Gateways say so when the service behind them did not answer. */
function isGatewayFailure(error: unknown): boolean {
  return error instanceof ProtocolError && error.status !== null && [502, 503, 504].includes(error.status);
}

/**
 * Milliseconds to wait after try number `attempt` (from 1), or null where another try is not due: exponential with
 * jitter, never shorter than a Retry-After asks.
 */
export function pauseAfter(attempt: number, error: unknown, policy: RetryPolicy): number | null {
  if (attempt >= policy.attempts) return null;
  const carries = isProblemError(error) || error instanceof ProtocolError;
  const asked = (carries ? (error.retryAfterSeconds ?? 0) : 0) * 1000;
  if (asked > policy.maxRetryAfterMs) return null;
  const full = Math.min(policy.minDelayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  // Clients that were cut off together must not come back together.
  return Math.max(asked, full * (1 - Math.random() / 2));
}

/** Repeats a read, which changes nothing, after a transient failure. */
export async function retryingRead<T>(
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const pause = isTransient(error) ? pauseAfter(attempt, error, policy) : null;
      if (pause === null) throw error;
      await wait(pause, signal);
    }
  }
}

/** Throws the signal's own reason. */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
