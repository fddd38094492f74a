/**
 * Dependencies point one way: routes -> http, store -> contract. Each rule says what it protects.
 * Paths are matched as regular expressions; node's own modules appear without their `node:` prefix.
 */
const FILE_SYSTEM = '^(node:)?fs(/promises)?$';

/** Everything but the places in `allowed`: those are the only ones that a room may import. */
const only = (...allowed) => ({ pathNot: allowed });

const npm = (name) => `(^|/)node_modules/(@types/)?${name}/`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'contract-is-pure',
      comment:
        'The contract judges documents without touching disk, network or clock: itself, zod and hashing.',
      severity: 'error',
      from: { path: '^src/contract/' },
      to: only('^src/contract/', npm('zod'), '^(node:)?crypto$'),
    },
    {
      name: 'one-file-system',
      comment:
        'All disk access goes through the file-system port, so that a test can fail the n-th operation. ' +
        'Commands and the client handle the files of their user, not the store.',
      severity: 'error',
      from: {
        path: '^(src|routes)/',
        pathNot: [
          '^src/store/node-file-system\\.ts$',
          '^src/(cli|client)/',
          '^src/(service|starting|listening|package-version|page-files|log|signals|doors)\\.ts$',
        ],
      },
      to: { path: FILE_SYSTEM },
    },
    {
      name: 'store-knows-no-http',
      comment:
        'The store is a library of its own; statuses, headers and requests are the business of src/http.',
      severity: 'error',
      from: { path: '^src/store/' },
      to: {
        path: [
          '^src/(http|client|cli)/',
          '^src/(app|main|service|starting|supervisor|serving-process|process-channel|config)\\.ts$',
          '^routes/',
          npm('(fastify|@fastify/[^/]+|undici)'),
          '^(node:)?https?2?$',
        ],
      },
    },
    {
      name: 'http-serves-routes',
      comment:
        'src/http holds what routes share and never looks back at them, nor at a consumer of the service.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: {
        path: ['^routes/', '^src/(client|cli)/', '^src/(app|main|service|supervisor|serving-process)\\.ts$'],
      },
    },
    {
      name: 'client-stands-alone',
      comment:
        'The client runs where the server does not: the contract, undici, structured-headers and node itself are all it needs.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: {
        ...only('^src/(client|contract)/', npm('(undici|structured-headers)')),
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'routes-only-from-app',
      comment: 'src/app.ts is the composition root and registers every route by name.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/app\\.ts$' },
      to: { path: '^routes/' },
    },
    {
      name: 'routes-are-thin',
      comment: 'A route is a schema, one store call and headers.',
      severity: 'error',
      from: { path: '^routes/' },
      to: {
        ...only('^routes/', '^src/(http|store|contract)/', npm('fastify'), npm('zod')),
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'routes-get-the-store',
      comment: 'A route is handed its store and names only the types of it.',
      severity: 'error',
      from: { path: '^routes/' },
      to: { path: '^src/store/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'page-stands-alone',
      comment:
        'The page runs in a browser and talks to the service over HTTP: the contract, the types of the OpenAPI document and its ' +
        'own small stack are all it needs.',
      severity: 'error',
      from: { path: '^src/page/' },
      to: only('^src/(page|contract)/', '^openapi/openapi\\.d\\.ts$', npm('(preact|@preact/signals)')),
    },
    {
      name: 'page-is-served-not-imported',
      comment: 'The service sends the bundle and knows nothing of what is in it.',
      severity: 'error',
      from: { path: '^(src|routes)/', pathNot: '^src/page/' },
      to: { path: '^src/page/' },
    },
    {
      name: 'no-circular',
      comment: 'Modules in a circle cannot be understood, loaded or tested one by one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A module that nothing imports and that imports nothing is dead.',
      severity: 'error',
      from: { orphan: true, pathNot: '\\.d\\.ts$' },
      to: {},
    },
    {
      name: 'no-dev-dependencies',
      comment: 'What ships must run after `npm ci --omit=dev`.',
      severity: 'error',
      // The page is bundled at build time.
      from: { path: '^(src|routes)/', pathNot: '^src/page/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '(^|/)node_modules/@types/',
      },
    },
    {
      name: 'no-undeclared-dependencies',
      comment: 'A package that package.json does not name is there by accident.',
      severity: 'error',
      from: { path: '^(src|routes)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-unresolvable',
      comment: 'Every import must lead somewhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'ships-without-tests',
      comment: 'Nothing that ships may lean on tests, benchmarks or examples.',
      severity: 'error',
      from: { path: '^(src|routes)/' },
      to: { path: '^(test|bench|examples)/', pathNot: '\\.json$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Types count as dependencies: a room that knows another room's types knows that room.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
