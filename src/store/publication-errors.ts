/** Turns whatever ended a publication into the refusal its producer gets, and keeps the original as its cause. */
import { isAnySnapshotError, SnapshotError, type ErrorCode } from '../contract/errors.ts';
import { errnoOf, saysExhausted, saysForbidden, saysNoSpace, unavailableNow } from './io.ts';

/** Where in PW-07.04 a publication was. */
export type Step =
  | 'validation of the request'
  | 'attempt'
  | 'intent'
  | 'payloads'
  | 'manifest'
  | 'read-back'
  | 'marker'
  | 'validation'
  | 'attempt sync'
  | 'rename'
  /** On an engine, what the rename is on a disk. */
  | 'commit'
  | 'parent sync';

/** A failure of the producer's own stream, told apart from failures of the disk. */
class SourceFailure extends Error {
  constructor(cause: unknown) {
    super('The source of a payload failed.', { cause });
    this.name = 'SourceFailure';
  }
}

/** Passes a producer's items on and marks its errors as its own. */
export async function* fromSource<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  let finished = false;
  try {
    for (;;) {
      let next: IteratorResult<T, unknown>;
      try {
        next = await iterator.next();
      } catch (cause) {
        finished = true;
        throw new SourceFailure(cause);
      }
      if (next.done === true) {
        finished = true;
        return;
      }
      yield next.value;
    }
  } finally {
    if (!finished) await iterator.return?.();
  }
}

/** Proofs of an attempt's own files that fail while it is being published are failures of this publication. */
const OWN_PROOF_FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'storage_integrity',
  'unsupported_package',
  'snapshot_not_found',
]);

/** Steps that change a directory of the store itself; all others work in the attempt's own. */
const STORE_STEPS: ReadonlySet<Step> = new Set<Step>(['attempt', 'rename']);

export interface FailedStep {
  readonly id: string;
  readonly step: Step;
  /** Where the attempt stays as evidence, once one was made. */
  readonly attempt?: string | undefined;
  /** Of a publication that ends because its sender has left. */
  readonly signal?: AbortSignal | undefined;
}

/** Names the attempt, whatever the refusal. */
export function publicationFailure(error: unknown, at: FailedStep): SnapshotError {
  const { step, attempt, signal } = at;
  if (signal?.aborted === true && error === signal.reason) return bySource(error, at);
  if (error instanceof SourceFailure) return bySource(error.cause, at);
  if (isAnySnapshotError(error) && !OWN_PROOF_FAILURES.has(error.code)) return withAttempt(error, attempt);
  if (saysExhausted(error)) return unavailableNow(error, { attempt });
  if (saysNoSpace(error)) {
    return new SnapshotError(
      'insufficient_storage',
      `The disk is full (${errnoOf(error) ?? ''}) at the step "${step}"; snapshot ${at.id} was not published. Free space, then publish again.`,
      { snapshot_id: at.id, phase: step, ...kept(attempt) },
      { cause: error, ...kept(attempt) },
    );
  }
  if (STORE_STEPS.has(step) && saysForbidden(error)) {
    return new SnapshotError(
      'unavailable',
      `The store's directories may not be changed (${errnoOf(error) ?? ''} at the step "${step}"); snapshot ${at.id} was not ` +
        'published. Its operator must let the service write there.',
      { retry_after_seconds: FORBIDDEN_RETRY_SECONDS },
      { cause: error, ...kept(attempt) },
    );
  }
  return failed(error, at, `The step "${step}" failed`);
}

const FORBIDDEN_RETRY_SECONDS = 30;

function bySource(cause: unknown, at: FailedStep): SnapshotError {
  if (isAnySnapshotError(cause)) return withAttempt(cause, at.attempt);
  return failed(cause, at, 'The source of a payload failed');
}

function withAttempt(error: SnapshotError, attempt: string | undefined): SnapshotError {
  return attempt === undefined || error.attempt !== undefined ? error : error.withAttempt(attempt);
}

function failed(
  cause: unknown,
  { id, step, attempt }: FailedStep,
  what: string,
): SnapshotError<'publication_failed'> {
  const why = isAnySnapshotError(cause) ? cause.message : (errnoOf(cause) ?? 'unexpected error');
  const evidence = attempt === undefined ? '' : ` The attempt stays as evidence in ${attempt}.`;
  return new SnapshotError(
    'publication_failed',
    `${what} (${why}); snapshot ${id} was not published.${evidence}`,
    { snapshot_id: id, phase: step, ...kept(attempt) },
    { cause, ...kept(attempt) },
  );
}

function kept(attempt: string | undefined): { attempt?: string } {
  return attempt === undefined ? {} : { attempt };
}

/** Waits for all, then gives the first's value or throws the failure that says most: nothing is left running. */
export async function settleAll<T>(first: Promise<T>, others: readonly Promise<unknown>[]): Promise<T> {
  const results = await Promise.allSettled([first, ...others]);
  // A failed sync or write says more than a proof that failed because of it.
  for (const result of [...results].reverse()) {
    if (result.status === 'rejected') throw result.reason;
  }
  return first;
}
