/** The service's refusals as classes: one per code where telling them apart with `instanceof` helps. */
import type { ErrorCode, ErrorDetails, Violation } from '../contract/errors.ts';
import { SnapshotClientError } from './errors.ts';

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
} & Partial<Omit<ErrorDetails<C>, 'errors'>>;

/** The service refused; or the client did in its place, before anything was sent (`local`). */
export class ProblemError<C extends ErrorCode = ErrorCode> extends SnapshotClientError {
  declare readonly code: C;
  readonly status: number;
  readonly problem: Problem<C>;
  /** Seconds after which another try makes sense, where the answer said so. */
  readonly retryAfterSeconds: number | null;
  readonly local: boolean;

  constructor(problem: Problem<C>, { retryAfterSeconds = null, local = false }: ProblemOrigin = {}) {
    super(problem.code, problem.detail);
    this.name = new.target.name;
    this.status = problem.status;
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
    this.local = local;
  }

  /** Every violation the refusal lists, by dotted path; empty where it lists none. */
  get errors(): readonly Violation[] {
    return this.problem.errors ?? [];
  }
}

/** Narrows an unknown error to a refusal of any code, without the `any` that `instanceof` would infer. */
export function isProblemError(error: unknown): error is ProblemError {
  return error instanceof ProblemError;
}

export interface ProblemOrigin {
  readonly retryAfterSeconds?: number | null;
  readonly local?: boolean;
}

export class ArrayMismatchError extends ProblemError<'array_mismatch'> {}
export class ArrayNotFoundError extends ProblemError<'array_not_found'> {}
export class ContractViolationError extends ProblemError<'contract_violation'> {}
export class FingerprintContextMismatchError extends ProblemError<'fingerprint_context_mismatch'> {}
export class InsufficientStorageError extends ProblemError<'insufficient_storage'> {}
export class InvalidSnapshotIdError extends ProblemError<'invalid_snapshot_id'> {}
export class LimitExceededError extends ProblemError<'limit_exceeded'> {}
export class ParentNotCompleteError extends ProblemError<'parent_not_complete'> {}
export class PublicationInProgressError extends ProblemError<'publication_in_progress'> {}
export class PublicationUncertainError extends ProblemError<'publication_uncertain'> {}
export class RangeNotSatisfiableError extends ProblemError<'range_not_satisfiable'> {}
export class SnapshotExistsError extends ProblemError<'snapshot_exists'> {
  /** SHA-256 of the manifest that was to be published, where it was known without reading arrays again. */
  computedManifestSha256: string | null = null;
}
export class SnapshotNotFoundError extends ProblemError<'snapshot_not_found'> {}
export class StorageIntegrityError extends ProblemError<'storage_integrity'> {}
export class UnauthorizedError extends ProblemError<'unauthorized'> {}
export class UnavailableError extends ProblemError<'unavailable'> {}
export class UnsupportedPackageError extends ProblemError<'unsupported_package'> {}

type ProblemErrorClass<C extends ErrorCode> = new (
  problem: Problem<C>,
  origin?: ProblemOrigin,
) => ProblemError<C>;

/** Complete by construction: a new code of the contract does not compile until it has its row. */
export const PROBLEM_ERRORS: { readonly [C in ErrorCode]: ProblemErrorClass<C> } = {
  malformed_multipart: ProblemError,
  malformed_json: ProblemError,
  metadata_missing: ProblemError,
  invalid_request: ProblemError,
  invalid_snapshot_id: InvalidSnapshotIdError,
  unauthorized: UnauthorizedError,
  forbidden_host: ProblemError,
  forbidden_origin: ProblemError,
  snapshot_not_found: SnapshotNotFoundError,
  array_not_found: ArrayNotFoundError,
  not_found: ProblemError,
  method_not_allowed: ProblemError,
  precondition_failed: ProblemError,
  expectation_failed: ProblemError,
  upload_stalled: ProblemError,
  snapshot_exists: SnapshotExistsError,
  publication_in_progress: PublicationInProgressError,
  limit_exceeded: LimitExceededError,
  unsupported_media_type: ProblemError,
  range_not_satisfiable: RangeNotSatisfiableError,
  contract_violation: ContractViolationError,
  fingerprint_context_mismatch: FingerprintContextMismatchError,
  parent_not_complete: ParentNotCompleteError,
  array_mismatch: ArrayMismatchError,
  storage_integrity: StorageIntegrityError,
  unsupported_package: UnsupportedPackageError,
  publication_failed: ProblemError,
  publication_uncertain: PublicationUncertainError,
  internal_error: ProblemError,
  unavailable: UnavailableError,
  insufficient_storage: InsufficientStorageError,
};

/** The error for a problem document; a code this version does not know becomes a plain `ProblemError`. */
export function problemError<C extends ErrorCode>(
  problem: Problem<C>,
  origin: ProblemOrigin = {},
): ProblemError<C> {
  const known = Object.hasOwn(PROBLEM_ERRORS, problem.code);
  const Class: ProblemErrorClass<C> = known ? PROBLEM_ERRORS[problem.code] : ProblemError;
  return new Class(problem, origin);
}

/** Refuses in the service's own words and codes what it would refuse anyway. */
export function refusedLocally<C extends ErrorCode>(
  code: C,
  status: number,
  title: string,
  detail: string,
  members: Partial<ErrorDetails<C>>,
): ProblemError<C> {
  const problem = {
    type: `/problems/${code}`,
    title,
    status,
    detail,
    code,
    ...members,
  } as unknown as Problem<C>;
  return problemError(problem, { local: true });
}
