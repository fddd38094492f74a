/** The interactive page at /docs: Swagger UI from the package's own files, without a word to any other host. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyError, FastifyInstance } from 'fastify';
import { SnapshotError } from '../contract/errors.ts';
import { documentForPage, nameParts } from './docs-form.ts';
import { openApiDocument } from './openapi/document.ts';

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

/** To be called in a scope of its own: what it hooks is for this page alone. */
export async function registerDocsPage(scope: FastifyInstance, basePath: string): Promise<void> {
  answerHeadToo(scope);
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
  const document = openApiDocument(basePath);
  await scope.register(swagger, {
    mode: 'static',
    specification: { document: document as never },
  });
  await scope.register(swaggerUi, {
    routePrefix: PATH,
    indexPrefix: basePath,
    staticCSP: PAGE_POLICY,
    // Made at every call, as its example has an id that nobody else has been given.
    transformSpecification: () => documentForPage(document),
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

/** The plugin registers its own routes for GET alone. */
function answerHeadToo(scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    if (route.method === 'GET') route.method = ['GET', 'HEAD'];
  });
}

function noSuchFile(cause?: unknown): SnapshotError<'not_found'> {
  return new SnapshotError('not_found', `The page has no such file; open ${PATH} itself.`, {}, { cause });
}
