/** What a route says of itself in its schema, and how that is written as an operation of OpenAPI 3.1. */
import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { SnapshotError, type ErrorCode } from '../../contract/errors.ts';
import { PROBLEMS } from '../../contract/problems.ts';
import { HTML_MEDIA_TYPE } from '../problem-pages.ts';
import { problemHeaders, problemOf, PROBLEM_MEDIA_TYPE } from '../problems.ts';
import { schemaRef, type JsonObject, type SchemaName } from './components.ts';
import { COMMON_HEADERS, headerRefs, HEADERS, type HeaderName } from './headers.ts';

interface Content {
  readonly mediaType: string;
  /** A component, or a schema of its own; bytes without it. */
  readonly schema?: SchemaName | JsonObject;
  readonly examples?: Readonly<Record<string, JsonObject>>;
}

export interface Success {
  readonly status: number;
  readonly description: string;
  readonly content?: Content;
  /** What the same address gives to those whose Accept asks for it. */
  readonly otherContent?: Content;
  /** Beside those that every answer carries. */
  readonly headers?: readonly HeaderName[];
  /** Which some of these answers carry. */
  readonly optionalHeaders?: readonly HeaderName[];
  readonly links?: JsonObject;
}

export type Tag = 'snapshots' | 'store' | 'operating' | 'documentation';

/** The schema of a route. A GET stands for its HEAD too: the same without the content. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly [Tag];
  readonly summary: string;
  readonly description: string;
  /** Checked by the handler, which knows the code of a refusal. */
  readonly params?: z.ZodObject;
  /** Checked before the handler, which gets what comes out of it. */
  readonly querystring?: z.ZodObject;
  /** Described only: what means nothing to the route is passed over. */
  readonly headers?: z.ZodObject;
  readonly requestBody?: JsonObject;
  readonly successes: readonly Success[];
  /** Codes beside those that every operation can answer with. */
  readonly refusals: readonly ErrorCode[];
  /** Needs no token, and answers while the service stops. */
  readonly probe?: boolean;
  /** Needs no token. */
  readonly open?: boolean;
}

/** Of everything that reads a snapshot. */
export const READ_REFUSALS = [
  'invalid_snapshot_id',
  'snapshot_not_found',
  'not_found',
  'precondition_failed',
  'storage_integrity',
  'unsupported_package',
] as const;

export const UNCHANGED = 'The client has these very bytes; given only after the same proof.';
/** For a file of the package, which is not of the store. */
export const UNCHANGED_FILE = 'The client has these very bytes.';

/** Generators of clients give a blob for it; OpenAPI 3.1 takes the format as it takes any. */
const BYTES: JsonObject = { type: 'string', format: 'binary' };

/** An answer for people. */
export const PAGE = {
  status: 200,
  description: 'The page',
  content: { mediaType: HTML_MEDIA_TYPE, schema: { type: 'string' } },
} as const satisfies Success;
/** An OpenAPI document, as an answer. */
export const DOCUMENT: JsonObject = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
};

/** For the `schema` of a route: nothing is left out of it. */
export function operation(given: Operation): Operation & FastifySchema {
  return given;
}

/** HEAD proves what GET proves and sends its headers. A range is never cut from it. */
export function headOf({ operationId, summary, successes, refusals, headers, ...get }: Operation): Operation {
  return {
    ...get,
    operationId: `head${operationId[0]?.toUpperCase() ?? ''}${operationId.slice(1)}`,
    summary: `${summary}, the headers alone`,
    successes: successes.filter(({ status }) => status !== 206),
    refusals: refusals.filter((code) => code !== 'range_not_satisfiable'),
    ...(headers === undefined ? {} : { headers: withoutRange(headers) }),
  };
}

function withoutRange({ shape }: z.ZodObject): z.ZodObject {
  return z.object(Object.fromEntries(Object.entries(shape).filter(([name]) => !/^(If-)?Range$/u.test(name))));
}

/** As the document has it; `withContent` is false for HEAD. */
export function writtenOperation(operation: Operation, refusals: Refusals, withContent: boolean): JsonObject {
  const { operationId, tags, summary, description, requestBody, successes, probe, open } = operation;
  const parameters = [
    ...parametersIn('path', operation.params),
    ...parametersIn('query', operation.querystring),
    ...parametersIn('header', operation.headers),
  ];
  return {
    operationId,
    tags,
    summary,
    description,
    ...(probe === true || open === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...Object.fromEntries(
        successes.map((success) => [success.status, successResponse(success, withContent)]),
      ),
      ...refusals.responses(operation, withContent),
    },
  };
}

/** A number travels as text and is described as the number that comes out of the check. */
function parametersIn(place: 'path' | 'query' | 'header', object: z.ZodObject | undefined): JsonObject[] {
  if (object === undefined) return [];
  const { properties = {} } = z.toJSONSchema(object, { io: 'output' });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as JsonObject;
    return { name, in: place, description, schema, required: place === 'path' };
  });
}

