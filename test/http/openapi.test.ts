/** The OpenAPI document: what it says is what the service does, no more and no less. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import type { FastifyInstance, RouteOptions } from 'fastify';
import openapiTypes, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { COMPARISON, FIRST_MARKER, LISTING, PUBLICATIONS } from '../../src/http/openapi/examples.ts';
import { PROBLEMS } from '../../src/contract/problems.ts';
import {
  documentedPath,
  problemViolations,
  resolved,
  schemaViolations,
  violationsOf,
  type Exchange,
} from '../support/conformance.ts';
import { openApiDocument } from '../support/document.ts';
import { ask, jsonOf, problemOf, type Json } from '../support/http.ts';
import { appForTest, startApp, type RunningApp } from '../support/service.ts';
import { MULTIPART } from '../support/uploads.ts';
import { bodyOf } from './multipart-support.ts';

interface Registered {
  readonly url: string;
  readonly route: RouteOptions;
}

const registered: Registered[] = [];

/** The routes as the framework gets them, whoever registers them: it announces every server that is made. */
function noteRoutes(message: unknown): void {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onRoute', (route) => {
    registered.push({ url: route.url, route });
  });
}

const document: Json = await openApiDocument();
const text = `${JSON.stringify(document, null, 2)}\n`;
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace'];

const operations: { path: string; method: string; operation: Json }[] = Object.entries<Json>(
  document.paths,
).flatMap(([path, item]) =>
  METHODS.filter((method) => method in item).map((method) => ({
    path,
    method,
    operation: item[method],
  })),
);

let app: RunningApp;
beforeAll(async () => {
  subscribe('fastify.initialization', noteRoutes);
  app = await startApp();
  unsubscribe('fastify.initialization', noteRoutes);
});
afterAll(() => app.close());

test('openapi/openapi.json is what the schemas yield, byte for byte; `npm run openapi` writes it', () => {
  const kept = fs.readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8');
  expect(kept === text).toBe(true);
});

test('openapi/openapi.d.ts, by which the page is typed, is made of it', async () => {
  const kept = fs.readFileSync(new URL('../../openapi/openapi.d.ts', import.meta.url), 'utf8');
  expect(kept === astToString(await openapiTypes(text))).toBe(true);
});

describe('The document and the routes', () => {
  const sample = (url: string): string =>
    url
      .replace(':snapshot_id', '0123456789abcdef0123456789abcdef')
      .replace(':other', '0123456789abcdef0123456789abcdef')
      .replace(':key', 'ids')
      .replace(':code', 'not_found')
      .replace(':page_file', 'app.js')
      .replace('*', 'swagger-ui.css');
  // One route answers for two resources of the document.
  const samples = (url: string): string[] =>
    url.includes(':file')
      ? ['array-ids.bin', 'array-ids.npy'].map((file) => sample(url).replace(':file', file))
      : [sample(url)];

  test('have the same methods at the same paths', () => {
    const routed = registered.flatMap(({ url, route }) =>
      samples(url).flatMap((path) =>
        [route.method].flat().map((method) => `${method} ${documentedPath(path) ?? url}`),
      ),
    );
    const documented = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect([...new Set(routed)].sort()).toEqual(documented.sort());
  });

  test('agree on who needs a token', async () => {
    const guarded = await appForTest({ settings: { token: 'secret' } });
    for (const { path, method, operation } of operations) {
      const url = path
        .replace('{snapshot_id}', '0123456789abcdef0123456789abcdef')
        .replace('{other}', '0123456789abcdef0123456789abcdef')
        .replace('{key}', 'ids')
        .replace('{code}', 'not_found')
        .replace('{page_file}', 'app.js')
        .replace('{file}', 'swagger-ui.css');
      const { status } = await ask(guarded.url, url, { method: method.toUpperCase() });
      const isOpen = operation.security?.length === 0;
      expect(status === 401, `${method} ${path}`).toBe(!isOpen);
    }
    const open = operations
      .filter(({ operation }) => operation.security?.length === 0)
      .map(({ path }) => path);
    expect(new Set(open)).toEqual(
      new Set([
        '/healthz',
        '/readyz',
        '/',
        '/page/{page_file}',
        '/docs',
        '/docs/json',
        '/docs/yaml',
        '/docs/static/{file}',
      ]),
    );
  });

  test('have every code of the service, and each under its status', () => {
    const found = new Set<string>();
    for (const { operation } of operations) {
      for (const [status, reference] of Object.entries<Json>(operation.responses)) {
        const examples = resolved<Json>(reference).content?.['application/problem+json']?.examples ?? {};
        for (const [code, { value }] of Object.entries<Json>(examples)) {
          found.add(code);
          expect(value).toMatchObject({ code, status: Number(status), type: `/problems/${code}` });
          expect(problemViolations(value, [code])).toEqual([]);
        }
      }
    }
    expect([...found].sort()).toEqual(Object.keys(PROBLEMS).sort());
  });

  test('have unique operation ids, only references that lead somewhere, and no component that nothing refers to', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/gu)].map(
      (match) => match[1]!,
    );
    expect(references.length).toBeGreaterThan(100);
    for (const $ref of references) expect(resolved({ $ref }), $ref).toBeTypeOf('object');
    const { securitySchemes: _, ...components } = document.components;
    const named = Object.entries<Json>(components).flatMap(([kind, members]) =>
      Object.keys(members).map((name) => `#/components/${kind}/${name}`),
    );
    expect(named.filter((name) => !references.includes(name))).toEqual([]);
  });
});

