/** Holds answers against the OpenAPI document: nothing may be sent that it does not describe. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import type { ErrorCode } from '../../src/contract/errors.ts';
import { PROBLEMS } from '../../src/contract/problems.ts';
import { openApiDocument } from './document.ts';

/** One answer as it went over the wire. */
export interface Exchange {
  readonly method: string;
  /** The request target: a path with its query, without the base path. */
  readonly url: string;
  readonly status: number;
  /** Lower case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null where it was not sent to its end, or is too long to be kept. */
  readonly body: Buffer | null;
}

type Schema = Readonly<Record<string, unknown>>;

interface HeaderObject {
  readonly required: boolean;
  readonly schema: Schema;
}

interface ResponseObject {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  readonly content?: Readonly<
    Record<string, { readonly schema?: Schema; readonly examples?: Readonly<Record<string, unknown>> }>
  >;
}

interface OperationObject {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

const DOCUMENT = await openApiDocument();

/** Of the connection and not of the answer (RFC 9110, 7.6 and 6.6.1); Content-Type is judged as the media type. */
const TRANSPORT = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-type']);

/** What the document says of paths and methods that it does not have. */
const NOWHERE: readonly [number, readonly string[]][] = [
  [400, ['invalid_request', 'invalid_snapshot_id']],
  [401, ['unauthorized']],
  [403, ['forbidden_host', 'forbidden_origin']],
  [404, ['not_found']],
  [405, ['method_not_allowed']],
  [408, ['upload_stalled']],
  [413, ['limit_exceeded']],
  [417, ['expectation_failed']],
  [431, ['limit_exceeded']],
  [500, ['internal_error']],
  [503, ['unavailable']],
];

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', components: { schemas: closed(DOCUMENT.components['schemas']) } });

/** Objects whose members are all named may have no others here, though clients must let them pass (RFC 9457, 3.2). */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closed(value)]),
  );
  if (copy['type'] === 'object' && 'properties' in copy && !('additionalProperties' in copy)) {
    copy['additionalProperties'] = false;
  }
  return copy;
}

const validators = new Map<string, ValidateFunction>();

