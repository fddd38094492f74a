import { describe, expect, test } from 'vitest';

import { parseDraft, parseSnapshotMetadata } from '../../src/contract/manifest.ts';
import { parseStrictJson } from '../../src/contract/strict-json.ts';
import { asJson, changed, ID, publishCases, refusal, validManifest, validSnapshot } from './examples.ts';

const draft = (value: unknown) => parseDraft(asJson(value));

/** Refusals that need more than the document: the declarations, the store, or the other parts. */
const BEYOND_THE_DOCUMENT = new Set([
  'fingerprint_context_mismatch',
  'parent_not_complete',
  'array_mismatch',
  null,
]);

describe('the metadata documents of the vectors', () => {
  test.each(publishCases)('$name', ({ metadata_base64: base64, expect: expected }) => {
    const read = () => parseDraft(parseStrictJson(Buffer.from(base64, 'base64')));
    if (BEYOND_THE_DOCUMENT.has(expected.code)) {
      expect(read().snapshot.snapshot_id).toBe(ID);
      return;
    }
    const { code, paths } = refusal(read);
    expect(code).toBe(expected.code);
    expect(paths).toEqual(expect.arrayContaining(expected.paths ?? []));
    // Each of these documents has one fault, so nothing else may be blamed.
    expect(paths.length).toBe(code === 'malformed_json' ? 0 : 1);
  });
});