describe('What generators of clients need', () => {
  test('names of letters and digits, and the version of the package', () => {
    for (const [kind, components] of Object.entries<Json>(document.components)) {
      for (const name of Object.keys(components)) {
        expect(name, kind).toMatch(kind === 'headers' ? /^[A-Za-z0-9-]+$/u : /^[A-Za-z][A-Za-z0-9]*$/u);
      }
    }
    const { version } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(document.info.version).toBe(version);
  });

  test('a sentence on what each operation does', () => {
    for (const { path, method, operation } of operations) {
      expect(operation.description?.length, `${method} ${path}`).toBeGreaterThan(20);
    }
  });

  test('one document for all problems, with every code', () => {
    const { Problem } = document.components.schemas;
    expect([...Problem.properties.code.enum].sort()).toEqual(Object.keys(PROBLEMS).sort());
    for (const { operation } of operations) {
      for (const reference of Object.values<Json>(operation.responses)) {
        const content = resolved<Json>(reference).content?.['application/problem+json'];
        if (content !== undefined) expect(content.schema).toEqual({ $ref: '#/components/schemas/Problem' });
      }
    }
  });

  test('a type for free names, and a schema for whatever is sent, bytes too', () => {
    const names: Json[] = [];
    const contents: Json[] = [];
    JSON.stringify(document, (name, value: Json) => {
      if (name === 'propertyNames') names.push(value);
      if (name === 'content') contents.push(...Object.values<Json>(value));
      return value;
    });
    expect(names.length).toBeGreaterThan(2);
    for (const { type } of names) expect(type).toBe('string');
    expect(contents.length).toBeGreaterThan(20);
    for (const { schema } of contents) expect('type' in schema || '$ref' in schema).toBe(true);
  });

  test('parts of free names as additional properties, and no other names', () => {
    const { schema } = document.paths['/snapshots'].post.requestBody.content['multipart/form-data'];
    expect(schema.additionalProperties).toMatchObject({ contentMediaType: 'application/octet-stream' });
    const { metadata } = PUBLICATIONS.first.value;
    for (const name of ['ids', 'array-ids.bin', 'array-ids.npy']) {
      expect(schemaViolations(schema, { metadata, [name]: 'abc' }), name).toEqual([]);
    }
    for (const name of ['IDS', 'ids.txt', 'array-ids', '']) {
      expect(schemaViolations(schema, { metadata, [name]: 'abc' }), name).not.toEqual([]);
    }
  });
});

describe('The examples of the document', () => {
  const contents: [string, Json][] = [];
  const collect = (node: unknown, where: string): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('schema' in node && 'examples' in node) contents.push([where, node]);
    for (const [name, child] of Object.entries(node)) collect(child, `${where}/${name}`);
  };
  collect(document, '');

  test.each(contents)('are what their schema asks for: %s', (_, { schema, examples }) => {
    for (const [name, { value }] of Object.entries<Json>(examples)) {
      expect(schemaViolations(schema, value), name).toEqual([]);
    }
  });

  test('of headers and parameters too', () => {
    const { headers } = document.components;
    const parameters = operations.flatMap(({ operation }) => (operation.parameters ?? []) as Json[]);
    expect(parameters.length).toBeGreaterThan(50);
    for (const { schema, example } of Object.values<Json>(headers))
      expect(schemaViolations(schema, example)).toEqual([]);
    for (const { schema } of parameters) {
      for (const example of schema.examples ?? []) expect(schemaViolations(schema, example)).toEqual([]);
    }
  });

  test('can be published in their order, and are answered and listed as they say', async () => {
    const { post, get } = document.paths['/snapshots'];
    const fresh = await appForTest();
    const answers: unknown[] = [];
    for (const { value } of Object.values<Json>(post.requestBody.content['multipart/form-data'].examples)) {
      const parts = Object.entries<unknown>(value).map(([name, part]) => ({
        name,
        payload: Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)),
      }));
      const answer = await ask(fresh.url, '/snapshots', {
        method: 'POST',
        headers: { 'content-type': MULTIPART },
        body: bodyOf(parts),
      });
      expect(answer.status).toBe(201);
      answers.push(jsonOf(answer));
    }
    expect(answers).toHaveLength(Object.keys(PUBLICATIONS).length);
    expect(answers[0]).toEqual(post.responses['201'].content['application/json'].examples.first.value);
    const listing = jsonOf(await ask(fresh.url, '/snapshots?limit=1'));
    expect(listing.snapshots).toEqual(LISTING['snapshots']);
    expect(get.responses['200'].content['application/json'].examples.one.value).toEqual(LISTING);
    const { snapshot_id: id } = listing.snapshots[0] as Record<string, string>;
    const marker = await ask(fresh.url, `/snapshots/${id!}/complete.sha256`);
    expect(marker.body.toString()).toBe(FIRST_MARKER);
    const { from, to } = COMPARISON as Record<string, string>;
    const compared = document.paths['/snapshots/{snapshot_id}/compare/{other}'].get.responses['200'];
    const { value } = compared.content['application/json'].examples.changed;
    expect(jsonOf(await ask(fresh.url, `/snapshots/${from!}/compare/${to!}`))).toEqual(value);
  });
});

