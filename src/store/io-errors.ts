/** Reads the platform's error codes, so that no other file compares strings like `ENOSPC`. */
import { SnapshotError } from '../contract/errors.ts';

export function errnoOf(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error) {
    return error.code;
  }
  return undefined;
}

export function isMissing(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT';
}

/** ENOTDIR: rename of a directory onto a file or a link; EEXIST is what xfs says for ENOTEMPTY. */
export function saysExists(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'ENOTDIR' || code === 'EISDIR';
}

export function saysNoSpace(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The process or the machine is out of descriptors or memory for the moment; the package may be perfectly well. */
export function saysExhausted(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM' || code === 'EAGAIN';
}

export function unavailableNow(cause: unknown): SnapshotError<'unavailable'> {
  return new SnapshotError(
    'unavailable',
    `The service is out of descriptors or memory for the moment (${errnoOf(cause) ?? 'unknown'}); try again shortly.`,
    { retry_after_seconds: 1 },
    { cause },
  );
}
