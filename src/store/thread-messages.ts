/** What travels between the service's thread and the threads of the engine, errors included. */
import type { Declarations } from '../contract/contexts.ts';
import { isAnySnapshotError, SnapshotError, type ErrorCode } from '../contract/errors.ts';
import type { TaskInput, TaskKind } from './engine.ts';

export interface ThreadData {
  readonly declarations: Declarations;
  /** Bound of what the thread remembers of manifests. */
  readonly manifestBytes: number;
  /** See `OpenDescriptors`. */
  readonly openDescriptors: SharedArrayBuffer;
}

/** What one turn of a thread's event loop has to say travels as one message: to wake the other thread costs most. */
export type Batch<T> = readonly T[];

export type Message =
  | { readonly id: number; readonly kind: TaskKind; readonly input: TaskInput<TaskKind> }
  /** Nobody waits for the answer of this task any more. */
  | { readonly abort: number };

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
  return new SnapshotError(packed.code, packed.message, packed.details ?? {}, options);
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