describe('a draft', () => {
  test('is what the document says, with parent_id null where it was left out', () => {
    const { snapshot, arrays } = validManifest();
    const given = { snapshot, arrays: { a: { dtype: 'int8' }, ...arrays } };
    expect(draft(given)).toEqual(given);
    expect(draft(changed(given, 'snapshot.parent_id', undefined)).snapshot.parent_id).toBeNull();
  });

  test('may be a whole manifest', () => {
    const { snapshot, arrays } = validManifest();
    expect(draft(validManifest())).toEqual({ snapshot, arrays });
  });

  test('may lack a dtype only where the payloads can say it', () => {
    const given = { snapshot: validSnapshot(), arrays: { a: {}, b: { dtype: 'int8', count: '2' } } };
    const read = (value: unknown) => parseDraft(asJson(value), { dtypeFromPayload: true });
    expect(read(given)).toEqual(given);
    expect(refusal(() => draft(given)).paths).toEqual(['arrays.a.dtype']);
    // With anything else wrong the document is refused as a whole, missing dtypes named as well.
    const { paths } = refusal(() => read(changed(given, 'snapshot.scope', '')));
    expect(paths.toSorted()).toEqual(['arrays.a.dtype', 'snapshot.scope']);
    expect(refusal(() => read(changed(given, 'arrays.a', { dtype: null }))).paths).toEqual([
      'arrays.a.dtype',
    ]);
  });

  test('looks up no array on a prototype', () => {
    const { arrays } = draft({ snapshot: validSnapshot(), arrays: {} });
    expect(arrays.constructor).toBeUndefined();
  });

  test('allows blanks and U+0000 in its texts', () => {
    expect(draft(changed(validManifest(), 'snapshot.scope', ' \0')).snapshot.scope).toBe(' \0');
  });

  test.each([
    'snapshot',
    'arrays',
    'snapshot.snapshot_id',
    'snapshot.source_namespace',
    'snapshot.source_version',
    'snapshot.source_consistency',
    'snapshot.scope',
    'snapshot.started_at_ns',
    'snapshot.finished_at_ns',
    'snapshot.resolution',
    'snapshot.coverage',
    'snapshot.fingerprint',
    'snapshot.coverage.status',
    'snapshot.coverage.expected_records',
    'snapshot.coverage.returned_records',
    'snapshot.coverage.failure_reasons',
    'snapshot.fingerprint.algorithm_name',
    'snapshot.fingerprint.algorithm_id',
    'snapshot.fingerprint.context_id',
    'snapshot.fingerprint.normalization_profile_id',
    'snapshot.fingerprint.source_schema_id',
    'snapshot.fingerprint.mode',
    'arrays.ids.dtype',
  ])('needs %s', (path) => {
    const { code, errors } = refusal(() => draft(changed(validManifest(), path, undefined)));
    expect(code).toBe('contract_violation');
    expect(errors).toEqual([{ path, message: expect.stringMatching(/^is required but missing/) }]);
  });

  test.each([
    ['extra', 1],
    ['snapshot.owner', 'x'],
    ['snapshot.coverage.note', null],
    ['snapshot.fingerprint.extra', 'x'],
    ['arrays.ids.shape', []],
    ['arrays.ids.toString', 1],
  ])('has no field %s', (path, value) => {
    const { errors } = refusal(() => draft(changed(validManifest(), path, value)));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      path,
      message: expect.stringMatching(/^is not a field here; expected only \w/),
    });
  });

  test('has no field __proto__ either', () => {
    const text = JSON.stringify(validManifest()).replace('{"format"', '{"__proto__":{},"format"');
    expect(refusal(() => parseDraft(parseStrictJson(Buffer.from(text)))).paths).toEqual(['__proto__']);
  });

  test.each([
    ['format', 'pipewhy.other', 'must be "pipewhy.snapshot"; found "pipewhy.other"'],
    ['version', '1', 'must be the integer 1; found "1"'],
    ['version', true, 'must be the integer 1; found true'],
    ['version', 2, 'must be the integer 1; found the number 2'],
    ['array_schema_version', 1, 'must be "1.0"; found the number 1'],
    ['snapshot', [], 'must be an object with the fields snapshot_id, '],
    ['arrays', null, 'must be an object with an entry for each array; found null'],
    ['arrays.ids', 'uint64', 'must be an object with the fields file, '],
    ['snapshot.parent_id', 'x', 'must be a snapshot id: 32 lowercase hex digits; found "x"'],
    ['snapshot.parent_id', ID, 'must be another snapshot or null'],
    ['snapshot.finished_at_ns', '1', 'must not be before started_at_ns 1761782400000000000; found 1'],
    [
      'snapshot.coverage.expected_records',
      0,
      'must be an integer from 0 to 18446744073709551615 as a decimal string',
    ],
    ['snapshot.coverage.failure_reasons', '', 'must be an array; found an empty string'],
    ['arrays.ids.sha256', 'AB'.repeat(32), 'must be a SHA-256: 64 lowercase hex digits'],
    ['arrays.ids.file', 'array-id.bin', 'must be "array-ids.bin"; found "array-id.bin"'],
    ['arrays.ids.byte_length', '25', 'must be count 3 times the 8 bytes of uint64, 24; found 25'],
    ['arrays.ids.endianness', 'big', 'must be "little"; found "big"'],
  ])('is refused for %s = %j with what was expected and found', (path, value, message) => {
    const { errors } = refusal(() => draft(changed(validManifest(), path, value)));
    expect(errors).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  test('counts beyond 2^53 are multiplied exactly', () => {
    const big = changed(validManifest(), 'arrays.ids.count', '2305843009213693951');
    expect(draft(changed(big, 'arrays.ids.byte_length', '18446744073709551608')).arrays['ids']).toBeDefined();
    const { paths } = refusal(() => draft(changed(big, 'arrays.ids.byte_length', '18446744073709551600')));
    expect(paths).toEqual(['arrays.ids.byte_length']);
  });

  test('times and counts are ordered by value, not as text', () => {
    const times = changed(
      changed(validManifest(), 'snapshot.started_at_ns', '9'),
      'snapshot.finished_at_ns',
      '10',
    );
    expect(draft(times).snapshot.finished_at_ns).toBe('10');
    const coverage = {
      status: 'PARTIAL',
      expected_records: '10',
      returned_records: '9',
      failure_reasons: ['why'],
    };
    expect(draft(changed(times, 'snapshot.coverage', coverage)).snapshot.coverage).toEqual(coverage);
  });

  test('an entry of a list is named by its index', () => {
    const partial = changed(validManifest(), 'snapshot.coverage.status', 'PARTIAL');
    const { paths } = refusal(() =>
      draft(changed(partial, 'snapshot.coverage.failure_reasons', ['ok', '', 1])),
    );
    expect(paths).toEqual(['snapshot.coverage.failure_reasons.1', 'snapshot.coverage.failure_reasons.2']);
  });

  test('reports faults of shape and of rules together', () => {
    let document = changed(validManifest(), 'snapshot.scope', undefined);
    document = changed(document, 'snapshot.finished_at_ns', '1');
    document = changed(document, 'snapshot.parent_id', ID);
    document = changed(document, 'snapshot.coverage.note', 'x');
    document = changed(document, 'snapshot.coverage.failure_reasons', ['why']);
    document = changed(document, 'snapshot.coverage.returned_records', '2');
    document = changed(document, 'snapshot.fingerprint.mode', '\ud800');
    document = changed(document, 'arrays.ids.dtype', 'float64');
    document = changed(document, 'arrays.ids.file', 'array-x.bin');
    document = changed(document, 'arrays.constructor.byte_length', '1');
    document = changed(document, 'arrays.Bad', { dtype: 'int8' });
    document = changed(document, 'extra', 1);
    expect([...refusal(() => draft(document)).paths].sort()).toEqual([
      'arrays.Bad',
      'arrays.constructor.byte_length',
      'arrays.ids.dtype',
      'arrays.ids.file',
      'extra',
      'snapshot.coverage.failure_reasons',
      'snapshot.coverage.note',
      'snapshot.coverage.returned_records',
      'snapshot.fingerprint.mode',
      'snapshot.finished_at_ns',
      'snapshot.parent_id',
      'snapshot.scope',
    ]);
  });

  test.each([['[]'], ['"x"'], ['1'], ['null']])('is an object, not %s', (text) => {
    expect(refusal(() => parseDraft(parseStrictJson(Buffer.from(text)))).paths).toEqual(['']);
  });

  test('a hostile document gets a bounded answer that counts what it leaves out', () => {
    const names = Array.from({ length: 5000 }, (_, index) => [`${'\u0001'.repeat(500)}${index}`, 1]);
    const { errors } = refusal(() => draft({ ...validManifest(), ...Object.fromEntries(names) }));
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toEqual({ path: '', message: '4900 more violations are not listed' });
    expect(errors.every(({ path, message }) => path.length <= 80 && message.length < 300)).toBe(true);
  });

  test.each(['x'.repeat(1000), '\u0001'.repeat(1000), '😀'.repeat(1000), '"'.repeat(79)])(
    'foreign text in a message is escaped and at most 80 characters long (%#)',
    (value) => {
      const { errors } = refusal(() => draft(changed(validManifest(), 'snapshot.resolution', value)));
      const found = errors[0]!.message.split('found ')[1]!;
      expect(found.length).toBeLessThanOrEqual(80);
      expect(found).toMatch(/^".*…"$/);
      expect(value.startsWith(JSON.parse(found.replace('…', '')))).toBe(true);
    },
  );
});

