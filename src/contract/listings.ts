/** What listings are made of, in the store, on the wire and in the client (CONTRACT section 3, PW-07.18). */
import {
  listOf,
  matching,
  meaning,
  moment,
  objectOf,
  oneOf,
  orNull,
  sha256,
  snapshotId,
  text,
  uint64,
  wholeNumber,
  type Checked,
} from './checks.ts';
import { COVERAGE_STATUSES, RESOLUTIONS } from './documents.ts';

// A sum of uint64 lengths may be longer than one of them.
const sumOfBytes = matching(/^(?:0|[1-9][0-9]{0,39})$/, 'must be a number of bytes as a decimal string');

export const snapshotSummary = objectOf(
  'One published snapshot, proven as far as the listing says',
  {
    snapshot_id: snapshotId,
    parent_id: orNull(snapshotId),
    source_namespace: text('Where the data lives'),
    source_version: text('Which version of the source was read'),
    scope: text('What part of the source was read'),
    resolution: oneOf(RESOLUTIONS),
    coverage_status: oneOf(COVERAGE_STATUSES),
    started_at_ns: uint64('Epoch nanoseconds'),
    finished_at_ns: uint64('Epoch nanoseconds'),
    array_count: meaning('Arrays', wholeNumber),
    byte_length: meaning('Sum of the payloads in bytes, decimal', sumOfBytes),
    manifest_sha256: meaning('Of the manifest, as in its ETag', sha256),
  },
  { open: true },
);
export type SnapshotSummary = Checked<typeof snapshotSummary>;

/** What cannot be proven, in a listing that shows it among the others instead of failing. */
export const damagedSnapshot = objectOf(
  'An entry that cannot be proven, where the listing was asked to show such',
  {
    snapshot_id: text('The name of the entry: an id, or whatever foreign thing lies there'),
    problem: objectOf(
      'Why it cannot be proven',
      { code: text('The code of its problem'), detail: text('What does not hold') },
      { open: true },
    ),
  },
  { open: true },
);
export type DamagedSnapshot = Checked<typeof damagedSnapshot>;

/** How much of each entry was proven before it was listed. */
export const PROOFS = ['all', 'frame'] as const;

/** STAGING: an intent without a marker. VALIDATED: a whole package that was never renamed into place. */
export const PHASES = ['STAGING', 'VALIDATED', 'INVALID', 'UNAVAILABLE'] as const;
export type Phase = (typeof PHASES)[number];

/** Ends the diagnostic of an attempt that a publication of this very service is at work on. */
export const IN_FLIGHT = 'This service is writing it now.';

export const incompleteAttempt = objectOf(
  'One attempt that is not, or not yet, a snapshot',
  {
    path: meaning(
      'Relative to the root: in staging/ of a directory, in packages/ on an engine',
      matching(/^(?:staging|packages)\//, 'must lie in staging/ or packages/'),
    ),
    snapshot_id: orNull(meaning('The id that was to be published, null where it cannot be told', snapshotId)),
    phase: meaning(
      'STAGING: an intent without a marker. VALIDATED: whole, but never put in place. INVALID: bytes or names that no ' +
        'running publication leaves. UNAVAILABLE: cannot be read.',
      oneOf(PHASES),
    ),
    diagnostic: text('What was found, concretely'),
    byte_length: meaning('Sum of its regular files in bytes, decimal', sumOfBytes),
    modified_at: orNull(meaning('The latest change, UTC', moment)),
  },
  { open: true },
);
export type IncompleteAttempt = Checked<typeof incompleteAttempt>;

/** The pages that hold them, as the service describes them. */
export const incompleteListing = objectOf(
  'A page of attempts',
  {
    incomplete: meaning('In the order of their names', listOf(incompleteAttempt)),
    next: orNull(text('Pass it as after to go on; null at the end')),
  },
  { open: true },
);
