/** GET /docs: the interface as a page to read and to try, also to publish from. */
import type { FastifyInstance } from 'fastify';
import { registerDocsPage } from '../src/http/docs-page.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

export async function docsRoutes(app: FastifyInstance, { config }: ServiceContext): Promise<void> {
  await app.register((scope) => registerDocsPage(scope, config.basePath));
}
