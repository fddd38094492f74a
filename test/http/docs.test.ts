/** The interactive page: whole, from this host alone, and able to publish. */
import { describe, expect, test } from 'vitest';

import { nameParts } from '../../src/http/docs-form.ts';
import { ask, jsonOf, problemOf, type Json } from '../support/http.ts';
import { appForTest } from '../support/service.ts';

describe('The page /docs', () => {
  test.each(['', '/behind'])(
    'and all its files come from this host, under the base path %j',
    async (basePath) => {
      const { url } = await appForTest({ settings: { basePath } });
      const page = await ask(url, `${basePath}/docs`);
      expect(page.status).toBe(200);
      const html = page.body.toString();
      const files = [...html.matchAll(/(?:src|href)="([^"]+)"/gu)].map((match) => match[1]!);
      expect(files.length).toBeGreaterThan(4);
      for (const file of files) {
        expect(file).toMatch(new RegExp(`^${basePath}/docs/static/[a-z0-9.-]+$`, 'u'));
        const got = await ask(url, file);
        expect(got.status, file).toBe(200);
        expect((await ask(url, file, { method: 'HEAD' })).headers['content-length']).toBe(
          String(got.body.length),
        );
      }
      expect((await ask(url, `${basePath}/docs/`)).status).toBe(200);
      expect((await ask(url, `${basePath}/docs/json`)).status).toBe(200);
      expect((await ask(url, `${basePath}/docs/yaml`)).status).toBe(200);
    },
  );

  test('may run its own scripts and nothing else; the other resources run nothing', async () => {
    const { url } = await appForTest();
    const page = (await ask(url, '/docs')).headers['content-security-policy'];
    expect(page).toContain("default-src 'none';");
    expect(page).toContain("script-src 'self';");
    expect(page).toContain("connect-src 'self';");
    expect(page).not.toMatch(/https?:|\*|unsafe-eval/u);
    for (const path of ['/openapi.json', '/snapshots', '/problems', '/docs-none']) {
      expect((await ask(url, path)).headers['content-security-policy']).not.toContain('script-src');
    }
  });

  test.each([
    '/docs/static/',
    '/docs/static/index.html',
    '/docs/static/nothing.js',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/static/%2e%2e/package.json',
    '/docs//static//swagger-ui.css',
    '/docs/static/swagger-ui.css%00',
  ])('has nothing at %s', async (path) => {
    const { url } = await appForTest();
    problemOf(await ask(url, path), 'not_found');
  });

  test('sends its files whole, or not at all to whom has them', async () => {
    const { url } = await appForTest();
    const path = '/docs/static/swagger-ui.css';
    const whole = await ask(url, path, { headers: { range: 'bytes=99999999-', 'if-match': '"other"' } });
    expect(whole.status).toBe(200);
    const again = await ask(url, path, { headers: { 'if-modified-since': whole.headers['last-modified']! } });
    expect(again.status).toBe(304);
  });

  test('shows a form with the metadata first and a field for files', async () => {
    const { url } = await appForTest();
    const { paths } = jsonOf(await ask(url, '/docs/json'));
    const { schema } = paths['/snapshots'].post.requestBody.content['multipart/form-data'];
    const { metadata, more_arrays: more, ...pickers } = schema.properties;
    expect(Object.keys(schema.properties)[0]).toBe('metadata');
    // A field of its own is a picker that is there at once; a list shows one only when it is asked for.
    expect(Object.values<object>(pickers).length).toBeGreaterThan(1);
    for (const picker of Object.values<object>(pickers)) {
      expect(picker).toMatchObject({ type: 'string', format: 'binary' });
    }
    expect(more.items).toEqual({ type: 'string', format: 'binary' });
    // As text: of an object the page would show the members in an order of its own.
    const exampleOf = ({ example }: Json): Json => JSON.parse(example);
    expect(Object.keys(exampleOf(metadata).snapshot)[0]).toBe('snapshot_id');
    const idOfNext = async (): Promise<string> => {
      const { post } = jsonOf(await ask(url, '/docs/json')).paths['/snapshots'];
      const next = post.requestBody.content['multipart/form-data'].schema.properties.metadata;
      return exampleOf(next).snapshot.snapshot_id;
    };
    const ids = [exampleOf(metadata).snapshot.snapshot_id, await idOfNext(), await idOfNext()];
    const [key = ''] = Object.keys(exampleOf(metadata).arrays);
    expect(pickers.array_1.description).toContain(`\`${key}.bin\``);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/u);
    expect(Object.values<object>(paths).some((item) => 'head' in item)).toBe(false);
    const { headers } = paths['/snapshots'].post.responses['201'];
    expect(Object.keys(headers)).toEqual(['Content-Length', 'Location', 'ETag', 'Repr-Digest', 'Link']);
  });
});

describe('The request of the form', () => {
  const file = (name: string): File => new File(['abc'], name);

  test('has the metadata first and each file under the key of its name', async () => {
    const form = new FormData();
    form.append('array_1', file('ids.bin'));
    form.append('array_3', file('array-flags.npy'));
    form.append('more_arrays', file('times.dat'));
    form.append('more_arrays', 'string');
    form.append('array_2', '');
    form.append('metadata', new Blob(['{}']));
    const { body } = nameParts({ body: form }) as { body: FormData };
    const parts = [...body].map(([name, value]) =>
      typeof value === 'string' ? [name, value] : [name, value.type, value.name],
    );
    expect(parts).toEqual([
      ['metadata', 'application/json', 'metadata.json'],
      ['array-ids.bin', 'application/octet-stream', 'ids.bin'],
      ['array-flags.npy', 'application/x-npy', 'array-flags.npy'],
      ['times.dat', 'application/octet-stream', 'times.dat'],
    ]);
    const payload = body.get('array-ids.bin');
    expect(payload !== null && typeof payload !== 'string' ? await payload.text() : payload).toBe('abc');
  });

  test('is left alone where it has no form', () => {
    const request = { body: 'text' };
    expect(nameParts(request)).toBe(request);
    expect(request.body).toBe('text');
  });

  test('is made in the browser by the very text of this function', async () => {
    const { url } = await appForTest();
    const script = (await ask(url, '/docs/static/swagger-initializer.js')).body.toString();
    expect(script).toContain(nameParts.toString());
    expect(script).not.toMatch(/__vite|import_/u);
  });
});
