/** What the service says beside the contract's own documents: listings, probes. */
import { z } from 'zod';
import { SHA256_HEX_PATTERN } from '../../contract/digest.ts';
import { SNAPSHOT_ID_PATTERN } from '../../contract/ids.ts';
import { COVERAGE_STATUSES, RESOLUTIONS } from '../../contract/model.ts';
import { UINT64_PATTERN } from '../../contract/uint64.ts';
import type { IncompleteAttempt, Phase, SnapshotSummary } from '../../contract/listings.ts';
import type { IncompleteListing } from '../../store/inspection.ts';
import type { SnapshotListing } from '../../store/listing.ts';

const id = z.string().regex(SNAPSHOT_ID_PATTERN);
const uint64 = z.string().regex(UINT64_PATTERN);

export const snapshotSummarySchema = z
  .object({
    snapshot_id: id,
    parent_id: id.nullable(),
    source_namespace: z.string().min(1),
    source_version: z.string().min(1),
    scope: z.string().min(1),
    resolution: z.enum(RESOLUTIONS),
    coverage_status: z.enum(COVERAGE_STATUSES),
    started_at_ns: uint64.describe('Epoch nanoseconds'),
    finished_at_ns: uint64.describe('Epoch nanoseconds'),
    array_count: z.int().min(0),
    byte_length: z
      .string()
      .regex(/^[0-9]+$/u)
      .describe('Sum of the payloads in bytes, decimal'),
    manifest_sha256: z.string().regex(SHA256_HEX_PATTERN).describe('Of the manifest, as in its ETag'),
  })
  .describe('One published snapshot, proven') satisfies z.ZodType<SnapshotSummary>;

export const snapshotListingSchema = z
  .object({
    snapshots: z.array(snapshotSummarySchema).describe('In the order of their ids'),
    next: id.nullable().describe('Pass it as after to go on; null at the end'),
  })
  .describe('A page of snapshots') satisfies z.ZodType<SnapshotListing>;

const PHASES = { STAGING: true, VALIDATED: true, INVALID: true, UNAVAILABLE: true } satisfies Record<
  Phase,
  true
>;

export const incompleteAttemptSchema = z
  .object({
    path: z
      .string()
      .regex(/^staging\//u)
      .describe('Relative to the root'),
    snapshot_id: id.nullable().describe('The id that was to be published, null where it cannot be told'),
    phase: z
      .enum(Object.keys(PHASES) as Phase[])
      .describe(
        'STAGING: an intent without a marker. VALIDATED: whole, but never put in place. INVALID: bytes or names that no ' +
          'running publication leaves. UNAVAILABLE: cannot be read.',
      ),
    diagnostic: z.string().min(1).describe('What was found, concretely'),
    byte_length: z
      .string()
      .regex(/^[0-9]+$/u)
      .describe('Sum of its regular files in bytes, decimal'),
    modified_at: z.iso.datetime().nullable().describe('The latest change, UTC'),
  })
  .describe('One attempt that is not, or not yet, a snapshot') satisfies z.ZodType<IncompleteAttempt>;

export const incompleteListingSchema = z
  .object({
    incomplete: z.array(incompleteAttemptSchema).describe('In the order of their names'),
    next: z.string().nullable().describe('Pass it as after to go on; null at the end'),
  })
  .describe('A page of attempts') satisfies z.ZodType<IncompleteListing>;

export const aliveSchema = z.object({ status: z.literal('alive') }).describe('The process answers');

export const readySchema = z
  .object({
    status: z.literal('ready'),
    read_only: z.boolean().describe('True where nothing can be published here'),
  })
  .describe('Requests can be served');
