/**
 * The documents of the contract (PW-07.01, PW-07.02): what each field is, what rules span them, and the types that follow.
 * Field sets are exact everywhere; uint64 values are decimal strings, exact beyond 2^53.
 */

import {
  byArrayKey,
  integer,
  listOf,
  meaning,
  objectOf,
  oneOf,
  orNull,
  parentIdOf,
  sha256,
  snapshotId,
  text,
  uint64,
} from './checks.ts';
import type { Checked, ObjectOf, ValidFields } from './checks.ts';
import { DTYPE_NAMES, dtypeWidth } from './dtypes.ts';
import type { ArrayKey } from './ids.ts';
import { payloadFileName } from './package.ts';
import { quote } from './text.ts';
import { compareUint64 } from './uint64.ts';
import type { Violations } from './violations.ts';

export const FORMAT = 'pipewhy.snapshot';
export const VERSION = 1;
export const ARRAY_SCHEMA_VERSION = '1.0';
export const ENDIANNESS = 'little';

export const RESOLUTIONS = ['dataset', 'record', 'value'] as const;

export const COVERAGE_STATUSES = ['COMPLETE', 'PARTIAL', 'UNAVAILABLE'] as const;
export type CoverageStatus = (typeof COVERAGE_STATUSES)[number];

const COVERAGE_FIELDS = {
  status: meaning('How much of the scope was captured', oneOf(COVERAGE_STATUSES)),
  expected_records: orNull(
    uint64('Records the source should have given, null if unknown; unknown is not zero'),
  ),
  returned_records: uint64('Records that were captured'),
  failure_reasons: meaning('Empty exactly when COMPLETE', listOf(text('Why records are missing'))),
};

type CoverageFields = ValidFields<ObjectOf<typeof COVERAGE_FIELDS>>;
type CoverageRule = (fields: CoverageFields, path: string, violations: Violations) => void;

const COVERAGE_RULES: Readonly<Record<CoverageStatus, CoverageRule>> = {
  COMPLETE(
    { expected_records: expected, returned_records: returned, failure_reasons: reasons },
    path,
    violations,
  ) {
    if (expected === null) {
      violations.add(`${path}.expected_records`, 'must be known when status is COMPLETE; found null');
    } else if (expected !== undefined && returned !== undefined && expected !== returned) {
      violations.add(
        `${path}.returned_records`,
        `must equal expected_records ${expected} when status is COMPLETE; found ${returned}`,
      );
    }
    if (reasons !== undefined && reasons.length > 0) {
      violations.add(
        `${path}.failure_reasons`,
        `must be empty when status is COMPLETE; found ${reasons.length} of them`,
      );
    }
  },

  PARTIAL(fields, path, violations) {
    const { expected_records: expected, returned_records: returned } = fields;
    requireReasons('PARTIAL', fields, path, violations);
    if (typeof expected === 'string' && returned !== undefined && compareUint64(returned, expected) > 0) {
      violations.add(
        `${path}.returned_records`,
        `must be at most expected_records ${expected} when status is PARTIAL; found ${returned}`,
      );
    }
  },

  UNAVAILABLE(fields, path, violations) {
    const { returned_records: returned } = fields;
    requireReasons('UNAVAILABLE', fields, path, violations);
    if (returned !== undefined && returned !== '0') {
      violations.add(
        `${path}.returned_records`,
        `must be "0" when status is UNAVAILABLE; found ${quote(returned)}`,
      );
    }
  },
};

function requireReasons(
  status: CoverageStatus,
  { failure_reasons: reasons }: CoverageFields,
  path: string,
  violations: Violations,
): void {
  if (reasons?.length !== 0) return;
  violations.add(
    `${path}.failure_reasons`,
    `must hold at least one reason when status is ${status}; found none`,
  );
}

/** What each status demands of the counts and the reasons (PW-07.01). */
function coverageRules(fields: CoverageFields, path: string, violations: Violations): void {
  if (fields.status !== undefined) COVERAGE_RULES[fields.status](fields, path, violations);
}

export const coverage = objectOf(
  'COMPLETE: expected_records is known and equals returned_records, no failure_reasons. ' +
    'PARTIAL: failure_reasons, and returned_records is at most a known expected_records. ' +
    'UNAVAILABLE: failure_reasons, and returned_records is "0".',
  COVERAGE_FIELDS,
  { rules: coverageRules },
);
export type Coverage = Checked<typeof coverage>;

/** The full C3 identity of the fingerprints' context, never a local handle (PW-07.01). */
export const fingerprint = objectOf(
  'The full identity of the fingerprint context; must equal a declared context (GET /contexts)',
  {
    algorithm_name: text('Name of the fingerprint algorithm'),
    algorithm_id: text('Full id of the fingerprint algorithm'),
    context_id: text('Id of the declared context'),
    normalization_profile_id: text('Full id of the normalization profile'),
    source_schema_id: text('Id of the source schema'),
    mode: text('Mode of the context'),
  },
);
export type Fingerprint = Checked<typeof fingerprint>;

const SNAPSHOT_FIELDS = {
  snapshot_id: meaning('32 lowercase hex digits that the producer chooses', snapshotId),
  parent_id: parentIdOf('A snapshot that is published already, or null for none'),
  source_namespace: text('Where the data lives'),
  source_version: text('Which version of the source was read'),
  source_consistency: text('How consistent the read was'),
  scope: text('What part of the source was read'),
  started_at_ns: uint64('Begin of the capture in epoch nanoseconds'),
  finished_at_ns: uint64('End of the capture in epoch nanoseconds, not before the begin'),
  resolution: meaning('The detail that is retained', oneOf(RESOLUTIONS)),
  coverage,
  fingerprint,
};
type SnapshotFields = ObjectOf<typeof SNAPSHOT_FIELDS>;