/** What is wrong with a value by a schema of the document; empty when nothing is. */
export function schemaViolations(schema: Schema, value: unknown): string[] {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
  validators.set(text, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${instancePath === '' ? 'the body' : instancePath} ${message ?? 'is wrong'} ${JSON.stringify(params)}`,
  );
}

export function resolved<T extends object>(object: T & { readonly $ref?: string }): T {
  const { $ref } = object;
  if ($ref === undefined) return object;
  return $ref
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (node, name) => (node as Schema)[name.replaceAll('~1', '/').replaceAll('~0', '~')],
      DOCUMENT,
    ) as T;
}

interface PathEntry {
  readonly path: string;
  readonly segments: readonly RegExp[];
  readonly item: Readonly<Record<string, OperationObject>>;
}

/** Paths without parameters first, as routing has it. */
const PATHS: readonly PathEntry[] = Object.entries(DOCUMENT.paths)
  .sort(([a], [b]) => a.split('{').length - b.split('{').length)
  .map(([path, item]) => ({
    path,
    segments: path.split('/').map(segmentPattern),
    item: item as unknown as PathEntry['item'],
  }));

function segmentPattern(segment: string): RegExp {
  const literals = segment.split(/\{[^}]+\}/u).map((text) => text.replace(/[.]/gu, '\\.'));
  return new RegExp(`^${literals.join('.+')}$`, 'su');
}

/** The documented path that a request target falls under; undefined where there is none. */
export function documentedPath(url: string): string | undefined {
  return entryOf(url)?.path;
}

function entryOf(url: string): PathEntry | undefined {
  const path = url.replace(/^[a-z]+:\/\/[^/]*/iu, '').split('?', 1)[0] ?? '';
  let segments: string[];
  try {
    segments = path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
  // Described as an alias of /docs.
  if (path === '/docs/') segments.pop();
  return PATHS.find(
    (entry) =>
      entry.segments.length === segments.length &&
      entry.segments.every((pattern, index) => pattern.test(segments[index]!)),
  );
}

/** Every way in which an answer is not one that the document describes. */
export function violationsOf(exchange: Exchange): string[] {
  const entry = entryOf(exchange.url);
  const operation = entry?.item[exchange.method.toLowerCase()];
  const found =
    entry === undefined || operation === undefined
      ? refusedViolations(exchange, entry)
      : describedViolations(exchange, operation, entry);
  return found.map(
    (text) => `${exchange.method} ${exchange.url.slice(0, 120)} -> ${exchange.status}: ${text}`,
  );
}

function describedViolations(exchange: Exchange, operation: OperationObject, { item }: PathEntry): string[] {
  const { method, status } = exchange;
  const reference = operation.responses[status];
  if (reference === undefined) return [`the status is not documented for ${operation.operationId}`];
  const response = resolved(reference);
  const full = method === 'HEAD' ? item['get']?.responses[status] : reference;
  const content = full === undefined ? undefined : resolved(full).content;
  return [...headerViolations(exchange, response), ...contentViolations(exchange, content)];
}

function headerViolations({ headers }: Exchange, { headers: described = {} }: ResponseObject): string[] {
  const violations: string[] = [];
  const known = new Map(
    Object.entries(described).map(([name, header]) => [name.toLowerCase(), resolved(header)]),
  );
  for (const [name, header] of known) {
    if (header.required && headers[name] === undefined) violations.push(`the header ${name} is missing`);
  }
  for (const [name, value] of Object.entries(headers)) {
    if (TRANSPORT.has(name)) continue;
    const header = known.get(name);
    if (header === undefined) violations.push(`the header ${name} is not documented`);
    else violations.push(...headerValueViolations(name, value, header.schema));
  }
  return violations;
}

function headerValueViolations(name: string, value: string, schema: Schema): string[] {
  const typed = schema['type'] === 'integer' && /^\d+$/u.test(value) ? Number(value) : value;
  return schemaViolations(schema, typed).map((text) => `the header ${name} (${value}): ${text}`);
}

function contentViolations(exchange: Exchange, content: ResponseObject['content']): string[] {
  const { headers, method, body } = exchange;
  const mediaType = headers['content-type'];
  if (content === undefined) {
    const found = [mediaType === undefined ? '' : `Content-Type ${mediaType}`, body?.length ? 'content' : ''];
    return found.filter((text) => text !== '').map((text) => `there is ${text}, but none is documented`);
  }
  if (mediaType === undefined) return ['there is no Content-Type'];
  const described = content[mediaType] ?? content['*/*'];
  if (described === undefined) return [`the media type ${mediaType} is not documented`];
  if (method === 'HEAD' || body === null || described.schema === undefined) return [];
  const text = body.toString('utf8');
  const isJson = /^application\/([a-z]+\+)?json\b/u.test(mediaType);
  const value: unknown = isJson ? JSON.parse(text) : text;
  const violations = schemaViolations(described.schema, value);
  if (mediaType !== 'application/problem+json' || violations.length > 0) return violations;
  return problemViolations(value, Object.keys(described.examples ?? {}));
}

/** The document of every code is one schema; here each has to be of a code named there, with the members of that code. */
export function problemViolations(value: unknown, codes: readonly string[]): string[] {
  const { code, ...members } = value as { readonly code: ErrorCode; readonly [member: string]: unknown };
  if (!codes.includes(code)) return [`the code ${code} is not one that is documented there`];
  const { title, details } = PROBLEMS[code];
  const allowed = new Set([...COMMON_MEMBERS, ...Object.keys(details)]);
  return [
    ...Object.keys(members).flatMap((name) => (allowed.has(name) ? [] : [`${name} is no member of ${code}`])),
    ...(members['title'] === title ? [] : [`the title is not that of ${code}`]),
    ...((members['type'] as string).endsWith(`/problems/${code}`) ? [] : [`the type is not that of ${code}`]),
  ];
}

const COMMON_MEMBERS = ['type', 'title', 'status', 'detail', 'instance', 'attempt'];

/** Where there is no operation there can only be a refusal; 405 names what there is. */
function refusedViolations(exchange: Exchange, entry: PathEntry | undefined): string[] {
  const { status, headers, method, body } = exchange;
  const codes = NOWHERE.find(([known]) => known === status)?.[1];
  if (codes === undefined) return ['neither the path nor its answer is documented'];
  const violations: string[] = [];
  if (headers['content-type'] !== 'application/problem+json') violations.push('is no problem document');
  else if (method !== 'HEAD' && body !== null && body.length > 0) {
    const { code } = JSON.parse(body.toString('utf8')) as { code: string };
    if (!codes.includes(code)) violations.push(`the code ${code} is not one of a path that does not exist`);
  }
  if (status === 405 && entry !== undefined) {
    const documented = Object.keys(entry.item)
      .map((name) => name.toUpperCase())
      .sort()
      .join(', ');
    if (headers['allow'] !== documented)
      violations.push(`Allow is ${headers['allow'] ?? 'missing'}, not ${documented}`);
  }
  return violations;
}

const MAX_KEPT = 4 * 1024 * 1024;

/** Looks at every answer of a server, past the framework, and collects what is wrong with them. */
export function watchAnswers(server: Server, basePath: string): readonly string[] {
  const violations: string[] = [];
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const body = keepBody(response);
    response.once('close', () => {
      if (!response.headersSent) return;
      const { url = '', method = '' } = request;
      violations.push(
        ...violationsOf({
          method,
          url: url.startsWith(basePath) ? url.slice(basePath.length) : `/outside${url}`,
          status: response.statusCode,
          headers: sentHeaders(response),
          body: response.writableFinished ? body() : null,
        }),
      );
    });
  });
  return violations;
}

/** The head as it was written: what the framework hands to `writeHead` shows nowhere else. */
function sentHeaders(response: ServerResponse): Record<string, string> {
  const head = (response as unknown as { readonly _header: string })._header;
  const headers: Record<string, string> = {};
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
}

type Send = (...args: unknown[]) => never;

/** Copies what is written, as its memory may be used again; null once it is too much. */
function keepBody(response: ServerResponse): () => Buffer | null {
  const chunks: Buffer[] = [];
  let length = 0;
  const keep = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    length += chunk.length;
    if (length > MAX_KEPT) chunks.length = 0;
    else if (typeof chunk !== 'string') chunks.push(Buffer.from(chunk));
    else
      chunks.push(Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'));
  };
  const write = response.write.bind(response) as Send;
  const end = response.end.bind(response) as Send;
  const keeping =
    (send: Send): Send =>
    (...args) => {
      keep(args[0], args[1]);
      return send(...args);
    };
  response.write = keeping(write) as typeof response.write;
  response.end = keeping(end) as typeof response.end;
  return () => (length > MAX_KEPT ? null : Buffer.concat(chunks));
}
