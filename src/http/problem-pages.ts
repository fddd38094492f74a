/** The pages that the `type` of a problem document leads to (RFC 9457, 3.1.1): what a code means, and what to do. */
import { createHash } from 'node:crypto';
import type { ErrorCode } from '../contract/errors.ts';
import { PROBLEMS } from '../contract/problems.ts';

const STYLE =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}' +
  'dt{font-weight:600;margin-top:1rem}dd{margin:0}code{font-family:ui-monospace,monospace}td{padding:.2rem 1rem .2rem 0}';

/** These pages load and run nothing; only their own style applies. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'`;

export const HTML_MEDIA_TYPE = 'text/html; charset=utf-8';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(/[&<>"]/gu, (character) => ENTITIES[character] ?? character);
}

function page(title: string, body: string): Buffer {
  return Buffer.from(
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n` +
      `<meta name="viewport" content="width=device-width">\n<title>${escaped(title)}</title>\n<style>${STYLE}</style>\n` +
      `</head>\n<body>\n${body}\n</body>\n</html>\n`,
  );
}

export function problemPage(code: ErrorCode, basePath: string): Buffer {
  const { status, title, when, remedy, example } = PROBLEMS[code];
  const facts: readonly (readonly [string, string])[] = [
    ['When', escaped(when)],
    ['What to do', escaped(remedy)],
    ['For example', escaped(example.detail)],
    ['Status', String(status)],
  ];
  return page(
    `${code}: ${title}`,
    `<h1>${escaped(title)}</h1>\n<p><code>${code}</code></p>\n<dl>\n` +
      facts.map(([name, text]) => `<dt>${name}</dt><dd>${text}</dd>`).join('\n') +
      `\n</dl>\n<p><a href="${basePath}/problems">All problems</a> · <a href="${basePath}/docs">The whole interface</a></p>`,
  );
}

export function problemIndex(basePath: string): Buffer {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="${basePath}/problems/${code}"><code>${code}</code></a></td>` +
      `<td>${escaped(title)}</td></tr>`,
  );
  return page(
    'Problems',
    `<h1>Problems</h1>\n<p>Every refusal is a problem document (RFC 9457) with one of these codes.</p>\n` +
      `<table>\n${rows.join('\n')}\n</table>\n<p><a href="${basePath}/docs">The whole interface</a></p>`,
  );
}
