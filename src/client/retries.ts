/** When to try again and how long to wait: exponential with jitter, never shorter than a Retry-After asks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, ProtocolError } from './errors.ts';
import type { RetryPolicy } from './options.ts';
import { ProblemError, UnavailableError } from './problem-errors.ts';

/** Milliseconds to wait after try number `attempt` (from 1), or null where another try is not due. */
export function pauseAfter(attempt: number, error: unknown, policy: RetryPolicy): number | null {
  if (attempt >= policy.attempts) return null;
  const asked = askedToWaitMs(error);
  if (asked > policy.maxRetryAfterMs) return null;
  const full = Math.min(policy.minDelayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  // Clients that were cut off together must not come back together.
  return Math.max(asked, full * (1 - Math.random() / 2));
}

function askedToWaitMs(error: unknown): number {
  const carries = error instanceof ProblemError || error instanceof ProtocolError;
  return (carries ? (error.retryAfterSeconds ?? 0) : 0) * 1000;
}

/** Gateways say so when the service behind them did not answer. */
export function isGatewayFailure(error: unknown): boolean {
  return error instanceof ProtocolError && error.status !== null && [502, 503, 504].includes(error.status);
}

/** Repeats a read, which changes nothing, after a lost connection or while the service is briefly unavailable. */
export async function retryingRead<T>(
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const transient =
        error instanceof ConnectionError || error instanceof UnavailableError || isGatewayFailure(error);
      const pause = transient ? pauseAfter(attempt, error, policy) : null;
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
