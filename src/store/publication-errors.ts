/** Turns whatever ended a publication into the refusal its producer gets, and keeps the original as its cause. */
import { isAnySnapshotError, SnapshotError, type ErrorCode } from '../contract/errors.ts';
import { errnoOf, saysNoSpace } from './io-errors.ts';

/** Where in PW-07.04 a publication was. */
export type Phase =
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
  'unavailable',
]);

export function publicationFailure(
  error: unknown,
  id: string,
  phase: Phase,
  attempt?: string,
): SnapshotError {
  const failure = translate(error, id, phase, attempt);
  if (attempt !== undefined) failure.attempt ??= attempt;
  return failure;
}

function translate(error: unknown, id: string, phase: Phase, attempt: string | undefined): SnapshotError {
  if (error instanceof SourceFailure) {
    if (isAnySnapshotError(error.cause)) return error.cause;
    return failed(error.cause, id, phase, attempt, 'The source of a payload failed');
  }
  if (isAnySnapshotError(error) && !OWN_PROOF_FAILURES.has(error.code)) return error;
  if (saysNoSpace(error)) {
    return new SnapshotError(
      'insufficient_storage',
      `The disk is full (${errnoOf(error) ?? ''}) at the step "${phase}"; snapshot ${id} was not published. Free space, then publish again.`,
      { snapshot_id: id, phase, ...kept(attempt) },
      { cause: error },
    );
  }
  return failed(error, id, phase, attempt, `The step "${phase}" failed`);
}

function failed(
  cause: unknown,
  id: string,
  phase: Phase,
  attempt: string | undefined,
  what: string,
): SnapshotError<'publication_failed'> {
  const why = isAnySnapshotError(cause) ? cause.message : (errnoOf(cause) ?? 'unexpected error');
  const evidence = attempt === undefined ? '' : ` The attempt stays as evidence in ${attempt}.`;
  return new SnapshotError(
    'publication_failed',
    `${what} (${why}); snapshot ${id} was not published.${evidence}`,
    { snapshot_id: id, phase, ...kept(attempt) },
    { cause },
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
