/** What an engine says when it does not do what it was asked for, and what that means for whoever asked. */
import { isAnySnapshotError, SnapshotError } from '../contract/errors.ts';

const RETRY_SECONDS = 5;
const DENIED_RETRY_SECONDS = 30;

/** An object is not there, or not in the state that was asked for. */
export class ObjectMissing extends Error {
  readonly reason: 'absent' | 'changed';

  constructor(reason: 'absent' | 'changed', options?: ErrorOptions) {
    super(`The object is ${reason}.`, options);
    this.name = 'ObjectMissing';
    this.reason = reason;
  }
}

/** No answer came in time. */
export class EngineSilent extends Error {
  constructor(cause: unknown) {
    super('No answer came in time.', { cause });
    this.name = 'TimeoutError';
  }
}

/** A write that may have been done although no answer says so. */
export class UnknownWrite extends Error {
  constructor(cause: unknown) {
    super('Whether the object was written is not known.', { cause });
    this.name = 'UnknownWrite';
  }
}

export function refusalOf(error: unknown): SnapshotError {
  if (isAnySnapshotError(error)) return error;
  const status = statusOf(error);
  const code = nameOf(error);
  if (status === 507 || /^(?:QuotaExceeded|InsufficientStorage|XMinioStorageFull)/u.test(code)) {
    return new SnapshotError(
      'insufficient_storage',
      `The engine has no room for it (${code}). Give the bucket more, then publish again.`,
      {},
      { cause: error },
    );
  }
  const isDenied = status === 401 || status === 403;
  const state = isDenied
    ? `The engine refuses what the service asks of it (${code}); its operator must give it the rights it needs`
    : `The engine cannot be used for the moment (${status === null ? code : `${status} ${code}`})`;
  return new SnapshotError(
    'unavailable',
    `${state}; try again later.`,
    { retry_after_seconds: isDenied ? DENIED_RETRY_SECONDS : RETRY_SECONDS },
    { cause: error },
  );
}

/** The engine itself said no, at the first and only attempt: nothing was written, and nothing is under way any more. */
export function isSurelyRefused(error: unknown): boolean {
  const status = statusOf(error);
  return attemptsOf(error) === 1 && status !== null && status >= 400 && status < 500 && status !== 408;
}

/** 409 is what an engine says while another conditional write of the same name is under way. */
export function saysTaken(error: unknown): boolean {
  return statusOf(error) === 412 || nameOf(error) === 'ConditionalRequestConflict';
}

interface Answered {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
}

export function statusOf(answer: unknown): number | null {
  return (answer as Answered | undefined)?.$metadata?.httpStatusCode ?? null;
}

export function attemptsOf(answer: unknown): number {
  return (answer as Answered | undefined)?.$metadata?.attempts ?? 1;
}

/** In a few words, for an operator. */
export function engineSays(error: unknown): string {
  const { message, cause } = error as Error;
  const code = nameOf(cause ?? error);
  return isAnySnapshotError(error) && cause !== undefined ? code : `${code}: ${message}`;
}

/** The engine's own code, or the platform's. */
export function nameOf(error: unknown): string {
  const { code, name } = error as Answered;
  if (typeof code === 'string' && code !== '') return code;
  return typeof name === 'string' ? name : 'unknown';
}
