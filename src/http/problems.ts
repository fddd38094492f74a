/** Problem documents (RFC 9457): one table maps the closed set of codes to HTTP, one function renders. */
import { isAnySnapshotError, SnapshotError, type ErrorCode } from '../contract/errors.ts';
import { detailOf } from './problem-advice.ts';

interface ProblemKind {
  readonly status: number;
  readonly title: string;
}

/** Complete by construction: a new code does not compile until it has its row. */
export const PROBLEMS = {
  malformed_multipart: { status: 400, title: 'The multipart body is malformed' },
  malformed_json: { status: 400, title: 'The metadata is not strict JSON' },
  metadata_missing: { status: 400, title: 'The first part is not the metadata' },
  invalid_request: { status: 400, title: 'The request is invalid' },
  invalid_snapshot_id: { status: 400, title: 'Not a snapshot id' },
  unauthorized: { status: 401, title: 'A token is needed' },
  forbidden_host: { status: 403, title: 'The Host is not allowed' },
  forbidden_origin: { status: 403, title: 'Cross-site requests are not allowed' },
  snapshot_not_found: { status: 404, title: 'No such snapshot' },
  array_not_found: { status: 404, title: 'No such array' },
  not_found: { status: 404, title: 'No such resource' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  upload_stalled: { status: 408, title: 'The upload stalled' },
  snapshot_exists: { status: 409, title: 'The snapshot exists' },
  publication_in_progress: { status: 409, title: 'The snapshot is being published' },
  precondition_failed: { status: 412, title: 'The precondition does not hold' },
  limit_exceeded: { status: 413, title: 'A limit is exceeded' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported' },
  range_not_satisfiable: { status: 416, title: 'The range cannot be satisfied' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  contract_violation: { status: 422, title: 'The document breaks the contract' },
  fingerprint_context_mismatch: {
    status: 422,
    title: 'The fingerprint context does not match its declaration',
  },
  parent_not_complete: { status: 422, title: 'The parent is not a published, valid snapshot' },
  array_mismatch: { status: 422, title: 'The arrays are not those declared' },
  storage_integrity: { status: 500, title: 'Stored bytes cannot be proven' },
  unsupported_package: { status: 500, title: 'The stored package is of an unsupported kind' },
  publication_failed: { status: 500, title: 'The publication failed' },
  publication_uncertain: { status: 500, title: 'The publication may have succeeded' },
  internal_error: { status: 500, title: 'Unexpected error' },
  unavailable: { status: 503, title: 'Not available for the moment' },
  insufficient_storage: { status: 507, title: 'Not enough storage' },
} as const satisfies Record<ErrorCode, ProblemKind>;

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ErrorCode;
  readonly [member: string]: unknown;
}

/** Their `location` is a snapshot's: relative to the root in the store, a path of this service in an answer. */
const LOCATED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['snapshot_exists', 'publication_uncertain']);

/** The document for a refusal; `instance` names the request, so that it can be found in the log. */
export function problemOf(error: SnapshotError, instance: string, basePath: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  const { allow: _allow, ...details } = error.details as Record<string, unknown>;
  if (LOCATED.has(error.code)) details['location'] = `${basePath}/${String(details['location'])}`;
  return {
    type: `${basePath}/problems/${error.code}`,
    title,
    status,
    detail: detailOf(error),
    instance,
    code: error.code,
    ...details,
    ...(error.attempt === undefined ? {} : { attempt: error.attempt }),
  };
}

/** Headers that belong to a refusal. */
export function problemHeaders(error: SnapshotError): Readonly<Record<string, string>> {
  const details = error.details as Record<string, unknown>;
  const headers: Record<string, string> = {};
  if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer realm="pipewhy-snapshots"';
  if (Array.isArray(details['allow'])) headers['allow'] = details['allow'].join(', ');
  if (typeof details['retry_after_seconds'] === 'number') {
    headers['retry-after'] = String(details['retry_after_seconds']);
  }
  if (error.code === 'range_not_satisfiable')
    headers['content-range'] = `bytes */${String(details['byte_length'])}`;
  return headers;
}

/** Errors of the framework, by its own codes, in our words. */
const FRAMEWORK_ERRORS: Readonly<Record<string, (message: string) => SnapshotError>> = {
  FST_ERR_BAD_URL: () =>
    new SnapshotError(
      'invalid_request',
      'The path of the URL cannot be decoded; check its percent-encoding.',
      {},
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new SnapshotError(
      'unsupported_media_type',
      'The Content-Type cannot be read; send multipart/form-data with a boundary.',
      {
        expected: 'multipart/form-data; boundary=...',
      },
    ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new SnapshotError(
      'malformed_multipart',
      'The body is not as long as its Content-Length says; let the HTTP client count it, and send the request again.',
      {},
    ),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new SnapshotError(
      'not_found',
      'A part of the path is longer than any name here; compare it with /openapi.json.',
      {},
    ),
};

/** Any error as a refusal that may be shown; what is unexpected says nothing of its inside. */
export function asSnapshotError(error: unknown): SnapshotError {
  if (isAnySnapshotError(error)) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = FRAMEWORK_ERRORS[code];
  if (known !== undefined) return known(code);
  return new SnapshotError(
    'internal_error',
    'The service failed unexpectedly; the log has the details under the id of this request.',
    {},
    { cause: error },
  );
}
