// Writes openapi/openapi.json from the built code; run by `npm run openapi`.
import { writeFileSync } from 'node:fs';
import { openApiText } from '../dist/src/http/openapi/document.js';

writeFileSync(new URL('openapi.json', import.meta.url), openApiText());
