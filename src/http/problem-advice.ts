/** What to do about a refusal whose own sentence only says what is wrong: the store does not know who asked, or how. */
import type { ErrorCode, SnapshotError } from '../contract/errors.ts';

/** By code; the sentences of all other codes say it themselves. */
const ADVICE: Partial<Readonly<Record<ErrorCode, string>>> = {
  snapshot_not_found: 'GET /snapshots lists what is; GET /incomplete shows attempts that did not get there.',
  array_not_found: 'The manifest of the snapshot names the arrays that it has.',
  array_mismatch:
    'Nothing was published; correct the arrays or what the metadata declares of them, and publish again.',
  // Its arrays were not looked at for this answer.
  snapshot_exists: 'Read it to have it proven; to publish other content, choose another id.',
  parent_not_complete: 'Publish the parent first, or leave parent_id null.',
  storage_integrity:
    'Nothing of it is given out: restore the package from a copy, or move away what does not belong there.',
  unsupported_package: 'Read it with software that supports it, or declare its algorithm and context.',
  publication_failed: 'See the log for the cause, then publish it again.',
};

const LIMIT_ADVICE = 'Send less, or have the operator raise the limit.';
const RAISABLE: readonly string[] = ['metadata_bytes', 'arrays', 'array_bytes', 'snapshot_bytes'];

/** The message of a refusal, and what to do. */
export function detailOf({ code, message, details }: SnapshotError): string {
  const advice = 'limit' in details && RAISABLE.includes(details.limit) ? LIMIT_ADVICE : ADVICE[code];
  if (advice === undefined) return message;
  return `${message}${/[.!?]$/u.test(message) ? '' : '.'} ${advice}`;
}
