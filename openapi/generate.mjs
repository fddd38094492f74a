// Writes openapi/openapi.json from the routes of the built code, without a store behind them; run by `npm run openapi`.
import { writeFileSync } from 'node:fs';
import { buildApp } from '../dist/src/app.js';
import { loadConfig } from '../dist/src/config.js';
import { documentOf } from '../dist/src/http/openapi/document.js';
import { LocalSnapshotStore } from '../dist/src/store/local-snapshot-store.js';

const config = loadConfig({ root: '/nowhere', threads: 0 }, {});
const store = new LocalSnapshotStore(config.root, { declarations: { algorithms: [], contexts: [] } });
const { server } = await buildApp(config, store, false);
await server.ready();
writeFileSync(new URL('openapi.json', import.meta.url), `${JSON.stringify(documentOf(server), null, 2)}\n`);
await server.close();
await store.close();
