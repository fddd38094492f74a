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
import type { BlockRead } from './block-reading.ts';
import type { Descriptor } from './file-system.ts';
import type { TaskInput, TaskKind } from './proof-tasks.ts';

export interface ProvingThreadData {
  readonly declarations: Declarations;
}

/** What one turn of a thread's event loop has to say travels as one message: to wake the other thread costs most. */
export type Batch<T> = readonly T[];

export type Request =
  | { readonly id: number; readonly kind: TaskKind; readonly input: TaskInput<TaskKind> }
  | { readonly id: number; readonly kind: 'read-block'; readonly read: BlockRead }
  | {
      readonly id: number;
      readonly kind: 'sink-open';
      readonly sink: number;
      readonly file: Descriptor;
      readonly path: string;
      readonly name: string;
    }
  | { readonly id: number; readonly kind: 'sink-store'; readonly sink: number; readonly bytes: Uint8Array }
  | { readonly id: number; readonly kind: 'sink-finish'; readonly sink: number }
  | { readonly id: number; readonly kind: 'sink-abandon'; readonly sink: number };

export type Answer =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: PortableError };

/** Structured clone drops classes and codes of errors, so they travel as data. */
export interface PortableError {
  /** Of a refusal; null for any other error, which may still have the platform's code. */
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly details: object | null;
  readonly cause: PortableCause | null;
}

interface PortableCause {
  readonly name: string;
  readonly message: string;
  /** The platform's, with the system call that failed. */
  readonly code: string | null;
  readonly syscall: string | null;
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
  if (packed.code === null) {
    return packed.cause === null ? new Error(packed.message) : unpackCause(packed.cause);
  }
  const options = packed.cause === null ? undefined : { cause: unpackCause(packed.cause) };
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

function packCause(cause: Error): PortableCause {
  return {
    name: cause.name,
    message: cause.message,
    code: 'code' in cause && typeof cause.code === 'string' ? cause.code : null,
    syscall: 'syscall' in cause && typeof cause.syscall === 'string' ? cause.syscall : null,
  };
}

function unpackCause({ name, message, code, syscall }: PortableCause): Error {
  const error = new Error(message);
  error.name = name;
  if (code !== null) Object.assign(error, { code });
  if (syscall !== null) Object.assign(error, { syscall });
  return error;
}
