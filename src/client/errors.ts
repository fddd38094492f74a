/**
 * What the client throws: refusals, which are of the contract's own classes as those of the library are, and what went
 * wrong on the way. Every error carries a stable `code`; only the reason of an abort signal is thrown as it is.
 */
import { SnapshotError, type ErrorCode, type ErrorDetails, type Violation } from '../contract/errors.ts';
import { PROBLEMS } from '../contract/problems.ts';

/** A problem document (RFC 9457) with the members of its code. A newer service may send more of both. */
export type Problem<C extends ErrorCode = ErrorCode> = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance?: string;
  readonly code: C;
  readonly errors?: readonly Violation[];
  /** The attempt that stays in staging as evidence. */
  readonly attempt?: string;
  /** Of `snapshot_exists`, added by this client: the SHA-256 of the manifest that was to be published, where it is known. */
  readonly computed_manifest_sha256?: string;
} & Partial<Omit<ErrorDetails<C>, 'errors'>>;

/**
 * The service refused; or the client did in its place, before anything was sent (`local`). It is also of the class of
 * its code: `error instanceof SnapshotExistsError`.
 */
export class ProblemError<C extends ErrorCode = ErrorCode> extends SnapshotError<C> {
  readonly status: number;
  readonly problem: Problem<C>;
  /** Seconds after which another try makes sense, where the answer said so. */
  readonly retryAfterSeconds: number | null;
  readonly local: boolean;

  constructor(
    problem: Problem<C>,
    { retryAfterSeconds = null, local = false }: { retryAfterSeconds?: number | null; local?: boolean } = {},
  ) {
    const {
      type: _,
      title: _title,
      status,
      detail,
      instance: _instance,
      code,
      attempt,
      ...members
    } = problem;
    super(code, detail, members, attempt === undefined ? {} : { attempt });
    this.status = status;
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
    this.local = local;
  }
}

/** Narrows an unknown error to a refusal of any code, without the `any` that `instanceof` would infer. */
export function isProblemError(error: unknown): error is ProblemError {
  return error instanceof ProblemError;
}

/** Refuses in the service's own words and codes what it would refuse anyway. */
export function refusedLocally<C extends ErrorCode>(
  code: C,
  detail: string,
  members: { readonly [K in keyof ErrorDetails<C>]?: ErrorDetails<C>[K] },
): ProblemError<C> {
  const { status, title }: { status: number; title: string } = PROBLEMS[code];
  const problem: object = { type: `/problems/${code}`, title, status, detail, code, ...members };
  return new ProblemError<C>(problem as Problem<C>, { local: true });
}

/** What went wrong on the way, beside the service's own codes. */
export type ClientErrorCode =
  | 'connection_failed'
  | 'timeout'
  | 'checksum_mismatch'
  | 'protocol_violation'
  | 'source_failed'
  | 'too_large'
  | 'outcome_unknown'
  | 'invalid_option';

/**
 * What goes wrong on the way. Everything the client throws is an instance of it, refusals (`ProblemError`) too,
 * although those are made as the contract's own errors.
 */
export class SnapshotClientError extends Error {
  /** A code of the client (`connection_failed`) or, of a refusal, one of the contract (`snapshot_exists`). */
  readonly code: string;

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this === SnapshotClientError && value instanceof ProblemError) return true;
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SnapshotClientError';
    this.code = code;
  }
}

/** An option of the client, such as `baseUrl`, that cannot be used. */
export class InvalidOptionError extends SnapshotClientError {
  readonly option: string;
  /** What is wrong with it: the sentence without the option's name. */
  readonly problem: string;

  constructor(option: string, problem: string, options?: ErrorOptions) {
    super('invalid_option', `${option} ${problem}`, options);
    this.name = 'InvalidOptionError';
    this.option = option;
    this.problem = problem;
  }
}

/** No connection, or one that broke before the whole answer was there. */
export class ConnectionError extends SnapshotClientError {
  constructor(message: string, options?: ErrorOptions) {
    super('connection_failed', message, options);
    this.name = 'ConnectionError';
  }
}

/** Nothing came, or with `pace` too little, for as long as the timeout of this phase allows. */
export class TimeoutError extends SnapshotClientError {
  readonly phase: 'connect' | 'headers' | 'body' | 'pace';

  constructor(phase: TimeoutError['phase'], message: string, options?: ErrorOptions) {
    super('timeout', message, options);
    this.name = 'TimeoutError';
    this.phase = phase;
  }
}

/** Bytes arrived that are not the ones their SHA-256 stands for; never use them. */
export class ChecksumMismatchError extends SnapshotClientError {
  /** 64 lowercase hex digits each. */
  readonly expected: string;
  readonly actual: string;

  constructor(what: string, expected: string, actual: string) {
    super(
      'checksum_mismatch',
      `${what}: expected SHA-256 ${expected}, received bytes with ${actual}. Discard them and fetch them again.`,
    );
    this.name = 'ChecksumMismatchError';
    this.expected = expected;
    this.actual = actual;
  }
}

/** An answer that is not what the contract says: another content type, no digest, a wrong range, not a problem. */
export class ProtocolError extends SnapshotClientError {
  /** Of the answer, where one came. */
  readonly status: number | null;
  /** Seconds that the answer asked to wait, as a proxy's 503 may. */
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    {
      status = null,
      retryAfterSeconds = null,
      ...options
    }: ErrorOptions & { status?: number | null; retryAfterSeconds?: number | null } = {},
  ) {
    super('protocol_violation', message, options);
    this.name = 'ProtocolError';
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** An array could not be read from its file or stream, or was not as long as it said; nothing was published. */
export class SourceError extends SnapshotClientError {
  readonly key: string;

  constructor(key: string, message: string, options?: ErrorOptions) {
    super('source_failed', `arrays.${key}: ${message}`, options);
    this.name = 'SourceError';
    this.key = key;
  }
}

/**
 * The whole snapshot was sent and no answer could be had: it may be published or not. Look with `manifest(id)`, or
 * publish the same arrays again: that ends in `published`, `confirmed` or a refusal, never in two snapshots.
 */
export class OutcomeUnknownError extends SnapshotClientError {
  readonly snapshotId: string;

  constructor(snapshotId: string, options: ErrorOptions) {
    const reason = options.cause instanceof Error ? ` ${options.cause.message}` : '';
    super(
      'outcome_unknown',
      `Snapshot ${snapshotId} was sent, but whether it is published is unknown.${reason} ` +
        'Look whether it is there before publishing it under another id.',
      options,
    );
    this.name = 'OutcomeUnknownError';
    this.snapshotId = snapshotId;
  }
}
