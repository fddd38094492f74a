import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import { canonicalJson } from '../../src/contract/canonical-json.ts';
import { sha256Hex } from '../../src/contract/digest.ts';
import { StorageIntegrityError, UnsupportedPackageError } from '../../src/contract/errors.ts';
import { buildManifest, parseDraft, parseManifest } from '../../src/contract/manifest.ts';
import {
  asJson,
  changed,
  DIGEST,
  packageCases,
  PARENT,
  readVector,
  refusal,
  validManifest,
} from './examples.ts';

const canonical = (value: unknown) => canonicalJson(value as never);
const read = (text: string) => parseManifest(Buffer.from(text));
const TEXT = Buffer.from(canonical(validManifest())).toString();

describe('the stored manifests of the vectors', () => {
  const MANIFEST_FAULTS = new Set([
    'marker-differs',
    'manifest-with-spaces',
    'manifest-duplicate-key',
    'manifest-unknown-field',
  ]);
  const cases = packageCases
    .map((entry) => ({ ...entry, path: `packages/${entry.case}/${entry.snapshot_id}/manifest.json` }))
    .filter(({ path }) => existsSync(new URL(`../vectors/${path}`, import.meta.url)));

  test.each(cases)('$case', ({ case: name, path, problem }) => {
    const bytes = readVector(path);
    if (problem === 'unsupported') {
      expect(refusal(() => parseManifest(bytes)).error).toBeInstanceOf(UnsupportedPackageError);
    } else if (MANIFEST_FAULTS.has(name)) {
      const { error } = refusal(() => parseManifest(bytes));
      expect(error).toBeInstanceOf(StorageIntegrityError);
      expect(error.details).toMatchObject({ problem: 'manifest' });
    } else {
      const manifest = parseManifest(bytes);
      expect(manifest).toEqual(JSON.parse(bytes.toString()));
      // Republishing what is stored gives the same bytes.
      const payloads = Object.fromEntries(
        Object.entries(manifest.arrays).map(([key, entry]) => [
          key,
          { byteLength: BigInt(entry.byte_length), sha256: entry.sha256 },
        ]),
      );
      const built = buildManifest(parseDraft(asJson(JSON.parse(bytes.toString()))), payloads);
      expect(Buffer.from(built.bytes).equals(bytes)).toBe(true);
      expect(built.sha256).toBe(sha256Hex(bytes));
    }
  });
});

describe('building a manifest', () => {
  const draft = parseDraft(
    asJson({ snapshot: validManifest().snapshot, arrays: { constructor: { dtype: 'int32' } } }),
  );

  test('fills in what follows from the bytes, and the result is what is read back', () => {
    const { manifest, bytes, sha256 } = buildManifest(draft, {
      constructor: { byteLength: 12, sha256: DIGEST },
    });
    expect(manifest.arrays.constructor).toEqual({
      file: 'array-constructor.bin',
      dtype: 'int32',
      count: '3',
      byte_length: '12',
      endianness: 'little',
      sha256: DIGEST,
    });
    expect(parseManifest(bytes)).toEqual(manifest);
    expect(sha256).toBe(sha256Hex(bytes));
  });

  test('needs whole elements and every payload', () => {
    expect(() => buildManifest(draft, { constructor: { byteLength: 13n, sha256: DIGEST } })).toThrow(
      TypeError,
    );
    expect(() => buildManifest(draft, {})).toThrow(
      'Expected a payload for the array constructor, found none.',
    );
  });
});

