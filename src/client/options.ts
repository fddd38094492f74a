/** How to reach a service, and how patient to be with it. */
import { isToken, TOKEN_RULE } from '../contract/text.ts';
import type { Dispatcher } from 'undici';
import { InvalidOptionError } from './errors.ts';

/** What the address of a unix socket holds; a longer path is cut, and then means another file. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** Milliseconds without progress after which a phase is given up; 0 waits for ever. */
export interface Timeouts {
  /** Until the connection stands; 10 seconds by default. */
  readonly connectMs: number;
  /** From the last byte sent to the head of the answer, in which the service proves or stores; 5 minutes by default. */
  readonly headersMs: number;
  /** Between two pieces of an answer's body, and for each KiB of it; 60 seconds by default. */
  readonly bodyMs: number;
}

export interface RetryPolicy {
  /** Tries in all, the first one included; 4 by default, 1 never tries again. */
  readonly attempts: number;
  /** The first pause; it doubles from try to try, and each is shortened at random by up to a half. 100 by default. */
  readonly minDelayMs: number;
  /** The longest pause of one's own; 5 seconds by default. */
  readonly maxDelayMs: number;
  /** A Retry-After longer than this is not waited for; 60 seconds by default. */
  readonly maxRetryAfterMs: number;
}

export interface ClientOptions {
  /** `http://127.0.0.1:8750`, with the base path a proxy may add. With `socketPath`, `http://localhost` by default. */
  readonly baseUrl?: string | URL;
  /** A unix socket on which the service listens. */
  readonly socketPath?: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string;
  readonly timeouts?: Partial<Timeouts>;
  /** For lost connections and a service that is briefly unavailable. `false` never tries again. */
  readonly retry?: Partial<RetryPolicy> | false;
  /** An undici dispatcher (an Agent, a ProxyAgent, a MockAgent) to use instead of a pool; stays open on `close()`. */
  readonly dispatcher?: Dispatcher;
}

export interface ResolvedOptions {
  readonly origin: string;
  /** Without a slash at the end. */
  readonly basePath: string;
  readonly socketPath: string | null;
  readonly token: string | null;
  readonly timeouts: Timeouts;
  readonly retry: RetryPolicy;
  readonly dispatcher: Dispatcher | null;
}

const TIMEOUTS: Timeouts = { connectMs: 10_000, headersMs: 300_000, bodyMs: 60_000 };
const RETRY: RetryPolicy = { attempts: 4, minDelayMs: 100, maxDelayMs: 5_000, maxRetryAfterMs: 60_000 };

/** Fills in the defaults. Throws `InvalidOptionError` for a URL, token or number that cannot be used. */
export function resolveOptions(given: string | URL | ClientOptions): ResolvedOptions {
  const options = typeof given === 'string' || given instanceof URL ? { baseUrl: given } : given;
  const { socketPath = null, token = null } = options;
  const url = parseUrl(options.baseUrl ?? (socketPath === null ? undefined : 'http://localhost'));
  // What a header may not hold is not shown: it is a secret.
  if (token !== null && !isToken(token)) {
    throw new InvalidOptionError('token', `must be ${TOKEN_RULE}.`);
  }
  if (socketPath !== null && Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES) {
    throw new InvalidOptionError(
      'socketPath',
      `is longer than the ${MAX_SOCKET_PATH_BYTES} bytes that the path of a socket may have.`,
    );
  }
  const timeouts = { ...TIMEOUTS, ...withoutUndefined(options.timeouts ?? {}) };
  for (const [name, value] of Object.entries(timeouts)) checkNumber(`timeouts.${name}`, value, 0);
  return {
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/u, ''),
    socketPath,
    token,
    timeouts,
    retry: resolveRetry(options.retry, RETRY),
    dispatcher: options.dispatcher ?? null,
  };
}

/** A policy over the one it narrows. Throws `InvalidOptionError`. */
export function resolveRetry(
  given: Partial<RetryPolicy> | false | undefined,
  base: RetryPolicy,
): RetryPolicy {
  if (given === false) return { ...base, attempts: 1 };
  const policy = { ...base, ...withoutUndefined(given ?? {}) };
  checkNumber('retry.attempts', policy.attempts, 1);
  checkNumber('retry.minDelayMs', policy.minDelayMs, 0);
  checkNumber('retry.maxDelayMs', policy.maxDelayMs, 0);
  checkNumber('retry.maxRetryAfterMs', policy.maxRetryAfterMs, 0);
  return policy;
}

function parseUrl(given: string | URL | undefined): URL {
  if (given === undefined)
    throw new InvalidOptionError('baseUrl', 'is missing: give the URL the service printed when it started.');
  const text = String(given);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new InvalidOptionError(
      'baseUrl',
      `must be an http:// or https:// URL; found ${JSON.stringify(text)}.`,
    );
  }
  if (url.search !== '' || url.hash !== '')
    throw new InvalidOptionError('baseUrl', 'must have neither a query nor a fragment.');
  if (url.username !== '' || url.password !== '') {
    throw new InvalidOptionError(
      'baseUrl',
      'must hold no user name or password; give the token as an option.',
    );
  }
  return url;
}

function checkNumber(name: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw new InvalidOptionError(name, `must be a whole number of at least ${min}; found ${value}.`);
}

function withoutUndefined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}