/** The end is not before the start, and no snapshot is its own parent (PW-07.01). */
function snapshotRules(
  fields: ValidFields<Pick<SnapshotFields, 'started_at_ns' | 'finished_at_ns' | 'snapshot_id' | 'parent_id'>>,
  path: string,
  violations: Violations,
): void {
  const { started_at_ns: started, finished_at_ns: finished, snapshot_id: id, parent_id: parent } = fields;
  if (started !== undefined && finished !== undefined && compareUint64(finished, started) < 0) {
    violations.add(
      `${path}.finished_at_ns`,
      `must not be before started_at_ns ${started}; found ${finished}`,
    );
  }
  if (id !== undefined && parent === id) {
    violations.add(`${path}.parent_id`, 'must be another snapshot or null; found the id of this snapshot');
  }
}

export const snapshotMetadata = objectOf('One explicitly versioned source scope', SNAPSHOT_FIELDS, {
  rules: snapshotRules,
});
export type SnapshotMetadata = Checked<typeof snapshotMetadata>;

/** The metadata of a draft, which may leave `parent_id` out. */
export const draftSnapshot = objectOf(
  'One explicitly versioned source scope; parent_id may be left out',
  SNAPSHOT_FIELDS,
  { optional: ['parent_id'], rules: snapshotRules },
);
export type DraftSnapshot = Checked<typeof draftSnapshot>;

const ARRAY_FIELDS = {
  file: text('array-<key>.bin'),
  dtype: meaning('Type of the elements', oneOf(DTYPE_NAMES)),
  count: uint64('Elements'),
  byte_length: uint64('Bytes: count times the width of the dtype'),
  endianness: meaning('Byte order of the elements', oneOf([ENDIANNESS])),
  sha256: meaning('SHA-256 of the exact bytes, lowercase hex', sha256),
};

/** A payload is `count` elements and nothing else, in the one file its key stands for (PW-07.02). */
function arrayRules(
  fields: ValidFields<ObjectOf<typeof ARRAY_FIELDS>>,
  path: string,
  violations: Violations,
): void {
  const { file, dtype, count, byte_length: byteLength } = fields;
  // The last step of an array's path is its key, and a key holds no dot.
  const expectedFile = payloadFileName(path.slice(path.lastIndexOf('.') + 1));
  if (file !== undefined && file !== expectedFile) {
    violations.add(`${path}.file`, `must be "${expectedFile}"; found ${quote(file)}`);
  }
  if (dtype === undefined || count === undefined || byteLength === undefined) return;
  const expectedLength = payloadBytes(count, dtypeWidth(dtype));
  if (byteLength !== expectedLength) {
    violations.add(
      `${path}.byte_length`,
      `must be count ${count} times the ${dtypeWidth(dtype)} bytes of ${dtype}, ${expectedLength}; found ${byteLength}`,
    );
  }
}

/** count times width; exact, and without a bigint where the count is small. */
function payloadBytes(count: string, width: number): string {
  return count.length < 15 ? String(Number(count) * width) : String(BigInt(count) * BigInt(width));
}

/** What the manifest says of one payload (PW-07.02, PW-07.03). */
export const arrayEntry = objectOf('One array of a published snapshot', ARRAY_FIELDS, { rules: arrayRules });
export type ArrayEntry = Checked<typeof arrayEntry>;

/** What a producer says of one array before its bytes are seen; what is given must turn out right. */
export const draftArray = objectOf(
  'One array to come; dtype is needed unless its part is a .npy file, and all that is given must match the bytes',
  ARRAY_FIELDS,
  { optional: ['dtype', 'file', 'count', 'byte_length', 'endianness', 'sha256'], rules: arrayRules },
);
export type DraftArray = Checked<typeof draftArray>;

const FORMAT_FIELDS = {
  format: oneOf([FORMAT]),
  version: integer(VERSION),
  array_schema_version: oneOf([ARRAY_SCHEMA_VERSION]),
};

/** A stored manifest: everything is there. */
export const manifest = objectOf('The manifest of a published snapshot; stored and sent as canonical JSON', {
  ...FORMAT_FIELDS,
  snapshot: snapshotMetadata,
  arrays: byArrayKey('The arrays by key, [a-z][a-z0-9_]{0,63}', arrayEntry),
});
export type Manifest = Checked<typeof manifest>;

/** A draft as a document: what the service can work out by itself may be left out. */
export const draftDocument = objectOf(
  'What a producer says of a snapshot; a whole manifest is a valid document',
  {
    ...FORMAT_FIELDS,
    snapshot: draftSnapshot,
    arrays: byArrayKey('The arrays to come by key, [a-z][a-z0-9_]{0,63}; one part each', draftArray),
  },
  { optional: ['format', 'version', 'array_schema_version'] },
);

/** The metadata document of a publication, checked. */
export interface DraftManifest {
  readonly snapshot: SnapshotMetadata;
  /** Has no prototype: `constructor` is a legal key. */
  readonly arrays: Readonly<Record<ArrayKey, DraftArray>>;
}
