// Writes openapi.json from the routes of the built code, without a store behind them, and openapi.d.ts, its types, from that;
// run by `npm run openapi`.
import { writeFileSync } from 'node:fs';
import openapiTypes, { astToString } from 'openapi-typescript';
import { buildApp } from '../dist/src/app.js';
import { loadConfig } from '../dist/src/config.js';
import { documentOf } from '../dist/src/http/openapi/document.js';
import { LocalSnapshotStore } from '../dist/src/store/local-snapshot-store.js';

const config = loadConfig({ root: '/nowhere', threads: 0 }, {});
const store = new LocalSnapshotStore(config.root, { declarations: { algorithms: [], contexts: [] } });
const { server } = await buildApp(config, store, false);
await server.ready();
const text = `${JSON.stringify(documentOf(server), null, 2)}\n`;
writeFileSync(new URL('openapi.json', import.meta.url), text);
writeFileSync(new URL('openapi.d.ts', import.meta.url), astToString(await openapiTypes(text)));
await server.close();
await store.close();
