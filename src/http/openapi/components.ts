/** `components.schemas` of the document: what the contract's own checks say of themselves, under names. */
import type { Check, JsonSchema } from '../../contract/checks.ts';
import { meaning, objectOf, oneOf, orNull, text, truth } from '../../contract/checks.ts';
import { comparison } from '../../contract/comparison.ts';
import { declarationsDocument } from '../../contract/contexts.ts';
import {
  arrayEntry,
  coverage,
  draftArray,
  draftDocument,
  draftSnapshot,
  fingerprint,
  manifest,
  snapshotMetadata,
} from '../../contract/documents.ts';
import {
  damagedSnapshot,
  incompleteAttempt,
  incompleteListing,
  PROOFS,
  snapshotSummary,
} from '../../contract/listings.ts';
import { ERROR_CODES, PROBLEMS, violation } from '../../contract/problems.ts';

/** A part of the document that is given as it is. */
export type JsonObject = JsonSchema;

const alive = objectOf('The process answers', { status: oneOf(['alive']) }, { open: true });

const ready = objectOf(
  'Requests can be served',
  { status: oneOf(['ready']), read_only: meaning('True where nothing can be published here', truth) },
  { open: true },
);

export const PACKAGE_NAME = 'pipewhy-snapshots';

export interface ServiceIndex {
  readonly name: typeof PACKAGE_NAME;
  readonly version: string;
  readonly resources: Readonly<Record<string, string>>;
}

const serviceIndex: JsonSchema = {
  type: 'object',
  required: ['name', 'version', 'resources'],
  properties: {
    name: { type: 'string', const: PACKAGE_NAME },
    version: { type: 'string', description: 'Of the package' },
    resources: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Paths that can be read without knowing any id, and what each is for',
    },
  },
  description: 'What is at this service',
};

/** One schema for all problems: a code that a client does not know is to be treated by its status. */
const problem: JsonSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', pattern: '/problems/[a-z_]+$', description: 'A page about this code, relative' },
    title: { type: 'string', enum: [...new Set(ERROR_CODES.map((code) => PROBLEMS[code].title))] },
    status: {
      type: 'integer',
      enum: [...new Set([...ERROR_CODES.map((code): number => PROBLEMS[code].status), 431])].sort(),
    },
    detail: {
      type: 'string',
      minLength: 1,
      description: 'What was wrong, where, what was expected, what to do',
    },
    instance: {
      type: 'string',
      pattern: '^urn:request:[0-9a-f-]{36}$',
      description: 'Names the request in the log',
    },
    code: { type: 'string', enum: ERROR_CODES, description: 'Stable; what programs decide by' },
    attempt: text('Where the failed attempt stays, relative to the root; see GET /incomplete').schema,
    ...detailSchemas(),
  },
  description:
    'A refusal (RFC 9457). Which members beside the first six there are depends on the code; see /problems/<code>.',
};

/** Members of one name mean the same in every code. `allow` is in the header of that name and nowhere else. */
function detailSchemas(): Record<string, JsonSchema> {
  const fields: Record<string, Check<unknown>> = Object.assign(
    {},
    ...ERROR_CODES.map((code) => PROBLEMS[code].details),
  ) as Record<string, Check<unknown>>;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { schema }]) => (name === 'allow' ? [] : [[name, schema]])),
  );
}

const snapshotListing: JsonSchema = {
  type: 'object',
  required: ['proof', 'snapshots', 'next'],
  properties: {
    proof: meaning('What of each entry was proven before it was listed', oneOf(PROOFS)).schema,
    snapshots: {
      type: 'array',
      items: { anyOf: [snapshotSummary.schema, damagedSnapshot.schema] },
      description:
        'In the order that was asked for; damaged ones only where the listing was asked to show them',
    },
    next: orNull(text('Pass it as after to go on; null at the end')).schema,
  },
  description: 'A page of snapshots',
};

const NAMED = {
  Manifest: manifest.schema,
  SnapshotMetadata: snapshotMetadata.schema,
  Coverage: coverage.schema,
  Fingerprint: fingerprint.schema,
  ArrayEntry: arrayEntry.schema,
  DraftManifest: draftDocument.schema,
  DraftSnapshot: draftSnapshot.schema,
  DraftArray: draftArray.schema,
  Declarations: declarationsDocument.schema,
  SnapshotListing: snapshotListing,
  SnapshotSummary: snapshotSummary.schema,
  DamagedSnapshot: damagedSnapshot.schema,
  Comparison: comparison.schema,
  IncompleteListing: incompleteListing.schema,
  IncompleteAttempt: incompleteAttempt.schema,
  ServiceIndex: serviceIndex,
  Alive: alive.schema,
  Ready: ready.schema,
  Problem: problem,
  Violation: violation.schema,
} as const satisfies Record<string, JsonSchema>;

export type SchemaName = keyof typeof NAMED;

/** JSON Schema 2020-12, which OpenAPI 3.1 takes as it is; rules that it cannot say are in the descriptions. */
export function schemaComponents(): Record<string, JsonObject> {
  const names = new Map<unknown, string>(Object.entries(NAMED).map(([name, schema]) => [schema, name]));
  const written = (node: unknown): unknown => {
    const name = names.get(node);
    return name === undefined ? copy(node) : { $ref: schemaRef(name) };
  };
  const copy = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(written);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, written(value)]));
  };
  return Object.fromEntries(
    Object.entries(NAMED).map(([name, schema]) => [name, copy(schema) as JsonObject]),
  );
}

export function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}
