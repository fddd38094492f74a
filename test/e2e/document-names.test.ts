/** What the documents name is there: files, scripts, settings, pages. */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { environmentName, flagName, SETTING_NAMES } from '../../src/config.ts';
import { PROBLEMS } from '../../src/contract/problems.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['.', 'docs', 'bench', 'examples', 'clients/python'];
const DOCUMENTS = FOLDERS.filter((folder) => fs.existsSync(join(TOP, folder))).flatMap((folder) =>
  fs
    .readdirSync(join(TOP, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
const scripts: Record<string, string> = JSON.parse(
  fs.readFileSync(join(TOP, 'package.json'), 'utf8'),
).scripts;

const textOf = (document: string): string => fs.readFileSync(join(TOP, document), 'utf8');

/** Everything that `pattern` captures and that does not hold. */
function missing(document: string, pattern: RegExp, holds: (found: string) => boolean): string[] {
  const found = [...textOf(document).matchAll(pattern)].map(([, name = '']) => name);
  return [...new Set(found)].filter((name) => !holds(name));
}

/** A path of the source tree in code font; a `*` in its last step stands for any text. */
function exists(path: string): boolean {
  const [, folder = '', pattern = ''] = /^(.*?)([^/]*)\/?$/u.exec(path) ?? [];
  // Tests are named without their ending where a table has many.
  if (!pattern.includes('*'))
    return ['', '.test.ts'].some((ending) => fs.existsSync(join(TOP, path + ending)));
  const name = new RegExp(`^${pattern.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')}$`, 'u');
  return (
    fs.existsSync(join(TOP, folder)) && fs.readdirSync(join(TOP, folder)).some((entry) => name.test(entry))
  );
}

test('there are documents to look at', () => {
  expect(DOCUMENTS).toEqual(
    expect.arrayContaining(['README.md', 'docs/ARCHITECTURE.md', 'docs/GUARANTEES.md']),
  );
});

test.each(DOCUMENTS)('%s names files, links, scripts and settings that there are', (document) => {
  const paths = /`((?:src|routes|test|bench|docs|examples|openapi|clients|\.ci)\/[\w./*-]*)`/gu;
  expect(missing(document, paths, exists), 'files').toEqual([]);
  const links = /\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/gu;
  expect(
    missing(document, links, (link) => fs.existsSync(join(TOP, dirname(document), link))),
    'links',
  ).toEqual([]);
  expect(
    missing(document, /npm run ([\w:-]+)/gu, (name) => Object.hasOwn(scripts, name)),
    'scripts',
  ).toEqual([]);
  const ofCommand = ['SNAPSHOTS_URL', 'SNAPSHOTS_FROM_TOKEN', 'SNAPSHOTS_TO_TOKEN'];
  const variables = new Set([...SETTING_NAMES.map(environmentName), ...ofCommand]);
  const isVariable = (name: string): boolean =>
    name.endsWith('_') ? [...variables].some((variable) => variable.startsWith(name)) : variables.has(name);
  expect(missing(document, /\b(SNAPSHOTS_[A-Z_]+)\b/gu, isVariable), 'variables').toEqual([]);
});

test('the table of settings in README.md gives each variable its own flag', () => {
  const flags = new Map(SETTING_NAMES.map((name) => [environmentName(name), flagName(name)]));
  for (const [, first = '', second = ''] of textOf('README.md').matchAll(
    /^\| ([^|]*SNAPSHOTS_[^|]*)\| ([^|]*)\|/gmu,
  )) {
    const given = [...second.matchAll(/`(--[\w-]+)`/gu)].map(([, flag]) => flag);
    if (given.length === 0 || second.includes('…')) continue;
    expect([...first.matchAll(/`(\w+)`/gu)].map(([, name = '']) => flags.get(name))).toEqual(given);
  }
});

test('the table of errors in README.md has every code under its status, and no other', () => {
  const rows = [...textOf('README.md').matchAll(/^\| ([\d, ]+) \| (`.*`) \|$/gmu)];
  const told = rows.flatMap(([, statuses = '', codes = '']) =>
    [...codes.matchAll(/`(\w+)`/gu)].map(
      ([, code = '']) => [code, statuses.split(', ').map(Number)] as const,
    ),
  );
  expect(told.map(([code]) => code).sort()).toEqual(Object.keys(PROBLEMS).sort());
  for (const [code, statuses] of told) {
    expect(statuses, code).toContain(PROBLEMS[code as keyof typeof PROBLEMS].status);
  }
});
