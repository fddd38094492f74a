/** The OpenAPI document as the service gives it, without a store behind it. */
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { documentOf, type OpenApiDocument } from '../../src/http/openapi/document.ts';
import { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import { declarations } from './example.ts';

export async function openApiDocument(basePath = ''): Promise<OpenApiDocument> {
  const config = loadConfig({ root: '/nowhere', threads: 0, basePath }, {});
  const store = new LocalSnapshotStore(config.root, { declarations });
  const { server } = await buildApp(config, store, false);
  await server.ready();
  const document = documentOf(server);
  await server.close();
  await store.close();
  return document;
}
