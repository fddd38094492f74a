/** The page as it is served: whole, small, from this host alone, and nothing but for browsers. */
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { ask, jsonOf, problemOf, type Answer } from '../support/http.ts';
import { appForTest } from '../support/service.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const MAX_COMPRESSED_BYTES = 150_000;

/** Paths of the files that the page names, as a browser at `base` resolves them. */
function filesOf(page: Answer, base: string): string[] {
  const named = [...page.body.toString().matchAll(/(?:src|href)="([^"]+)"/gu)].map((match) => match[1]!);
  return named.filter((path) => path !== 'docs').map((path) => new URL(path, `http://host${base}`).href);
}

describe.each(['', '/behind'])('Under the base path %j', (basePath) => {
  test('a browser gets the page with all its files, from this host and below the address, in 150 kB', async () => {
    const { url } = await appForTest({ settings: { basePath } });
    const origin = new URL(url).origin;
    const page = await ask(origin, `${basePath}/`, { headers: { ...BROWSER, 'accept-encoding': 'gzip' } });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const files = filesOf({ ...page, body: gunzipSync(page.body) }, `${basePath}/`);
    expect(files.map((file) => file.slice(file.lastIndexOf('.')))).toEqual(
      expect.arrayContaining(['.js', '.css', '.svg']),
    );
    let bytes = page.body.length;
    for (const file of files) {
      expect(file.startsWith(`http://host${basePath}/page/`), file).toBe(true);
      const path = new URL(file).pathname;
      const plain = await ask(origin, path);
      expect([plain.status, plain.headers['content-encoding']], file).toEqual([200, undefined]);
      const zipped = await ask(origin, path, { headers: { 'accept-encoding': 'br, gzip' } });
      expect(zipped.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(zipped.body).equals(plain.body), file).toBe(true);
      expect(zipped.headers.etag).not.toBe(plain.headers.etag);
      bytes += zipped.body.length;
      // Nothing of any other host is even named, but for namespaces of XML, which are names only.
      expect(plain.body.toString().replaceAll('http://www.w3.org/', '')).not.toMatch(
        /(?:https?:)?\/\/[a-z0-9-]+\.[a-z]{2,}\//iu,
      );
    }
    expect(bytes).toBeLessThan(MAX_COMPRESSED_BYTES);
  });

  test('everyone else gets an index whose every resource is there', async () => {
    const { url } = await appForTest({ settings: { basePath } });
    const origin = new URL(url).origin;
    for (const accept of ['*/*', 'application/json', 'text/htmlx', '']) {
      const answer = await ask(origin, `${basePath}/`, { headers: { accept } });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
      const { name, resources } = jsonOf(answer);
      expect(name).toBe('pipewhy-snapshots');
      const paths = Object.keys(resources);
      expect(paths).toEqual(expect.arrayContaining([`${basePath}/snapshots`, `${basePath}/docs`]));
      for (const path of paths) expect((await ask(origin, path)).status, path).toBe(200);
    }
    const posted = await ask(origin, `${basePath}/`, { method: 'POST' });
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

test('the page may run its own files, and no script, style or connection of anybody else', async () => {
  const { url } = await appForTest();
  const page = await ask(url, '/', { headers: BROWSER });
  const policy = String(page.headers['content-security-policy']);
  const directives = Object.fromEntries(policy.split('; ').map((text) => text.split(/ (.*)/su)));
  expect(directives).toMatchObject({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': "'self'",
    'frame-ancestors': "'none'",
    'trusted-types': "'none'",
  });
  expect(policy).not.toMatch(/unsafe|https?:|\*|data:/u);
  expect(page.body.toString()).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son[a-z]+=/u);
});

test('whoever has a file is told so, and HEAD is as long as GET', async () => {
  const { url } = await appForTest();
  for (const path of ['/', '/page/app.js']) {
    const headers = { ...BROWSER, 'accept-encoding': 'gzip' };
    const whole = await ask(url, path, { headers });
    const again = await ask(url, path, { headers: { ...headers, 'if-none-match': whole.headers.etag! } });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, whole.headers.etag]);
    problemOf(
      await ask(url, path, { headers: { ...headers, 'if-match': '"other"' } }),
      'precondition_failed',
    );
    const head = await ask(url, path, { method: 'HEAD', headers });
    expect(head.headers['content-length']).toBe(String(whole.body.length));
    expect(head.body.length).toBe(0);
  }
  const refused = await ask(url, '/page/app.js', { headers: { 'accept-encoding': 'gzip;q=0, br' } });
  expect(refused.headers['content-encoding']).toBeUndefined();
});

test('needs no token, but one of the names of the service', async () => {
  const { url } = await appForTest({ settings: { token: 'secret' } });
  for (const path of ['/', '/page/app.js']) {
    expect((await ask(url, path, { headers: BROWSER })).status).toBe(200);
    problemOf(await ask(url, path, { headers: { ...BROWSER, host: 'elsewhere.test' } }), 'forbidden_host');
  }
  problemOf(await ask(url, '/snapshots', { headers: BROWSER }), 'unauthorized');
});

test.each([
  '/page/',
  '/page/index.html',
  '/page/nothing.js',
  '/page/..%2f..%2fpackage.json',
  '/page/constructor',
  '/page/app.js%00',
])('has nothing at %s', async (path) => {
  const { url } = await appForTest();
  problemOf(await ask(url, path), 'not_found');
});
