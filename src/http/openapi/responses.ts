/** Answers as OpenAPI response objects: successes in place, refusals as shared components. */
import { SnapshotError, type ErrorCode } from '../../contract/errors.ts';
import { PROBLEMS } from '../../contract/problems.ts';
import { problemHeaders, problemOf, PROBLEM_MEDIA_TYPE } from '../problems.ts';
import { schemaRef } from './components.ts';
import { COMMON_HEADERS, headerRefs, HEADERS, type HeaderName } from './headers.ts';
import type { JsonObject } from './json-object.ts';
import type { Content, Operation, Success } from './operation.ts';

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

export function successResponse(success: Success, withContent: boolean): JsonObject {
  const { description, content, headers = [], optionalHeaders = [], links } = success;
  const length: readonly HeaderName[] = content === undefined ? [] : ['Content-Length'];
  return {
    description,
    headers: {
      ...headerRefs([...COMMON_HEADERS, ...length, ...headers]),
      ...Object.fromEntries(optionalHeaders.map((name) => [name, { ...HEADERS[name], required: false }])),
    },
    ...(content !== undefined && withContent ? { content: { [content.mediaType]: contentOf(content) } } : {}),
    ...(links === undefined ? {} : { links }),
  };
}

function contentOf({ schema, examples }: Content): JsonObject {
  return {
    ...(schema === undefined
      ? {}
      : { schema: typeof schema === 'string' ? { $ref: schemaRef(schema) } : schema }),
    ...(examples === undefined ? {} : { examples }),
  };
}
