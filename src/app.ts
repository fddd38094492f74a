/** The composition root: one Fastify instance from settings and a store; starts nothing and reads no environment. */
import multipart from '@fastify/multipart';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { arrayRoute } from '../routes/array.ts';
import { contextsRoute } from '../routes/contexts.ts';
import { incompleteRoute } from '../routes/incomplete.ts';
import { packageTarRoute } from '../routes/package-tar.ts';
import { metricsRoute } from '../routes/metrics.ts';
import { probeRoutes, PROBE_PATHS } from '../routes/probes.ts';
import { publishRoute } from '../routes/publish.ts';
import { snapshotRoutes } from '../routes/snapshot.ts';
import { listingRoute } from '../routes/snapshots.ts';
import type { Config } from './config.ts';
import { registerErrorHandlers, sendProblem } from './http/error-handler.ts';
import { allowedHosts, checkHost, checkOrigin, tokenCheck } from './http/guards.ts';
import { Metrics } from './http/metrics.ts';
import { holdContinue } from './http/request-body.ts';
import { registerRequestLog } from './http/request-log.ts';
import { registerSecurityHeaders } from './http/security-headers.ts';
import type { ServiceContext } from './http/service-context.ts';
import { Transfers } from './http/transfers.ts';
import type { LocalSnapshotStore } from './store/local-snapshot-store.ts';

export interface App {
  readonly server: FastifyInstance;
  readonly transfers: Transfers;
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
  const server = Fastify({
    ...(logger === false ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    // Uploads and downloads take as long as they take; their idle time is bounded where they run.
    requestTimeout: 0,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 200 },
    frameworkErrors: (error, request, reply) => {
      request.outcome ??= {};
      void sendProblem(error, request, reply, handling);
    },
  });
  const context: ServiceContext = { config, store, transfers: new Transfers(config.maxUploads) };
  holdContinue(server.server);
  registerRequestLog(server);
  metrics.register(server);
  metrics.watch(store, context.transfers);
  registerSecurityHeaders(server);
  registerGuards(server, context);
  registerErrorHandlers(server, handling);
  acceptOnlyMultipart(server);
  await server.register(multipart);
  await server.register(
    (routes, _options, done) => {
      publishRoute(routes, context);
      listingRoute(routes, context);
      snapshotRoutes(routes, context);
      packageTarRoute(routes, context);
      arrayRoute(routes, context);
      incompleteRoute(routes, context);
      contextsRoute(routes, context);
      probeRoutes(routes, context);
      metricsRoute(routes, metrics);
      done();
    },
    { prefix: config.basePath },
  );
  return { server, transfers: context.transfers };
}

/** Host, origin and token, in this order, before anything else of a request is looked at. */
function registerGuards(server: FastifyInstance, { config, transfers }: ServiceContext): void {
  const hosts = config.socket === undefined ? allowedHosts(config.host, config.allowedHosts) : null;
  const checkToken = config.token === undefined ? null : tokenCheck(config.token);
  const probes = new Set([...PROBE_PATHS].map((path) => config.basePath + path));
  server.addHook('onRequest', (request, _reply, done) => {
    checkHost(request.headers.host, hosts);
    checkOrigin(request.method, request.headers);
    const isProbe = probes.has(request.routeOptions.url ?? '');
    if (checkToken !== null && !isProbe) checkToken(request.headers.authorization);
    if (!isProbe) transfers.checkRunning();
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
