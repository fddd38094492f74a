/** Exit statuses of the command: one table, shown by every `--help` and chosen from an error in one place. */
import { isAnySnapshotError, type ErrorCode } from '../contract/errors.ts';
import { isProblemError, SnapshotClientError, type ClientErrorCode } from '../client/index.ts';

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  integrity: 4,
  connection: 5,
  unknown: 6,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODES_HELP = `
Exit status:
  0  done
  1  refused or failed; the message says why
  2  wrong use of the command
  3  no such snapshot or array
  4  bytes do not match their SHA-256, stored or received
  5  no connection, no answer in time, or no snapshot service there
  6  a snapshot was sent, and whether it is published is unknown`;

/** Wrong use that the argument parser cannot see. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The system's code of a failure (`ENOENT`), or its message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

const BY_CODE: Partial<Readonly<Record<ErrorCode | ClientErrorCode, ExitCode>>> = {
  snapshot_not_found: EXIT.notFound,
  array_not_found: EXIT.notFound,
  not_found: EXIT.notFound,
  storage_integrity: EXIT.integrity,
  unsupported_package: EXIT.integrity,
  checksum_mismatch: EXIT.integrity,
  unavailable: EXIT.connection,
  connection_failed: EXIT.connection,
  timeout: EXIT.connection,
  protocol_violation: EXIT.connection,
  outcome_unknown: EXIT.unknown,
  invalid_option: EXIT.usage,
};

const LOCAL_USAGE: readonly string[] = ['invalid_snapshot_id', 'invalid_request'];

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (isProblemError(error) && error.local && LOCAL_USAGE.includes(error.code)) return EXIT.usage;
  const carriesCode = error instanceof SnapshotClientError || isAnySnapshotError(error);
  return (carriesCode ? BY_CODE[error.code as ErrorCode | ClientErrorCode] : undefined) ?? EXIT.failed;
}