describe('reading a manifest', () => {
  test('gives what is stored', () => {
    expect(parseManifest(canonical(validManifest()))).toEqual(validManifest());
    expect(read(TEXT).arrays.toString).toBeUndefined();
  });

  test.each([
    ['format', 'pipewhy.table'],
    ['version', 2],
    ['version', 0],
    ['version', -1],
    ['array_schema_version', '1.1'],
    ['arrays.ids.dtype', 'float64'],
    ['arrays.ids.endianness', 'big'],
  ])('refuses %s = %j by name as unsupported', (path, value) => {
    const { error, paths, message } = refusal(() =>
      parseManifest(canonical(changed(validManifest(), path, value))),
    );
    expect(error).toBeInstanceOf(UnsupportedPackageError);
    expect(paths).toEqual([path]);
    expect(message).toContain(String(value));
  });

  test('another version may have other fields', () => {
    const { error } = refusal(() => read('{"blocks":[],"format":"pipewhy.snapshot","version":2}'));
    expect(error).toBeInstanceOf(UnsupportedPackageError);
  });

  test('names all that is unsupported at once', () => {
    let other: object = changed(validManifest(), 'arrays.ids.dtype', 'float64');
    other = changed(other, 'arrays.constructor.dtype', 'bool');
    other = changed(other, 'arrays.constructor.endianness', 'big');
    expect(refusal(() => parseManifest(canonical(other))).paths).toHaveLength(3);
  });

  test.each([
    ['format', 1],
    ['format', undefined],
    ['version', '1'],
    ['version', true],
    ['array_schema_version', 1],
    ['arrays.ids.dtype', 8],
    ['arrays.ids.endianness', null],
    ['arrays.ids.file', 'array-constructor.bin'],
    ['arrays.ids.count', '4'],
    ['arrays.ids.sha256', undefined],
    ['arrays.ids.extra', 1],
    ['arrays.Bad', {}],
    ['snapshot.parent_id', undefined],
    ['snapshot.snapshot_id', PARENT],
    ['snapshot.finished_at_ns', '0'],
    ['snapshot.coverage.returned_records', '2'],
    ['snapshot.scope', ''],
    ['extra', 1],
  ])('refuses %s = %j as broken', (path, value) => {
    const { error, errors } = refusal(() => parseManifest(canonical(changed(validManifest(), path, value))));
    expect(error).toBeInstanceOf(StorageIntegrityError);
    expect(error.details).toMatchObject({ problem: 'manifest' });
    expect(errors).toHaveLength(1);
  });

  test('an unsupported dtype does not hide that the manifest is broken', () => {
    const other = changed(validManifest(), 'arrays.ids.dtype', 'float64');
    expect(
      refusal(() => parseManifest(canonical(changed(other, 'arrays.ids.sha256', 'x')))).paths,
    ).toHaveLength(2);
    const spaced = JSON.stringify(other, null, 1);
    const surrogate = TEXT.replace('"uint64"', String.raw`"\ud800"`);
    for (const error of [
      refusal(() => read(spaced)).error,
      refusal(() => read(surrogate)).error,
      refusal(() => parseManifest(canonical(changed(other, 'arrays.ids.sha256', 'x')))).error,
    ]) {
      expect(error).toBeInstanceOf(StorageIntegrityError);
    }
  });

  test.each([
    ['a newline at the end', `${TEXT}\n`],
    ['a blank', TEXT.replace(':', ': ')],
    ['names in another order', JSON.stringify(validManifest())],
    ['a name twice', TEXT.replace('{', '{"version":1,')],
    ['1.0 for 1', TEXT.replace('"version":1', '"version":1.0')],
    ['1e0 for 1', TEXT.replace('"version":1', '"version":1e0')],
    ['a needless escape', TEXT.replace('all rows', String.raw`\u0061ll rows`)],
    ['an escaped slash', TEXT.replace('fingerprint/1', String.raw`fingerprint\/1`)],
    ['a byte order mark', `\ufeff${TEXT}`],
    ['a lone surrogate', TEXT.replace('all rows', String.raw`\ud800`)],
    ['a cut', TEXT.slice(0, -1)],
    ['nothing', ''],
    ['an array', '[]'],
    ['a string', '"pipewhy.snapshot"'],
  ])('refuses %s', (_name, text) => {
    const { error, errors } = refusal(() => read(text));
    expect(error).toBeInstanceOf(StorageIntegrityError);
    expect(error.details).toMatchObject({ problem: 'manifest' });
    expect(errors).toHaveLength(1);
  });

  test('no single changed byte goes unnoticed, except where it gives another valid manifest', () => {
    const bytes = Buffer.from(TEXT);
    for (let at = 0; at < bytes.length; at += 1) {
      const altered = Buffer.from(bytes);
      altered[at]! ^= 1;
      try {
        const manifest = parseManifest(altered);
        // It says something else then, in exactly the bytes that were read.
        expect(manifest).not.toEqual(validManifest());
        expect(Buffer.from(canonical(manifest)).equals(altered)).toBe(true);
      } catch (error) {
        expect(error instanceof StorageIntegrityError || error instanceof UnsupportedPackageError).toBe(true);
      }
    }
  });
});
