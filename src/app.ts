/** The composition root: one Fastify instance from settings and a store; starts nothing and reads no environment. */
import multipart from '@fastify/multipart';
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
} from 'fastify';
import { arrayRoute } from '../routes/array.ts';
import { contextsRoute } from '../routes/contexts.ts';
import { docsRoutes } from '../routes/docs.ts';
import { incompleteRoute } from '../routes/incomplete.ts';
import { openApiRoute } from '../routes/openapi.ts';
import { packageTarRoute } from '../routes/package-tar.ts';
import { metricsRoute } from '../routes/metrics.ts';
import { probeRoutes, PROBE_PATHS } from '../routes/probes.ts';
import { problemRoutes } from '../routes/problems.ts';
import { publishRoute } from '../routes/publish.ts';
import { rootRoute } from '../routes/root.ts';
import { snapshotRoutes } from '../routes/snapshot.ts';
import { listingRoute } from '../routes/snapshots.ts';
import type { Config } from './config.ts';
import { clientErrorHandler } from './http/client-errors.ts';
import { Connections } from './http/connections.ts';
import { closeAfterUnreadBody, registerErrorHandlers, sendProblem } from './http/error-handler.ts';
import { allowedHosts, checkExpectation, checkHost, checkOrigin, tokenCheck } from './http/guards.ts';
import { headerSecondsOf, makeHttpServer } from './http/http-server.ts';
import { Metrics } from './http/metrics.ts';
import type { DrainBounds } from './http/request-body.ts';
import { registerRequestLog, startRequestLog } from './http/request-log.ts';
import { addSecurityHeaders, registerSecurityHeaders } from './http/security-headers.ts';
import type { ServiceContext } from './http/service-context.ts';
import { Transfers } from './http/transfers.ts';
import type { LocalSnapshotStore } from './store/local-snapshot-store.ts';

export interface App {
  readonly server: FastifyInstance;
  readonly transfers: Transfers;
  readonly connections: Connections;
}

/** A refused body is drained for at most this long before its sender is answered anyway. */
const DRAIN_MS = 30_000;

export async function buildApp(
  config: Config,
  store: LocalSnapshotStore,
  logger: FastifyBaseLogger | false,
  metrics = new Metrics(),
): Promise<App> {
  const idleMs = config.idleSeconds * 1000;
  const handling = {
    drainBounds: { bytes: config.maxDrainBytes, ms: DRAIN_MS, idleMs: Math.min(idleMs, 5_000) },
    basePath: config.basePath,
  };
  const context: ServiceContext = { config, store, transfers: new Transfers(config.maxUploads) };
  const guard = guardOf(context);
  let connections: Connections | undefined;
  const server = Fastify({
    ...(logger === false ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    serverFactory: (listener) => {
      const httpServer = makeHttpServer(listener, config.idleSeconds);
      connections = new Connections(httpServer);
      return httpServer;
    },
    clientErrorHandler: clientErrorHandler({
      basePath: config.basePath,
      headerSeconds: headerSecondsOf(config.idleSeconds),
      connections: () => connections,
    }),
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 200 },
    // A request whose URL cannot be read reaches no hook, and yet must pass the same guards.
    frameworkErrors: (error, request, reply) => {
      startRequestLog(request, reply);
      addSecurityHeaders(reply);
      sendProblem(refusalBy(guard, request) ?? error, request, reply, handling).catch(() => {
        reply.raw.destroy();
      });
    },
  });
  registerRequestLog(server);
  metrics.register(server);
  metrics.watch(store, context.transfers);
  registerSecurityHeaders(server);
  server.addHook('onRequest', (request, _reply, done) => {
    guard(request);
    done();
  });
  registerAnswerLimits(server, context, handling.drainBounds);
  registerErrorHandlers(server, handling);
  acceptOnlyMultipart(server);
  await server.register(multipart);
  await server.register(
    async (routes) => {
      rootRoute(routes, context);
      publishRoute(routes, context);
      listingRoute(routes, context);
      snapshotRoutes(routes, context);
      packageTarRoute(routes, context);
      arrayRoute(routes, context);
      incompleteRoute(routes, context);
      contextsRoute(routes, context);
      probeRoutes(routes, context);
      metricsRoute(routes, metrics);
      openApiRoute(routes, context);
      problemRoutes(routes, context);
      await docsRoutes(routes, context);
    },
    { prefix: config.basePath },
  );
  if (connections === undefined) throw new Error('The framework made no server.');
  return { server, transfers: context.transfers, connections };
}

type Guard = (request: FastifyRequest) => void;

/** Host, origin and token, in this order, before anything else of a request is looked at. Throws the refusal. */
function guardOf({ config, transfers }: ServiceContext): Guard {
  const hosts = config.socket === undefined ? allowedHosts(config.host, config.allowedHosts) : null;
  const checkToken = config.token === undefined ? null : tokenCheck(config.token);
  const probes = new Set([...PROBE_PATHS].map((path) => config.basePath + path));
  return (request) => {
    checkHost(request.raw, hosts);
    checkOrigin(request.method, request.headers);
    const route = request.routeOptions.url ?? '';
    const isProbe = probes.has(route);
    if (checkToken !== null && !isProbe) checkToken(request.headers.authorization);
    if (!isProbe) transfers.checkRunning();
    checkExpectation(request.headers);
  };
}

function refusalBy(guard: Guard, request: FastifyRequest): unknown {
  try {
    guard(request);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A body that means nothing is not read without bound, and an answer that nobody takes is not kept for ever. */
function registerAnswerLimits(
  server: FastifyInstance,
  { config, transfers }: ServiceContext,
  bounds: DrainBounds,
): void {
  server.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') await closeAfterUnreadBody(request, reply, bounds);
  });
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (transfers.stopping) void reply.header('connection', 'close');
    reply.raw.setTimeout(config.idleSeconds * 1000, () => reply.raw.destroy());
    done();
  });
}

/** No body but the upload's is ever parsed, and that one only by its own route. */
function acceptOnlyMultipart(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => {
    done(null);
  });
}
