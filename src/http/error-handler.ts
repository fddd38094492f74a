/** Renders every refusal as a problem document, and lets its sender hear it (CONTRACT, section 3). */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SnapshotError } from '../contract/errors.ts';
import { asSnapshotError, problemHeaders, problemOf, PROBLEM_MEDIA_TYPE, PROBLEMS } from './problems.ts';
import { disposeOfBody, type DrainBounds } from './request-body.ts';
import { sendJson } from './send-json.ts';

export interface ErrorHandlerOptions {
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
  const refusal = asSnapshotError(error);
  const { status } = PROBLEMS[refusal.code];
  request.outcome.code = refusal.code;
  if (refusal.attempt !== undefined) request.outcome.attempt = refusal.attempt;
  if (status >= 500) request.log.error({ err: refusal }, refusal.message);
  await closeAfterUnreadBody(request, reply, options.drainBounds);
  const problem = problemOf(refusal, `urn:request:${request.id}`, options.basePath);
  void reply.code(status).headers(problemHeaders(refusal)).header('cache-control', 'no-store');
  return sendJson(reply, problem, PROBLEM_MEDIA_TYPE);
}

/** No answer leaves while its request's body is still on the way, whatever is answered. */
export async function closeAfterUnreadBody(
  request: FastifyRequest,
  reply: FastifyReply,
  bounds: DrainBounds,
): Promise<void> {
  if (!(await disposeOfBody(request.raw, bounds))) void reply.header('connection', 'close');
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
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allow = allowedMethods(resources, path);
    const error =
      allow.length === 0 || allow.includes(request.method)
        ? nothingHere(options.basePath)
        : new SnapshotError(
            'method_not_allowed',
            `${request.method.slice(0, 20)} cannot be used here; use ${allow.join(' or ')}.`,
            { allow },
          );
    return sendProblem(error, request, reply, options);
  });
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
  return expected.every((segment, index) => segment.startsWith(':') || segment === actual[index]);
}
