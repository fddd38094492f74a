/**
 * The contract's documents as zod schemas, for the OpenAPI document and for readers. The service itself decides with
 * the checks in `document-checks.ts`; a test holds that both accept the same documents.
 */

import { z } from 'zod';

import { declarationRules } from './contexts.ts';
import type { Declarations } from './contexts.ts';
import type { Rules, ValidFields } from './checks.ts';
import { SHA256_HEX_PATTERN } from './digest.ts';
import { DTYPE_NAMES } from './dtypes.ts';
import { ARRAY_KEY_PATTERN, SNAPSHOT_ID_PATTERN } from './ids.ts';
import {
  ARRAY_SCHEMA_VERSION,
  COVERAGE_STATUSES,
  ENDIANNESS,
  FORMAT,
  RESOLUTIONS,
  VERSION,
} from './model.ts';
import type { ArrayEntry, Coverage, Manifest, SnapshotMetadata } from './model.ts';
import { arrayRules, coverageRules, snapshotRules } from './rules.ts';
import { isWellFormedText } from './text.ts';
import { isUint64, UINT64_PATTERN } from './uint64.ts';
import { Violations } from './violations.ts';

/** Runs rules across fields inside zod. They have no JSON Schema form, so the descriptions state them. */
function withRules<T extends object>(rules: Rules<T>, path = '') {
  return (value: ValidFields<T>, context: z.RefinementCtx): void => {
    const violations = new Violations();
    rules(value, path, violations);
    for (const { message } of violations.list()) context.addIssue({ code: 'custom', message });
  };
}

const text = (description: string) =>
  z.string().min(1).refine(isWellFormedText, 'must hold no lone surrogates').describe(description);

const uint64 = (description: string) =>
  z
    .string()
    // Without abort, zod would run the rules across fields on text that is no integer.
    .regex(UINT64_PATTERN, { abort: true })
    .refine(isUint64, 'must be at most 18446744073709551615')
    .meta({
      description: `${description}; an unsigned 64-bit integer as a decimal string`,
      examples: ['3'],
    });

const snapshotId = (description: string) =>
  z
    .string()
    .regex(SNAPSHOT_ID_PATTERN)
    .meta({ description, examples: ['0123456789abcdef0123456789abcdef'] });

const parentId = snapshotId('A snapshot that is published already, or null for none').nullable();

const coverageSchema = z
  .strictObject({
    status: z.enum(COVERAGE_STATUSES).describe('How much of the scope was captured'),
    expected_records: uint64(
      'Records the source should have given, null if unknown; unknown is not zero',
    ).nullable(),
    returned_records: uint64('Records that were captured'),
    failure_reasons: z.array(text('Why records are missing')).describe('Empty exactly when COMPLETE'),
  })
  .superRefine(withRules<Coverage>(coverageRules))
  .describe(
    'COMPLETE: expected_records is known and equals returned_records, no failure_reasons. ' +
      'PARTIAL: failure_reasons, and returned_records is at most a known expected_records. ' +
      'UNAVAILABLE: failure_reasons, and returned_records is "0".',
  );

const fingerprintSchema = z
  .strictObject({
    algorithm_name: text('Name of the fingerprint algorithm'),
    algorithm_id: text('Full id of the fingerprint algorithm'),
    context_id: text('Id of the declared context'),
    normalization_profile_id: text('Full id of the normalization profile'),
    source_schema_id: text('Id of the source schema'),
    mode: text('Mode of the context'),
  })
  .describe('The full identity of the fingerprint context; must equal a declared context (GET /contexts)');

const snapshotFields = {
  snapshot_id: snapshotId('32 lowercase hex digits that the producer chooses'),
  parent_id: parentId,
  source_namespace: text('Where the data lives'),
  source_version: text('Which version of the source was read'),
  source_consistency: text('How consistent the read was'),
  scope: text('What part of the source was read'),
  started_at_ns: uint64('Begin of the capture in epoch nanoseconds'),
  finished_at_ns: uint64('End of the capture in epoch nanoseconds, not before the begin'),
  resolution: z.enum(RESOLUTIONS).describe('The detail that is retained'),
  coverage: coverageSchema,
  fingerprint: fingerprintSchema,
};

export const snapshotMetadataSchema = z
  .strictObject(snapshotFields)
  .superRefine(withRules<SnapshotMetadata>(snapshotRules))
  .describe('One explicitly versioned source scope');

const draftSnapshotSchema = z
  .strictObject({ ...snapshotFields, parent_id: parentId.optional() })
  .superRefine(withRules<SnapshotMetadata>(snapshotRules))
  .describe('One explicitly versioned source scope; parent_id may be left out');

const arrayFields = {
  file: z.string().min(1).describe('array-<key>.bin'),
  dtype: z.enum(DTYPE_NAMES).describe('Type of the elements'),
  count: uint64('Elements'),
  byte_length: uint64('Bytes: count times the width of the dtype'),
  endianness: z.literal(ENDIANNESS),
  sha256: z.string().regex(SHA256_HEX_PATTERN).describe('SHA-256 of the exact bytes, lowercase hex'),
};

export const arrayEntrySchema = z.strictObject(arrayFields).describe('One array of a published snapshot');

const draftArraySchema = z
  .strictObject(arrayFields)
  .partial()
  .describe(
    'One array to come; dtype is needed unless its part is a .npy file, and all that is given must match the bytes',
  );

const arrayKey = z.string().regex(ARRAY_KEY_PATTERN);

/** Arrays by key. The rules of an entry need its key, so they run here. */
function arraysOf<T extends ValidFields<ArrayEntry>>(entry: z.ZodType<T>, description: string) {
  return z
    .record(arrayKey, entry)
    .superRefine((arrays: Record<string, ValidFields<ArrayEntry>>, context) => {
      for (const [key, fields] of Object.entries(arrays))
        withRules(arrayRules, `arrays.${key}`)(fields, context);
    })
    .describe(description);
}

const formatFields = {
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  array_schema_version: z.literal(ARRAY_SCHEMA_VERSION),
};

export const manifestSchema = z
  .strictObject({
    ...formatFields,
    snapshot: snapshotMetadataSchema,
    arrays: arraysOf(arrayEntrySchema, 'The arrays by key, [a-z][a-z0-9_]{0,63}'),
  })
  .describe(
    'The manifest of a published snapshot; stored and sent as canonical JSON',
  ) satisfies z.ZodType<Manifest>;

export const draftManifestSchema = z
  .strictObject({
    ...z.strictObject(formatFields).partial().shape,
    snapshot: draftSnapshotSchema,
    arrays: arraysOf(draftArraySchema, 'The arrays to come by key, [a-z][a-z0-9_]{0,63}; one part each'),
  })
  .describe('What a producer says of a snapshot; a whole manifest is a valid document');

export const declarationsSchema = z
  .strictObject({
    algorithms: z
      .array(z.strictObject({ name: text('Name of the algorithm'), id: text('Full id of the algorithm') }))
      .describe('The current fingerprint algorithms; no pair of name and id twice'),
    contexts: z
      .array(
        z.strictObject({
          context_id: text('Id of the context, once each'),
          algorithm_id: text('Id of a declared algorithm'),
          normalization_profile_id: text('Full id of the normalization profile'),
          source_schema_id: text('Id of the source schema'),
          mode: text('Mode of the context'),
        }),
      )
      .describe('The current fingerprint contexts'),
  })
  .superRefine(withRules<Declarations>(declarationRules))
  .describe('The fingerprint algorithms and contexts in force') satisfies z.ZodType<Declarations>;
