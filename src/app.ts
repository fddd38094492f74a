/** The composition root: one Fastify instance from settings and a store; starts nothing and reads no environment. */
import { METHODS } from 'node:http';
import multipart from '@fastify/multipart';
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
} from 'fastify';
import { arrayRoutes } from '../routes/array.ts';
import { comparisonRoute } from '../routes/comparison.ts';
import { contextsRoute } from '../routes/contexts.ts';
import { docsRoutes } from '../routes/docs.ts';
import { incompleteRoute } from '../routes/incomplete.ts';
import { openApiRoute } from '../routes/openapi.ts';
import { packageTarRoute } from '../routes/package-tar.ts';
import { pageRoutes } from '../routes/page.ts';
import { metricsRoute } from '../routes/metrics.ts';
import { probeRoutes, PROBE_PATHS } from '../routes/probes.ts';
import { problemRoutes } from '../routes/problems.ts';
import { publishRoute } from '../routes/publish.ts';
import { snapshotRoutes } from '../routes/snapshot.ts';
import { listingRoute } from '../routes/snapshots.ts';
import { processesOf, type Config } from './config.ts';
import { Doors } from './doors.ts';
import { clientErrorHandler, refuseTunnels } from './http/client-errors.ts';
import { Connections, headerSecondsOf } from './http/connections.ts';
import {
  closeAfterUnreadBody,
  registerErrorHandlers,
  sendProblem,
  type ErrorHandlerOptions,
} from './http/error-handler.ts';
import { allowedHosts, checkExpectation, checkHost, checkOrigin, checkToken } from './http/guards.ts';
import { Metrics } from './http/metrics.ts';
import { collectDocument } from './http/openapi/document.ts';
import { beginExchange } from './http/request-log.ts';
import { boundAnswer, downloadPaceOf } from './http/send.ts';
import { addSecurityHeaders, registerSecurityHeaders } from './http/security-headers.ts';
import type { ServiceContext } from './http/service-context.ts';
import { queryValidator } from './http/parameters.ts';
import { pageFiles } from './page-files.ts';
import { ownPermits, Transfers } from './http/transfers.ts';
import type { SnapshotStore } from './store/snapshot-store.ts';

export interface App {
  readonly server: FastifyInstance;
  readonly transfers: Transfers;
  readonly connections: Connections;
}

/** A refused body is drained for at most this long before its sender is answered anyway. */
const DRAIN_MS = 30_000;

export async function buildApp(
  config: Config,
  store: SnapshotStore,
  logger: FastifyBaseLogger | false,
  metrics = new Metrics(),
  doors = new Doors(config),
  permits = ownPermits(config.maxUploads),
): Promise<App> {
  const processes = processesOf(config);
  const idleMs = config.idleSeconds * 1000;
  let connections: Connections | undefined;
  const allConnections = (): Connections => {
    if (connections === undefined) throw new Error('The framework made no server.');
    return connections;
  };
  const handling: ErrorHandlerOptions = {
    connections: allConnections,
    drainBounds: { bytes: config.maxDrainBytes, ms: DRAIN_MS, idleMs: Math.min(idleMs, 5_000) },
    basePath: config.basePath,
  };
  const context: ServiceContext = {
    config,
    store,
    transfers: new Transfers({ uploads: permits, downloadBytes: config.maxDownloadBytes, processes }),
  };
  const guard = guardOf(context, doors);
  const server = Fastify({
    ...(logger === false ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    serverFactory: (listener) => {
      connections = new Connections(listener, config.idleSeconds, doors.tls, processes);
      return connections.server;
    },
    clientErrorHandler: clientErrorHandler({
      basePath: config.basePath,
      headerSeconds: headerSecondsOf(config.idleSeconds),
      connections: () => connections,
    }),
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 200 },
    // A request whose URL cannot be read reaches no hook, and yet must pass the same guards.
    frameworkErrors: (error, request, reply) => {
      beginExchange(allConnections(), metrics, request, reply);
      addSecurityHeaders(reply);
      sendProblem(refusalBy(guard, request) ?? error, request, reply, handling).catch(() => {
        reply.raw.destroy();
      });
    },
  });
  refuseTunnels(allConnections(), server.log, config.basePath);
  // Methods that Node reads and the framework does not know would be failures of the service instead of refusals.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !server.supportedMethods.includes(method)) server.addHttpMethod(method);
  }
  server.decorateRequest('exchange');
  server.addHook('onRequest', (request, reply, done) => {
    beginExchange(allConnections(), metrics, request, reply);
    done();
  });
  metrics.watch(store, context.transfers);
  registerSecurityHeaders(server);
  server.addHook('onRequest', (request, _reply, done) => {
    guard(request);
    done();
  });
  registerAnswerLimits(server, context, handling);
  registerErrorHandlers(server, handling);
  acceptOnlyMultipart(server);
  await server.register(multipart);
  server.setValidatorCompiler(queryValidator);
  await collectDocument(server, config.basePath);
  await server.register(
    async (routes) => {
      // In the order of the document.
      publishRoute(routes, context);
      listingRoute(routes, context);
      snapshotRoutes(routes, context);
      packageTarRoute(routes, context);
      arrayRoutes(routes, context);
      comparisonRoute(routes, context);
      incompleteRoute(routes, context);
      contextsRoute(routes, context);
      probeRoutes(routes, context);
      metricsRoute(routes, metrics);
      pageRoutes(routes, context, pageFiles());
      openApiRoute(routes);
      await docsRoutes(routes, context);
      problemRoutes(routes, context);
    },
    { prefix: config.basePath },
  );
  return { server, transfers: context.transfers, connections: allConnections() };
}

type Guard = (request: FastifyRequest) => void;

/** Host, origin and token, in this order, before anything else of a request is looked at. Throws the refusal. */
function guardOf({ config, transfers }: ServiceContext, doors: Doors): Guard {
  const hosts = config.socket === undefined ? allowedHosts(config.host, config.allowedHosts) : null;
  const isPage = (route: string): boolean => /^\/(?:$|(?:docs|page)(?:\/|$))/u.test(route);
  return (request) => {
    const route = (request.routeOptions.url ?? '').slice(config.basePath.length);
    const isProbe = PROBE_PATHS.has(route);
    // Kubelets and load balancers ask by address, or under no name at all, and learn nothing that is not for everyone.
    if (!isProbe) checkHost(request.raw, hosts, doors.areGuarded);
    checkOrigin(request.method, request.headers);
    // The pages in which a token is entered load without one; neither they nor their files tell anything of the store.
    if (doors.areGuarded && !isProbe && !isPage(route)) checkToken(request, (token) => doors.accessOf(token));
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
  handling: ErrorHandlerOptions,
): void {
  server.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') await closeAfterUnreadBody(request, reply, handling);
  });
  const pace = downloadPaceOf(config);
  server.addHook('onSend', (request, reply, payload, done) => {
    if (transfers.stopping) void reply.header('connection', 'close');
    boundAnswer(request, reply, payload, { transfers, pace });
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
