/** `components.schemas` of the document, from the zod schemas that describe what the service takes and gives. */
import { z } from 'zod';
import {
  arrayEntrySchema,
  declarationsSchema,
  draftManifestSchema,
  manifestSchema,
  snapshotMetadataSchema,
} from '../../contract/schemas.ts';
import type { JsonObject } from './json-object.ts';
import { ERROR_CODES, problemName, problemSchema, violationSchema } from './problem-schemas.ts';
import {
  aliveSchema,
  incompleteAttemptSchema,
  incompleteListingSchema,
  readySchema,
  snapshotListingSchema,
  snapshotSummarySchema,
} from './service-schemas.ts';

const SCHEMAS = {
  Manifest: manifestSchema,
  SnapshotMetadata: snapshotMetadataSchema,
  Coverage: snapshotMetadataSchema.shape.coverage,
  Fingerprint: snapshotMetadataSchema.shape.fingerprint,
  ArrayEntry: arrayEntrySchema,
  DraftManifest: draftManifestSchema,
  DraftSnapshot: draftManifestSchema.shape.snapshot,
  DraftArray: draftManifestSchema.shape.arrays.valueType,
  Declarations: declarationsSchema,
  SnapshotListing: snapshotListingSchema,
  SnapshotSummary: snapshotSummarySchema,
  IncompleteListing: incompleteListingSchema,
  IncompleteAttempt: incompleteAttemptSchema,
  Alive: aliveSchema,
  Ready: readySchema,
  Violation: violationSchema,
} as const satisfies Record<string, z.ZodType>;

export type SchemaName = keyof typeof SCHEMAS;

/** JSON Schema 2020-12, which OpenAPI 3.1 takes as it is; rules that it cannot say are in the descriptions. */
export function schemaComponents(): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  for (const code of ERROR_CODES) registry.add(problemSchema(code), { id: problemName(code) });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: schemaRef });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $id: _id, $schema: _schema, ...schema }]) => [name, schema]),
  );
}

export function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}
