/** The errors of the contract and the store: one closed set of codes with typed details, those of `problems.ts`. */

import type { ErrorCode, ErrorDetails } from './problems.ts';
import type { Violation } from './violations.ts';

export type { ErrorCode, ErrorDetails, IntegrityProblem } from './problems.ts';
export type { Violation } from './violations.ts';

export interface RefusalOptions extends ErrorOptions {
  readonly attempt?: string;
}

/**
 * A refusal with a stable code. `message` is a sentence for people and never holds an absolute path;
 * `details` are the machine-readable members; `cause` keeps the original error for the log.
 */
export class SnapshotError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C;
  readonly details: ErrorDetails<C>;
  /** The attempt that stays in staging as evidence, where one was made before the refusal (PW-07.04). */
  readonly attempt?: string;

  constructor(code: C, message: string, details: ErrorDetails<C>, options?: RefusalOptions) {
    super(message, options);
    if (options?.attempt !== undefined) this.attempt = options.attempt;
    this.name = CLASS_NAMES[code] ?? 'SnapshotError';
    this.code = code;
    this.details = details;
  }

  /** The same refusal, telling which attempt stays as evidence. */
  withAttempt(attempt: string): SnapshotError<C> {
    return new SnapshotError(this.code, this.message, this.details, { cause: this.cause ?? this, attempt });
  }

  /** Every violation the refusal lists, by dotted path; empty where it lists none. */
  get errors(): readonly Violation[] {
    const { errors = [] } = this.details as { readonly errors?: readonly Violation[] };
    return errors;
  }
}

/** Narrows an unknown error to a refusal of any code, without the `any` that `instanceof` would infer. */
export function isAnySnapshotError(error: unknown): error is SnapshotError {
  return error instanceof SnapshotError;
}

/** Narrows an unknown error to a `SnapshotError` of one code. */
export function isSnapshotError<C extends ErrorCode>(error: unknown, code: C): error is SnapshotError<C> {
  return error instanceof SnapshotError && error.code === code;
}

type ClassOf<C extends ErrorCode> = new (
  message: string,
  details: ErrorDetails<C>,
  options?: ErrorOptions,
) => SnapshotError<C>;

/**
 * The class of one code, the same for library and client: whatever carries the code is an instance of it, whether this
 * process refused or a service did.
 */
function classOf<C extends ErrorCode>(code: C): ClassOf<C> {
  return class extends SnapshotError<C> {
    constructor(message: string, details: ErrorDetails<C>, options?: ErrorOptions) {
      super(code, message, details, options);
    }

    static override [Symbol.hasInstance](value: unknown): boolean {
      return isSnapshotError(value, code);
    }
  };
}

export class ArrayMismatchError extends classOf('array_mismatch') {}
export class ArrayNotFoundError extends classOf('array_not_found') {}
export class FingerprintContextMismatchError extends classOf('fingerprint_context_mismatch') {}
export class InsufficientStorageError extends classOf('insufficient_storage') {}
export class InvalidSnapshotIdError extends classOf('invalid_snapshot_id') {}
export class LimitExceededError extends classOf('limit_exceeded') {}
export class ParentNotCompleteError extends classOf('parent_not_complete') {}
export class PublicationInProgressError extends classOf('publication_in_progress') {}
/** The snapshot may be published: read exactly this id before anything else (PW-07.04). */
export class PublicationUncertainError extends classOf('publication_uncertain') {}
export class RangeNotSatisfiableError extends classOf('range_not_satisfiable') {}
/** The id is taken; what is stored stays as it is (PW-07.04). */
export class SnapshotExistsError extends classOf('snapshot_exists') {}
/** Stored bytes do not prove what the manifest claims (PW-07.03); never an empty or partial success. */
export class StorageIntegrityError extends classOf('storage_integrity') {}
export class UnauthorizedError extends classOf('unauthorized') {}
export class UnavailableError extends classOf('unavailable') {}
/** A well-formed package of a kind this reader does not support (PW-07.05): refused by name, never converted. */
export class UnsupportedPackageError extends classOf('unsupported_package') {}

/** A document breaks rules of the contract; `details.errors` lists every violation at once (PW-07.01). */
export class ContractViolationError extends classOf('contract_violation') {
  constructor(errors: readonly Violation[], options?: ErrorOptions) {
    super(summarize(errors), { errors }, options);
  }
}

/** No published snapshot has this id; there is no latest-version or live-source fallback (PW-07.18). */
export class SnapshotNotFoundError extends classOf('snapshot_not_found') {
  constructor(snapshotId: string) {
    super(`No snapshot ${snapshotId} is published in this store.`, { snapshot_id: snapshotId });
  }
}

/** What an error of a code calls itself; a code without a class of its own is told apart by `code`. */
const CLASS_NAMES: Partial<Readonly<Record<ErrorCode, string>>> = {
  array_mismatch: ArrayMismatchError.name,
  array_not_found: ArrayNotFoundError.name,
  contract_violation: ContractViolationError.name,
  fingerprint_context_mismatch: FingerprintContextMismatchError.name,
  insufficient_storage: InsufficientStorageError.name,
  invalid_snapshot_id: InvalidSnapshotIdError.name,
  limit_exceeded: LimitExceededError.name,
  parent_not_complete: ParentNotCompleteError.name,
  publication_in_progress: PublicationInProgressError.name,
  publication_uncertain: PublicationUncertainError.name,
  range_not_satisfiable: RangeNotSatisfiableError.name,
  snapshot_exists: SnapshotExistsError.name,
  snapshot_not_found: SnapshotNotFoundError.name,
  storage_integrity: StorageIntegrityError.name,
  unauthorized: UnauthorizedError.name,
  unavailable: UnavailableError.name,
  unsupported_package: UnsupportedPackageError.name,
};

const MOST_IN_FULL = 5;

/** The message with every violation in it, up to five, for places that have no room for a list. */
export function messageInFull({ message, details }: SnapshotError): string {
  const errors = 'errors' in details ? (details.errors ?? []) : [];
  if (errors.length < 2) return message;
  const shown = errors
    .slice(0, MOST_IN_FULL)
    .map(({ path, message: what }) => (path === '' ? what : `${path}: ${what}`));
  if (errors.length > MOST_IN_FULL) shown.push(`and ${errors.length - MOST_IN_FULL} more`);
  return shown.join('; ');
}

/** One sentence for a list of violations: the first in full, the rest counted. */
export function summarize(errors: readonly Violation[]): string {
  const [first] = errors;
  if (first === undefined) return 'The document breaks the contract.';
  const where = first.path === '' ? '' : `${first.path}: `;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more; see errors)` : '';
  return `${where}${first.message}${more}`;
}
