/** What the client throws; every class carries a stable `code`. Refusals of the service are in `problem-errors.ts`. */

/** What went wrong on the way, beside the service's own codes. */
export type ClientErrorCode =
  | 'connection_failed'
  | 'timeout'
  | 'checksum_mismatch'
  | 'protocol_violation'
  | 'source_failed'
  | 'outcome_unknown'
  | 'invalid_option';

/** The base of everything the client throws, except the reason of an abort signal, which is thrown as it is. */
export class SnapshotClientError extends Error {
  /** A code of the contract (`snapshot_exists`) or of the client (`connection_failed`). */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SnapshotClientError';
    this.code = code;
  }
}

/** No connection, or one that broke before the whole answer was there. */
export class ConnectionError extends SnapshotClientError {
  constructor(message: string, options?: ErrorOptions) {
    super('connection_failed', message, options);
    this.name = 'ConnectionError';
  }
}

/** Nothing came for as long as the timeout of this phase allows. */
export class TimeoutError extends SnapshotClientError {
  readonly phase: 'connect' | 'headers' | 'body';

  constructor(phase: 'connect' | 'headers' | 'body', message: string, options?: ErrorOptions) {
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
