/** Problems of the request itself: how it is written, who sends it and what it asks for. */
const ID = '0123456789abcdef0123456789abcdef';
const ATTEMPT = 'staging/7d9f2c4be6a84f0f9f0c2f4a1f6f3b5e';
const SHA256 = '485c8e0f62f8433582b3cc2ae4f3f0236bac23899353059f54edb56487d12c82';

export const REQUEST_PROBLEMS = {
  malformed_multipart: {
    when: 'The body of a publication cannot be read as multipart/form-data in one way only, or is cut short.',
    remedy: 'Build the body with an ordinary multipart library and send it whole; nothing was published.',
    example: {
      detail:
        'The request body is cut short: the connection was lost after 4096 bytes; send the request again.',
      details: {},
      attempt: ATTEMPT,
    },
  },
  malformed_json: {
    when: 'The metadata is no strict JSON: duplicate names, invalid UTF-8, a byte order mark, NaN, or text behind its end.',
    remedy: 'Correct the document at the line and column named and publish again.',
    example: {
      detail: 'Line 1, column 87: expected each name once in an object, found "scope" again.',
      details: { line: 1, column: 87 },
    },
  },
  metadata_missing: {
    when: 'The first part of the body is not named "metadata".',
    remedy: 'Send the metadata document first and the arrays after it.',
    example: {
      detail: 'The first part must be named "metadata" and hold the JSON document; found a part named "ids".',
      details: {},
    },
  },
  invalid_request: {
    when: 'A query parameter, a header or the path cannot be used, or the content is not what Content-Digest says of it.',
    remedy: 'Correct what is named in errors or in the detail and send the request again.',
    example: {
      detail: 'The query is invalid. limit: expected a whole number from 1 to 10000',
      details: { errors: [{ path: 'limit', message: 'expected a whole number from 1 to 10000' }] },
    },
  },
  invalid_snapshot_id: {
    when: 'The snapshot id in the path is none.',
    remedy: 'Use the 32 lowercase hex digits of the id; other spellings are never converted.',
    example: {
      detail: '"latest" is not a snapshot id: 32 lowercase hex digits are expected.',
      details: { expected: '[0-9a-f]{32}' },
    },
  },
  unauthorized: {
    when: 'The service was started with a token, and the request has none or another one.',
    remedy: 'Send "Authorization: Bearer <token>" with the token that the service was started with.',
    example: {
      detail: 'This service needs a token: send it as "Authorization: Bearer <token>".',
      details: {},
    },
  },
  forbidden_host: {
    when: 'The Host header names none of the hosts that the service answers to, as with DNS rebinding.',
    remedy:
      'Call the service by one of its own names, or have its operator add the name to SNAPSHOTS_ALLOWED_HOSTS.',
    example: {
      detail:
        'The request does not name exactly one host that this service answers to; call it by one of its own names, or add ' +
        'the name to SNAPSHOTS_ALLOWED_HOSTS.',
      details: {},
    },
  },
  forbidden_origin: {
    when: 'A browser says that the request comes from a page of another site.',
    remedy: 'Use a page of the service itself, or a program; pages of other sites are never answered.',
    example: {
      detail:
        'The request comes from a page of another site (Origin or Sec-Fetch-Site); this service answers its own pages and ' +
        'programs only. Open the page of the service itself, or use a program.',
      details: {},
    },
  },
  snapshot_not_found: {
    when: 'No snapshot of this id is published; there is no latest version and no live source to fall back on.',
    remedy: 'Look the id up in GET /snapshots; if its publication failed, GET /incomplete shows the attempt.',
    example: { detail: `No snapshot ${ID} is published in this store.`, details: { snapshot_id: ID } },
  },
  array_not_found: {
    when: 'The snapshot is there and has no array of this key.',
    remedy: 'Take one of the keys under arrays in the manifest.',
    example: { detail: `Snapshot ${ID} has no array "ids".`, details: { snapshot_id: ID, array: 'ids' } },
  },
  not_found: {
    when: 'There is nothing at this path.',
    remedy: 'Compare the path with /openapi.json; paths are case-sensitive and end without a slash.',
    example: {
      detail:
        'There is nothing at this path; /docs shows what there is, and /openapi.json says it to programs.',
      details: {},
    },
  },
  method_not_allowed: {
    when: 'The resource does not know the method, or the service is read-only and the request publishes.',
    remedy: 'Use a method of the Allow header; publish to the service that owns the store.',
    example: {
      detail: 'PUT cannot be used here; use GET or HEAD or POST.',
      details: { allow: ['GET', 'HEAD', 'POST'] },
    },
  },
  precondition_failed: {
    when: 'If-Match names another state than the stored one, or comes with a publication.',
    remedy: 'Read the snapshot again without If-Match; published snapshots never change.',
    example: {
      detail:
        'If-Match names another state than the stored one; published snapshots never change, so it was never this one. Ask ' +
        'without If-Match.',
      details: { expected: `"${SHA256}"`, actual: '"another"' },
    },
  },
  upload_stalled: {
    when: 'A client sent nothing for longer than the idle limit, though the service was ready to read.',
    remedy:
      'Send the whole request again; nothing was published, and what arrived stays visible in GET /incomplete.',
    example: {
      detail: 'No bytes arrived for 60 seconds; nothing was published. Send the whole snapshot again.',
      details: { idle_seconds: 60 },
      attempt: ATTEMPT,
    },
  },
} as const;