/** What any request may be answered with, whatever it asks for. */
const EVERYWHERE: readonly ErrorCode[] = [
  'invalid_request',
  'forbidden_host',
  'forbidden_origin',
  'upload_stalled',
  'limit_exceeded',
  'expectation_failed',
  'internal_error',
];

/** Statuses beside the one of the table: headers that are too long have one of their own (RFC 6585, 5). */
const MORE_STATUSES: Partial<Record<ErrorCode, readonly number[]>> = { limit_exceeded: [431] };

function statusesOf(code: ErrorCode): readonly number[] {
  return [PROBLEMS[code].status, ...(MORE_STATUSES[code] ?? [])];
}

export class Refusals {
  readonly #components = new Map<string, JsonObject>();

  /** Response objects by status; `withContent` is false for the answers to HEAD. */
  responses(operation: Operation, withContent: boolean): Record<string, JsonObject> {
    const codes = new Set<ErrorCode>([...EVERYWHERE, ...operation.refusals]);
    if (operation.probe !== true) codes.add('unavailable');
    if (operation.probe !== true && operation.open !== true) codes.add('unauthorized');
    const byStatus = new Map<number, ErrorCode[]>();
    // In the order of the table, so that equal sets have equal names.
    for (const code of (Object.keys(PROBLEMS) as ErrorCode[]).filter((known) => codes.has(known))) {
      for (const status of statusesOf(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    return Object.fromEntries(
      [...byStatus].map(([status, list]) => [status, this.#ref(status, list, withContent)]),
    );
  }

  components(): Record<string, JsonObject> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #ref(status: number, codes: readonly ErrorCode[], withContent: boolean): JsonObject {
    const name = `${withContent ? '' : 'Head'}Refusal${status}${codes.map(inCapitals).join('')}`;
    if (!this.#components.has(name)) this.#components.set(name, refusal(status, codes, withContent));
    return { $ref: `#/components/responses/${name}` };
  }
}

function refusal(status: number, codes: readonly ErrorCode[], withContent: boolean): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].when}`).join('\n\n'),
    headers: { ...headerRefs([...COMMON_HEADERS, 'Content-Length']), ...headersOf(codes) },
    ...(withContent ? { content: { [PROBLEM_MEDIA_TYPE]: problemContent(status, codes) } } : {}),
  };
}

function problemContent(status: number, codes: readonly ErrorCode[]): JsonObject {
  return {
    schema: { $ref: schemaRef('Problem') },
    examples: Object.fromEntries(codes.map((code) => [code, { value: { ...exampleOf(code), status } }])),
  };
}

/** `SnapshotExists` for `snapshot_exists`: generators take names of letters and digits. */
function inCapitals(code: ErrorCode): string {
  return code.replace(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase());
}

function exampleError(code: ErrorCode): SnapshotError {
  const { detail, details, attempt } = PROBLEMS[code].example;
  return new SnapshotError(code, detail, details, attempt === undefined ? {} : { attempt });
}

/** As the service itself renders it. */
function exampleOf(code: ErrorCode): JsonObject {
  return problemOf(exampleError(code), 'urn:request:3b241101-e2bb-4255-8caf-4136c566a962', '');
}

/** The headers that go with these codes, taken from what the service sends; required where all of the codes have them. */
function headersOf(codes: readonly ErrorCode[]): JsonObject {
  const sent = codes.map((code) => ({ code, headers: problemHeaders(exampleError(code)) }));
  const described: Record<string, JsonObject> = {};
  for (const name of Object.keys(HEADERS) as HeaderName[]) {
    const by = sent.filter(({ headers }) => name.toLowerCase() in headers).map(({ code }) => `\`${code}\``);
    if (by.length === 0) continue;
    described[name] =
      by.length === codes.length
        ? { $ref: `#/components/headers/${name}` }
        : {
            ...HEADERS[name],
            required: false,
            description: `${HEADERS[name].description}; with ${by.join(', ')}`,
          };
  }
  return described;
}

function successResponse(success: Success, withContent: boolean): JsonObject {
  const { description, content, otherContent, headers = [], optionalHeaders = [], links } = success;
  const contents = [content, otherContent].filter((one) => one !== undefined);
  const length: readonly HeaderName[] = content === undefined ? [] : ['Content-Length'];
  return {
    description,
    headers: {
      ...headerRefs([...COMMON_HEADERS, ...length, ...headers]),
      ...Object.fromEntries(optionalHeaders.map((name) => [name, { ...HEADERS[name], required: false }])),
    },
    ...(contents.length > 0 && withContent
      ? { content: Object.fromEntries(contents.map((one) => [one.mediaType, contentOf(one)])) }
      : {}),
    ...(links === undefined ? {} : { links }),
  };
}

function contentOf({ schema = BYTES, examples }: Content): JsonObject {
  return {
    schema: typeof schema === 'string' ? { $ref: schemaRef(schema) } : schema,
    ...(examples === undefined ? {} : { examples }),
  };
}
