/** Errors of the command for scripts: with `--json`, each is one problem document (RFC 9457). */
import { isProblemError, SnapshotClientError, type ClientErrorCode } from '../client/index.ts';
import { isAnySnapshotError } from '../contract/errors.ts';
import { PROBLEMS } from '../http/problems.ts';
import { UsageError } from './exit-codes.ts';

/** What did not come from a service has no page of its own and no status. */
const TYPE = 'about:blank';

const TITLES: Readonly<Record<ClientErrorCode, string>> = {
  connection_failed: 'The service cannot be reached',
  timeout: 'The service did not answer in time',
  checksum_mismatch: 'The bytes received are not the ones published',
  protocol_violation: 'The answer is not that of a snapshot service',
  source_failed: 'An array cannot be read',
  too_large: 'An array does not fit into memory',
  outcome_unknown: 'Whether the snapshot is published is unknown',
  invalid_option: 'Wrong use of the command',
};

export function problemDocumentOf(error: unknown): object {
  if (isProblemError(error)) return error.problem;
  const detail = error instanceof Error ? error.message : String(error);
  if (isAnySnapshotError(error)) {
    const { code, details } = error;
    return { type: `/problems/${code}`, ...PROBLEMS[code], detail, code, ...details };
  }
  if (error instanceof SnapshotClientError) {
    const { code } = error;
    const cause = isProblemError(error.cause) ? { cause: error.cause.problem } : {};
    return { type: TYPE, title: TITLES[code as ClientErrorCode], detail, code, ...cause };
  }
  if (error instanceof UsageError)
    return { type: TYPE, title: 'Wrong use of the command', detail, code: 'usage' };
  return { type: TYPE, title: 'The command failed', detail, code: 'failed' };
}
