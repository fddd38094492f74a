/** The page as it was bundled: read when it is first asked for, then kept in memory. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { PAGE_DOCUMENT, type PageFile, type PageFiles } from './http/page.ts';

/** Beside `dist/src` and from `src`; written by `npm run build`. */
const FOLDERS = ['../page/', '../dist/page/'];

/** Files of the page by their paths below the service's address; empty where the page was not built. */
export function pageFiles(): () => PageFiles {
  let files: PageFiles | undefined;
  return () => (files ??= readPage());
}

function readPage(): PageFiles {
  const folder = FOLDERS.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (folder === undefined) return new Map();
  const files = [PAGE_DOCUMENT, ...readdirSync(new URL('page/', folder)).map((name) => `page/${name}`)];
  return new Map(files.map((path) => [path, pageFile(readFileSync(new URL(path, folder)))]));
}

function pageFile(bytes: Buffer): PageFile {
  return {
    bytes,
    gzipped: gzipSync(bytes, { level: 9 }),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}
