/** What travels between the service's thread and its proving threads, errors included. */
import type { Declarations } from '../contract/contexts.ts';
import {
  ContractViolationError,
  isAnySnapshotError,
  SnapshotError,
  SnapshotNotFoundError,
  StorageIntegrityError,
  UnsupportedPackageError,
  type ErrorCode,
  type ErrorDetails,
} from '../contract/errors.ts';
import type { TaskInput, TaskKind } from './proof-tasks.ts';

export interface ProvingThreadData {
  readonly declarations: Declarations;
}

/** What one turn of a thread's event loop has to say travels as one message: to wake the other thread costs most. */
export type Batch<T> = readonly T[];

export type Request =
  | { readonly id: number; readonly kind: TaskKind; readonly input: TaskInput<TaskKind> }
  | { readonly id: number; readonly kind: 'hash-update'; readonly stream: number; readonly block: Uint8Array }
  | { readonly id: number; readonly kind: 'hash-digest'; readonly stream: number }
  | { readonly id: null; readonly kind: 'hash-abandon'; readonly stream: number }
  | {
      readonly id: number;
      readonly kind: 'read-back-block';
      readonly stream: number;
      readonly path: string;
      readonly name: string;
      readonly block: Uint8Array;
    }
  | { readonly id: number; readonly kind: 'read-back-finish'; readonly stream: number }
  | { readonly id: number; readonly kind: 'read-back-abandon'; readonly stream: number };

export type Answer =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: PortableError };

/** Structured clone drops classes and codes of errors, so they travel as data. */
export interface PortableError {
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly details: object | null;
  readonly cause: { readonly name: string; readonly message: string; readonly code: string | null } | null;
}

export function packError(error: unknown): PortableError {
  if (isAnySnapshotError(error)) {
    return {
      code: error.code,
      message: error.message,
      details: error.details,
      cause: error.cause instanceof Error ? packCause(error.cause) : null,
    };
  }
  const cause = error instanceof Error ? packCause(error) : null;
  return { code: null, message: cause?.message ?? String(error), details: null, cause };
}

export function unpackError(packed: PortableError): Error {
  const options = packed.cause === null ? undefined : { cause: unpackCause(packed.cause) };
  if (packed.code === null) return new Error(packed.message, options);
  return revive(packed.code, packed.message, packed.details ?? {}, options);
}

function revive(code: ErrorCode, message: string, details: object, options?: ErrorOptions): SnapshotError {
  switch (code) {
    case 'storage_integrity':
      return new StorageIntegrityError(message, details as ErrorDetails<'storage_integrity'>, options);
    case 'unsupported_package':
      return new UnsupportedPackageError(message, details as ErrorDetails<'unsupported_package'>, options);
    case 'contract_violation':
      return new ContractViolationError((details as ErrorDetails<'contract_violation'>).errors, options);
    case 'snapshot_not_found':
      return new SnapshotNotFoundError((details as ErrorDetails<'snapshot_not_found'>).snapshot_id);
    default:
      return new SnapshotError(code, message, details, options);
  }
}

function packCause(cause: Error): NonNullable<PortableError['cause']> {
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : null;
  return { name: cause.name, message: cause.message, code };
}

function unpackCause(cause: NonNullable<PortableError['cause']>): Error {
  const error = new Error(cause.message);
  error.name = cause.name;
  return cause.code === null ? error : Object.assign(error, { code: cause.code });
}