test('a name in a path is cut between characters', () => {
  const { paths } = refusal(() => draft({ ...validManifest(), ['😀'.repeat(100)]: 1 }));
  expect(paths).toEqual([`${'😀'.repeat(39)}…`]);
});

describe('metadata as plain values', () => {
  test('takes bigints and decimal strings for uint64 fields and gives strings', () => {
    const given = changed(validSnapshot(), 'started_at_ns', 18446744073709551615n);
    const metadata = parseSnapshotMetadata({
      ...given,
      finished_at_ns: 2n ** 64n - 1n,
      parent_id: undefined,
    });
    expect(metadata.started_at_ns).toBe('18446744073709551615');
    expect(metadata.finished_at_ns).toBe('18446744073709551615');
    expect(metadata.parent_id).toBeNull();
    expect(parseSnapshotMetadata(validSnapshot())).toEqual(validSnapshot());
  });

  test('is a copy: later changes of the input do not reach it', () => {
    const given = validSnapshot();
    const metadata = parseSnapshotMetadata(given);
    given.scope = 'changed';
    given.coverage.failure_reasons.push('changed');
    expect(metadata).toEqual(validSnapshot());
  });

  test.each([
    ['started_at_ns', 5, 'found the number 5'],
    ['started_at_ns', -1n, 'found "-1"'],
    ['started_at_ns', 2n ** 64n, 'found "18446744073709551616"'],
    ['scope', 5n, 'found the number 5'],
    ['scope', () => 'x', 'found a value of type function'],
    ['coverage.failure_reasons', [undefined], 'found a value of type undefined'],
    ['coverage', null, 'found null'],
  ])('refuses %s = %s', (path, value, found) => {
    const metadata = validSnapshot();
    const [first, second] = path.split('.') as [string, string?];
    if (second === undefined) Object.assign(metadata, { [first]: value });
    else Object.assign(metadata.coverage, { [second]: value });
    const { errors } = refusal(() => parseSnapshotMetadata(metadata));
    expect(errors[0]!.path).toContain(`snapshot.${path}`);
    expect(errors[0]!.message).toContain(found);
  });

  test('names the document itself where it is no object', () => {
    expect(refusal(() => parseSnapshotMetadata('x')).paths).toEqual(['snapshot']);
  });
});
