import { describe, expect, test } from 'vitest';

import type { Declarations } from '../../src/contract/contexts.ts';
import { checkDeclared, parseDeclarations, resolveContext } from '../../src/contract/contexts.ts';
import { UnsupportedPackageError } from '../../src/contract/errors.ts';
import { parseDraft } from '../../src/contract/manifest.ts';
import { parseStrictJson } from '../../src/contract/strict-json.ts';
import { changed, ID, publishCases, readVector, refusal, validSnapshot } from './examples.ts';

const file = readVector('contexts.json');
const declarations = parseDeclarations(file);
const { fingerprint } = validSnapshot();
const parse = (value: unknown) => parseDeclarations(Buffer.from(JSON.stringify(value)));
const FIELDS = Object.keys(fingerprint) as (keyof typeof fingerprint)[];

describe('declarations', () => {
  test('are what the file says', () => {
    expect(declarations).toEqual(JSON.parse(file.toString()));
    expect(parse({ algorithms: [], contexts: [] })).toEqual({ algorithms: [], contexts: [] });
  });

  test('one algorithm id may have two names', () => {
    const algorithms = [...declarations.algorithms, { name: 'other-name', id: 'example-fingerprint/1' }];
    expect(parse({ ...declarations, algorithms }).algorithms).toHaveLength(2);
  });

  test.each([
    ['algorithms', undefined, 'algorithms'],
    ['contexts', {}, 'contexts'],
    ['extra', 1, 'extra'],
    ['algorithms.0.name', '', 'algorithms.0.name'],
    ['contexts.0.mode', 5, 'contexts.0.mode'],
    ['contexts.0.note', 'x', 'contexts.0.note'],
    ['contexts.0.algorithm_id', 'unknown/1', 'contexts.0.algorithm_id'],
    ['algorithms.1', { name: 'example-fingerprint', id: 'example-fingerprint/1' }, 'algorithms.1'],
    ['contexts.1', declarations.contexts[0], 'contexts.1.context_id'],
  ])('%s = %j is refused', (path, value, blamed) => {
    const { code, paths } = refusal(() => parse(changed(declarations as object, path, value)));
    expect(code).toBe('contract_violation');
    expect(paths).toEqual([blamed]);
  });

  test('are strict JSON', () => {
    const text = '{"algorithms":[],"algorithms":[],"contexts":[]}';
    expect(refusal(() => parseDeclarations(Buffer.from(text))).code).toBe('malformed_json');
  });
});

describe('publishing needs all six fields as declared', () => {
  test('a declared context resolves', () =>
    expect(() => resolveContext(declarations, fingerprint)).not.toThrow());

  test.each(FIELDS)('%s', (field) => {
    const { code, errors } = refusal(() =>
      resolveContext(declarations, { ...fingerprint, [field]: 'other' }),
    );
    expect(code).toBe('fingerprint_context_mismatch');
    expect(errors.map(({ path }) => path)).toEqual([`snapshot.fingerprint.${field}`]);
    expect(errors[0]!.message).toContain(`"${fingerprint[field]}"`);
    expect(errors[0]!.message).toContain('found "other"');
  });

  test('a context that nobody declared is told as such', () => {
    expect(() => resolveContext(declarations, { ...fingerprint, context_id: 'other' })).toThrow(
      /^The context "other" is not declared; GET \/contexts \(or the declarations file\) lists those that are\.$/u,
    );
  });

  test('every field that differs is named at once', () => {
    const other = { ...fingerprint, mode: 'x', algorithm_name: 'y', source_schema_id: 'z' };
    expect(refusal(() => resolveContext(declarations, other)).paths).toHaveLength(3);
  });

  test('the vectors agree', () => {
    for (const { metadata_base64: base64, expect: expected, name } of publishCases) {
      if (expected.code !== null && expected.code !== 'fingerprint_context_mismatch') continue;
      const { snapshot } = parseDraft(parseStrictJson(Buffer.from(base64, 'base64')));
      const resolve = () => resolveContext(declarations, snapshot.fingerprint);
      if (expected.code === null) expect(resolve, name).not.toThrow();
      else expect(refusal(resolve).code, name).toBe(expected.code);
    }
  });
});

describe('reading needs a declared algorithm and the whole identity of a declared context', () => {
  const check = (value: typeof fingerprint, given: Declarations = declarations) =>
    checkDeclared(given, value, ID);

  test('a declared context is readable', () => expect(() => check(fingerprint)).not.toThrow());

  test('a context that is not declared stays readable', () => {
    expect(() => check({ ...fingerprint, context_id: 'historical', mode: 'unordered' })).not.toThrow();
    expect(() => check(fingerprint, { ...declarations, contexts: [] })).not.toThrow();
  });

  test.each(FIELDS.filter((field) => field !== 'context_id'))('another %s is unsupported', (field) => {
    const { error, errors, message } = refusal(() => check({ ...fingerprint, [field]: 'other' }));
    expect(error).toBeInstanceOf(UnsupportedPackageError);
    expect(error.details).toMatchObject({ snapshot_id: ID });
    expect(message).toContain(ID);
    expect(errors).toHaveLength(1);
    expect(errors[0]!.message).toContain('"other"');
  });

  test('an algorithm that is not declared is unsupported, whatever the context', () => {
    for (const other of [{ algorithm_id: 'old/0' }, { algorithm_name: 'old' }]) {
      const value = { ...fingerprint, context_id: 'historical', ...other };
      expect(refusal(() => check(value)).paths).toEqual(['snapshot.fingerprint.algorithm_id']);
    }
  });
});