describe('The served documentation', () => {
  test('is the document, with the base path as its server', async () => {
    const based = await appForTest({ settings: { basePath: '/behind' } });
    const served = jsonOf(await ask(based.url, '/behind/openapi.json'));
    expect(served).toEqual(JSON.parse(JSON.stringify(await openApiDocument('/behind'))));
    expect(served.servers[0].url).toBe('/behind');
    expect({ ...served, servers: [] }).toEqual({ ...JSON.parse(text), servers: [] });
  });

  test.each(Object.keys(PROBLEMS))('has a page for the type of %s', async (code) => {
    const page = await ask(app.url, `/problems/${code}`);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const text = page.body.toString();
    expect(text).toContain(`<h1>${PROBLEMS[code as keyof typeof PROBLEMS].title}</h1>`);
    expect(text).toContain('<dt>What to do</dt>');
    expect((await ask(app.url, '/problems')).body.toString()).toContain(`href="/problems/${code}"`);
    const head = await ask(app.url, `/problems/${code}`, { method: 'HEAD' });
    expect(head.headers['content-length']).toBe(String(page.body.length));
  });

  test('has pages under the path that a type names, also with a base path', async () => {
    const based = await appForTest({ settings: { basePath: '/behind' } });
    const { type } = jsonOf(await ask(based.url, '/behind/snapshots/nothing'));
    expect((await ask(based.url, type)).status).toBe(200);
  });

  test('has no page for what is no code, also none that every object has', async () => {
    for (const code of ['nothing', 'constructor', '__proto__', '%3Cscript%3E']) {
      const answer = await ask(app.url, `/problems/${code}`);
      problemOf(answer, 'not_found');
    }
  });
});

describe('The check of answers', () => {
  const good: Exchange = {
    method: 'GET',
    url: '/healthz',
    status: 200,
    headers: {
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'content-type': 'application/json',
      'content-length': '18',
    },
    body: Buffer.from('{"status":"alive"}'),
  };

  test('finds nothing in a good one', () => {
    expect(violationsOf(good)).toEqual([]);
    expect(violationsOf({ ...good, method: 'HEAD', body: Buffer.alloc(0) })).toEqual([]);
  });

  const { 'x-frame-options': _frame, ...withoutFrame } = good.headers;
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  test.each<[string, Partial<Exchange>, RegExp]>([
    ['an unknown status', { status: 299 }, /status is not documented/u],
    ['an unknown path', { url: '/elsewhere' }, /neither the path/u],
    ['an unknown method', { method: 'PUT' }, /neither the path/u],
    [
      'an unknown header',
      { headers: { ...good.headers, 'x-powered-by': 'x' } },
      /x-powered-by is not documented/u,
    ],
    ['a missing header', { headers: withoutFrame }, /x-frame-options is missing/u],
    ['a wrong header', { headers: { ...good.headers, 'x-frame-options': 'ALLOW' } }, /x-frame-options/u],
    ['another media type', { headers: { ...good.headers, 'content-type': 'text/plain' } }, /media type/u],
    [
      'another media type of HEAD',
      { method: 'HEAD', headers: { ...good.headers, 'content-type': 'a/b' } },
      /media/u,
    ],
    ['a missing member', { body: json({}) }, /status/u],
    ['an unknown member', { body: json({ status: 'alive', more: 1 }) }, /more/u],
    [
      'a refusal of another resource',
      { status: 500, body: json({ code: 'publication_failed' }) },
      /code|media/u,
    ],
  ])('finds %s', (_, change, expected) => {
    expect(violationsOf({ ...good, ...change }).join('\n')).toMatch(expected);
  });

  test('fails the closing of a service that sends what is not documented', async () => {
    const odd = await startApp();
    odd.app.server.server.prependListener('request', (_request, response) => {
      response.setHeader('x-undocumented', '1');
    });
    await ask(odd.url, '/healthz');
    await expect(odd.close()).rejects.toThrow('x-undocumented');
  });
});
