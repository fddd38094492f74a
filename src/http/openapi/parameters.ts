/** `components.parameters`: every parameter that a request may carry. */
import { ARRAY_KEY_PATTERN, SNAPSHOT_ID_PATTERN } from '../../contract/ids.ts';
import { UINT64_PATTERN } from '../../contract/uint64.ts';
import { MAX_PAGE } from '../parameters.ts';
import type { JsonObject } from './json-object.ts';

const ID = '0123456789abcdef0123456789abcdef';
const snapshotId = { type: 'string', pattern: SNAPSHOT_ID_PATTERN.source, examples: [ID] } as const;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonObject;
}

/** In the document under the names of this table. */
const PARAMETERS = {
  SnapshotId: { name: 'snapshot_id', in: 'path', description: '32 lowercase hex digits', schema: snapshotId },
  ArrayKey: {
    name: 'key',
    in: 'path',
    description: 'Key of an array of the snapshot',
    schema: { type: 'string', pattern: ARRAY_KEY_PATTERN.source, examples: ['ids'] },
  },
  ProblemCode: {
    name: 'code',
    in: 'path',
    description: 'The code of a problem document',
    schema: { type: 'string', pattern: '^[a-z_]+$', examples: ['snapshot_exists'] },
  },
  AssetName: {
    name: 'file',
    in: 'path',
    description: 'A file of the page /docs',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]+$', examples: ['swagger-ui.css'] },
  },
  Limit: {
    name: 'limit',
    in: 'query',
    description: 'At most this many; everything where it is left out',
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE },
  },
  AfterSnapshot: {
    name: 'after',
    in: 'query',
    description: '`next` of the page before, in the same order; in the order of ids any id',
    schema: {
      type: 'string',
      pattern: '^(?:(?:0|[1-9][0-9]{0,19}|damaged)\\.)?[0-9a-f]{32}$',
      examples: [ID],
    },
  },
  Since: {
    name: 'since',
    in: 'query',
    description: 'Only snapshots whose finished_at_ns is not before this time, in epoch nanoseconds',
    schema: { type: 'string', pattern: UINT64_PATTERN.source },
  },
  Until: {
    name: 'until',
    in: 'query',
    description: 'Only snapshots whose finished_at_ns is not after this time, in epoch nanoseconds',
    schema: { type: 'string', pattern: UINT64_PATTERN.source },
  },
  Order: {
    name: 'order',
    in: 'query',
    description: 'By id, or the last finished first (finished_at_ns) and then by id',
    schema: { type: 'string', enum: ['id', 'newest'], default: 'id' },
  },
  Proof: {
    name: 'proof',
    in: 'query',
    description: 'What is proven of each: every byte, or marker, manifest, inventory and lengths only',
    schema: { type: 'string', enum: ['all', 'frame'], default: 'all' },
  },
  Damaged: {
    name: 'damaged',
    in: 'query',
    description: 'Whether what cannot be proven fails the listing or is shown in it, with its problem',
    schema: { type: 'string', enum: ['fail', 'show'], default: 'fail' },
  },
  SourceNamespace: {
    name: 'source_namespace',
    in: 'query',
    description: 'Only snapshots of exactly this source_namespace',
    schema: { type: 'string', minLength: 1 },
  },
  ParentId: {
    name: 'parent_id',
    in: 'query',
    description: 'Only snapshots with this parent',
    schema: snapshotId,
  },
  AfterAttempt: {
    name: 'after',
    in: 'query',
    description: 'Only names after this one: `next` of the page before',
    schema: { type: 'string', minLength: 1, maxLength: 1020 },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Entity tags, or `*`; 412 unless the stored one is among them',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'Entity tags that the client has; 304, after the same proof, if the stored one is among them',
    schema: { type: 'string' },
  },
  IfNoneMatchAny: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'Accepted and always kept: a publication creates a snapshot or answers 409, with or without it',
    schema: { type: 'string', examples: ['*'] },
  },
  IfModifiedSince: {
    name: 'If-Modified-Since',
    in: 'header',
    description: 'The Last-Modified of the file that the client has',
    schema: { type: 'string' },
  },
  Range: {
    name: 'Range',
    in: 'header',
    description: 'One range of bytes; several, or other units, are answered with everything (RFC 9110, 14.2)',
    schema: { type: 'string', examples: ['bytes=0-7'] },
  },
  IfRange: {
    name: 'If-Range',
    in: 'header',
    description: 'The entity tag of the bytes that the client has; everything is sent if it is another',
    schema: { type: 'string' },
  },
  WantReprDigest: {
    name: 'Want-Repr-Digest',
    in: 'header',
    description:
      'SHA-256 is what there is (RFC 9530, 4). Repr-Digest is sent whatever is asked for, only a .npy file has it just for ' +
      'sha-256 with 1 to 10, as the file is then hashed beside the array.',
    schema: { type: 'string', examples: ['sha-256=10'] },
  },
  ContentDigest: {
    name: 'Content-Digest',
    in: 'header',
    description:
      'sha-256 or sha-512 of the whole body (RFC 9530). What does not match is refused, and nothing is published; ' +
      'other algorithms are passed over.',
    schema: { type: 'string', examples: ['sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:'] },
  },
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;

export function parameterComponents(): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.entries(PARAMETERS).map(([name, parameter]) => [
      name,
      { ...parameter, required: parameter.in === 'path' },
    ]),
  );
}

export function parameterRefs(names: readonly ParameterName[]): JsonObject[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
