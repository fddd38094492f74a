/** Renders every refusal as a problem document, and lets its sender hear it (CONTRACT, section 3). */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SnapshotError } from '../contract/errors.ts';
import { PROBLEMS } from '../contract/problems.ts';
import { asSnapshotError, problemHeaders, problemOf, PROBLEM_MEDIA_TYPE } from './problems.ts';
import type { Connections } from './connections.ts';
import { disposeOfBody, type DrainBounds } from './request-body.ts';
import { addSecurityHeaders } from './security-headers.ts';
import { sendJson } from './send.ts';

export interface ErrorHandlerOptions {
  readonly connections: () => Connections;
  readonly drainBounds: DrainBounds;
  /** Path prefix of the service, nothing or `/…`. */
  readonly basePath: string;
}

/** Answers with the problem document of `error`, after what the client still sends has been seen to. */
export async function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ErrorHandlerOptions,
): Promise<FastifyReply> {
  const { exchange } = request;
  // What ends because its client has left is no failure of anything, and there is nobody to tell.
  if (exchange.isOver) return reply.hijack();
  const refusal = asSnapshotError(error);
  const { status } = PROBLEMS[refusal.code];
  exchange.outcome.code = refusal.code;
  if (refusal.attempt !== undefined) {
    exchange.outcome.attempt = refusal.attempt;
    exchange.outcome.detail = refusal.message;
  }
  if (status >= 500) request.log.error({ err: refusal }, refusal.message);
  await closeAfterUnreadBody(request, reply, options);
  const problem = problemOf(refusal, `urn:request:${request.id}`, options.basePath);
  dropHeaders(reply);
  void reply.code(status).headers(problemHeaders(refusal)).header('cache-control', 'no-store');
  return sendJson(reply, problem, PROBLEM_MEDIA_TYPE);
}

/** A refusal that takes the place of an answer says nothing that was said of that one. */
function dropHeaders(reply: FastifyReply): void {
  for (const name of Object.keys(reply.getHeaders()))
    if (name !== 'connection') void reply.removeHeader(name);
  addSecurityHeaders(reply);
}

/** No answer leaves while its request's body is still on the way, whatever is answered. */
export async function closeAfterUnreadBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { connections, drainBounds }: ErrorHandlerOptions,
): Promise<void> {
  const isRead = await disposeOfBody(request.exchange, connections(), drainBounds);
  if (!isRead) void reply.header('connection', 'close');
}

/** Registers the handlers for errors and for paths and methods that do not exist. */
export function registerErrorHandlers(app: FastifyInstance, options: ErrorHandlerOptions): void {
  const resources = new Map<string, Set<string>>();
  app.addHook('onRoute', (route) => {
    const methods = resources.get(route.url) ?? new Set<string>();
    for (const method of [route.method].flat()) methods.add(method);
    resources.set(route.url, methods);
  });
  app.setErrorHandler((error: FastifyError, request, reply) => sendProblem(error, request, reply, options));
  const refusal = (request: FastifyRequest): SnapshotError => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allow = allowedMethods(resources, path);
    return allow.length === 0 || allow.includes(request.method)
      ? nothingHere(options.basePath)
      : new SnapshotError(
          'method_not_allowed',
          `${request.method.slice(0, 20)} cannot be used here; use ${allow.join(' or ')}.`,
          { allow },
        );
  };
  // Before the framework asks anything of a body that nothing will read, such as a media type of a QUERY.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404 || hasEmptyName(request)) throw refusal(request);
    done();
  });
  app.setNotFoundHandler((request, reply) => sendProblem(refusal(request), request, reply, options));
}

/** `/snapshots/` is nothing, not the snapshot of an empty id. */
function hasEmptyName({ params }: FastifyRequest): boolean {
  return Object.entries(params as Record<string, string>).some(
    ([name, value]) => name !== '*' && value === '',
  );
}

export function nothingHere(basePath: string): SnapshotError<'not_found'> {
  return new SnapshotError(
    'not_found',
    `There is nothing at this path; ${basePath}/docs shows what there is, and ${basePath}/openapi.json says it to programs.`,
    {},
  );
}

function allowedMethods(resources: ReadonlyMap<string, ReadonlySet<string>>, path: string): string[] {
  const allow = new Set<string>();
  for (const [pattern, methods] of resources) {
    if (!matches(pattern, path)) continue;
    for (const method of methods) allow.add(method);
  }
  // Whatever answers GET answers HEAD, also where a plugin's route is widened after it was announced.
  if (allow.has('GET')) allow.add('HEAD');
  return [...allow].sort();
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/');
  const actual = path.split('/');
  if (expected.at(-1) === '*')
    return actual.length >= expected.length && sameStart(expected.slice(0, -1), actual);
  return expected.length === actual.length && sameStart(expected, actual);
}

function sameStart(expected: readonly string[], actual: readonly string[]): boolean {
  return expected.every((segment, index) =>
    segment.startsWith(':') ? actual[index] !== '' : segment === actual[index],
  );
}
