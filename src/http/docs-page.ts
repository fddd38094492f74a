/** The interactive page at /docs: Swagger UI from the package's own files, without a word to any other host. */
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyError, FastifyInstance } from 'fastify';
import { SnapshotError } from '../contract/errors.ts';
import { documentForPage, nameParts } from './docs-form.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import type { Operation } from './openapi/operation.ts';

const PATH = '/docs';

/** The page runs its own files and talks to its own service, and to nothing else. */
const PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  // Swagger UI sets styles on its elements.
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Files are sent whole or, by their time, not at all: what else the plugin would answer is no problem document. */
const IGNORED = ['range', 'if-range', 'if-match', 'if-none-match', 'if-unmodified-since'];

/** To be called in a scope of its own: what it hooks is for this page alone. `schemas` are by path. */
export async function registerDocsPage(
  scope: FastifyInstance,
  basePath: string,
  schemas: Readonly<Record<string, Operation>>,
): Promise<void> {
  completeRoutes(scope, (url) => schemas[url.slice(basePath.length)]);
  scope.addHook('onRequest', (request, _reply, done) => {
    // The plugin's own start page, in a second place and without its title.
    if (/\/static\/(index\.html)?(\?|$)/u.test(request.url)) throw noSuchFile();
    for (const name of IGNORED) Reflect.deleteProperty(request.headers, name);
    done();
  });
  scope.addHook('onSend', (_request, reply, _payload, done) => {
    void reply.removeHeader('etag').removeHeader('accept-ranges');
    done();
  });
  scope.setErrorHandler((error: FastifyError) => {
    const { statusCode = 500 } = error;
    if (error instanceof SnapshotError || statusCode >= 500) throw error;
    throw noSuchFile(error);
  });
  await scope.register(swaggerUi, {
    routePrefix: PATH,
    indexPrefix: basePath,
    staticCSP: PAGE_POLICY,
    // Made at every call, as its example has an id that nobody else has been given.
    transformSpecification: (document) => documentForPage(document as unknown as OpenApiDocument),
    transformSpecificationClone: false,
    theme: { title: 'PipeWhy snapshots' },
    uiConfig: {
      layout: 'BaseLayout',
      tryItOutEnabled: true,
      displayRequestDuration: true,
      requestInterceptor: nameParts,
    },
  });
}

/** The plugin registers its own routes for GET alone, and hides them. */
function completeRoutes(scope: FastifyInstance, schemaOf: (url: string) => Operation | undefined): void {
  scope.addHook('onRoute', (route) => {
    if (route.method === 'GET') route.method = ['GET', 'HEAD'];
    const schema = schemaOf(route.url);
    if (schema !== undefined) route.schema = schema;
  });
}

function noSuchFile(cause?: unknown): SnapshotError<'not_found'> {
  return new SnapshotError('not_found', `The page has no such file; open ${PATH} itself.`, {}, { cause });
}
