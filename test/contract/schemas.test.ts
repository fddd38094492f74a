import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { canonicalJson } from '../../src/contract/canonical-json.ts';
import { parseDeclarations } from '../../src/contract/contexts.ts';
import { parseDraft, parseManifest, parseSnapshotMetadata } from '../../src/contract/manifest.ts';
import { SnapshotError } from '../../src/contract/errors.ts';
import type { JsonSchema } from '../../src/contract/checks.ts';
import { declarationsDocument } from '../../src/contract/contexts.ts';
import { arrayEntry, draftDocument, manifest, snapshotMetadata } from '../../src/contract/documents.ts';
import { asJson, ID, readVector, validManifest, validSnapshot } from './examples.ts';

const declarations = JSON.parse(readVector('contexts.json').toString());

/** Every dotted path of a document's members. */
function pathsOf(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    `${prefix}${name}`,
    ...pathsOf(member, `${prefix}${name}.`),
  ]);
}

const FOREIGN = [
  ...[
    undefined,
    null,
    true,
    0,
    1,
    2,
    -1,
    '',
    ' ',
    '0',
    '1',
    '2',
    '3',
    '4',
    '24',
    '007',
    '18446744073709551616',
  ],
  ...['COMPLETE', 'PARTIAL', 'UNAVAILABLE', 'value', 'int8', 'uint64', 'float64', 'big', '\ud800', '\0', ID],
  ...[
    'array-ids.bin',
    'example-fingerprint/1',
    [],
    ['why'],
    [''],
    {},
    { dtype: 'int8' },
    { Bad: { dtype: 'int8' } },
  ],
];

/** All that is wrong, in one text; null where nothing is. */
/** Everything that was found wrong, in sentences. */
function refusalOf(action: () => unknown): readonly string[] | null {
  try {
    action();
    return null;
  } catch (error) {
    if (!(error instanceof SnapshotError)) return [String(error)];
    const { errors } = error;
    return errors.length > 0 ? errors.map(({ message }) => message) : [error.message];
  }
}

/** Plain metadata may lack `parent_id`; the schema is that of stored metadata, which may not. */
function storedMetadata(value: unknown): unknown {
  if (!Object.hasOwn(value as object, 'parent_id')) throw new TypeError('Expected parent_id.');
  return parseSnapshotMetadata(value);
}

/** Applies changes: sets or removes a member, or adds one named `extra` beside it. */
function altered(
  document: object,
  changes: readonly { path: string; value: unknown; beside: boolean }[],
): unknown {
  const copy = structuredClone(document);
  for (const { path, value, beside } of changes) {
    const steps = path.split('.');
    const last = beside ? 'extra' : steps.at(-1)!;
    const parent = steps.slice(0, -1).reduce<unknown>(memberOf, copy);
    if (typeof parent !== 'object' || parent === null) continue;
    if (value === undefined && !Array.isArray(parent)) Reflect.deleteProperty(parent, last);
    else if (!Array.isArray(parent) || !beside) Reflect.set(parent, last, value ?? null);
  }
  return copy;
}

function memberOf(node: unknown, step: string): unknown {
  return typeof node === 'object' && node !== null ? Reflect.get(node, step) : undefined;
}

const ajv = new Ajv2020({ strict: false });

/** What of a document only its rules across fields can refuse, as no schema says it. */
const RULES =
  /COMPLETE|PARTIAL|UNAVAILABLE|must not be before|must be another snapshot|must be count|must be "array-|must differ|one of the declared|is required but missing; only|18446744073709551615|lone surrogates|canonical/u;

describe('a schema accepts what its check accepts, and refuses what it refuses but for rules across fields', () => {
  const draft = {
    snapshot: validSnapshot(),
    arrays: { ids: { dtype: 'uint64' }, b: { dtype: 'int8', count: '2' }, c: {} },
  };
  /** As the service reads it: the payloads may say what they are. */
  const read = (value: unknown) => parseDraft(asJson(value), { dtypeFromPayload: true });
  test.each([
    [
      'manifest',
      validManifest(),
      manifest.schema,
      (value: unknown) => parseManifest(canonicalJson(value as never)),
    ],
    ['draft', draft, draftDocument.schema, read],
    ['whole draft', validManifest(), draftDocument.schema, read],
    ['metadata', validSnapshot(), snapshotMetadata.schema, storedMetadata],
    [
      'declarations',
      declarations,
      declarationsDocument.schema,
      (value: unknown) => parseDeclarations(Buffer.from(JSON.stringify(value))),
    ],
  ] as [string, object, JsonSchema, (value: unknown) => unknown][])('%s', (_name, valid, schema, parse) => {
    const validate = ajv.compile(schema);
    expect([validate(valid), refusalOf(() => parse(valid))]).toEqual([true, null]);
    let refused = 0;
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            path: fc.constantFrom(...pathsOf(valid)),
            value: fc.constantFrom(...FOREIGN),
            beside: fc.boolean(),
          }),
          { minLength: 1, maxLength: 3 },
        ),
        (changes) => {
          const document = altered(valid, changes);
          const refusal = refusalOf(() => parse(document));
          accepted += Number(refusal === null);
          const byRule = refusal?.every((message) => RULES.test(message)) === true;
          if (byRule) return;
          refused += Number(refusal !== null);
          expect(validate(document), refusal?.join('; ') ?? 'accepted').toBe(refusal === null);
        },
      ),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(20);
    expect(refused).toBeGreaterThan(200);
  });
});

describe('the JSON Schemas say what a reader needs', () => {
  test('fields, patterns, choices, descriptions', () => {
    const schema = JSON.parse(JSON.stringify(manifest.schema));
    expect(schema.additionalProperties).toBe(false);
    expect(schema.required).toEqual(['format', 'version', 'array_schema_version', 'snapshot', 'arrays']);
    const { snapshot, arrays, version } = schema.properties;
    expect(version.const).toBe(1);
    expect(snapshot.required).toContain('parent_id');
    expect(snapshot.properties.snapshot_id.pattern).toBe('^[0-9a-f]{32}$');
    expect(snapshot.properties.coverage.properties.status.enum).toEqual([
      'COMPLETE',
      'PARTIAL',
      'UNAVAILABLE',
    ]);
    expect(snapshot.properties.scope).toMatchObject({ minLength: 1, description: expect.any(String) });
    expect(arrays.propertyNames.pattern).toBe('^[a-z][a-z0-9_]{0,63}$');
    expect(arrays.additionalProperties.required).toHaveLength(6);
  });

  test('a draft needs snapshot and arrays only', () => {
    const schema = JSON.parse(JSON.stringify(draftDocument.schema));
    expect(schema.required).toEqual(['snapshot', 'arrays']);
    expect(schema.properties.arrays.additionalProperties.required ?? []).toEqual([]);
    expect(Object.keys(schema.properties.arrays.additionalProperties.properties)).toContain('dtype');
    expect(schema.properties.snapshot.required).not.toContain('parent_id');
  });

  test.each([arrayEntry, snapshotMetadata, declarationsDocument])('%# has a JSON Schema', ({ schema }) => {
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
  });
});
