/** The checks of the contract's documents, from the leaves up: field sets are exact everywhere (PW-07.01). */

import {
  checkInteger,
  checkSha256,
  checkParentId,
  checkSnapshotId,
  checkText,
  checkUint64,
} from './checks.ts';
import { isObject, listOf, objectOf, oneOf, orNull } from './checks.ts';
import type { Check, FieldChecks } from './checks.ts';
import { DTYPE_NAMES } from './dtypes.ts';
import { isArrayKey } from './ids.ts';
import type { ArrayKey } from './ids.ts';
import {
  ARRAY_SCHEMA_VERSION,
  COVERAGE_STATUSES,
  ENDIANNESS,
  FORMAT,
  RESOLUTIONS,
  VERSION,
} from './model.ts';
import type { ArrayEntry, Coverage, DraftArray, Fingerprint, Manifest, SnapshotMetadata } from './model.ts';
import { arrayRules, coverageRules, snapshotRules } from './rules.ts';
import { memberPath } from './violations.ts';

const checkCoverage = objectOf<Coverage>(
  {
    status: oneOf(COVERAGE_STATUSES),
    expected_records: orNull(checkUint64),
    returned_records: checkUint64,
    failure_reasons: listOf(checkText),
  },
  [],
  coverageRules,
);

const checkFingerprint = objectOf<Fingerprint>({
  algorithm_name: checkText,
  algorithm_id: checkText,
  context_id: checkText,
  normalization_profile_id: checkText,
  source_schema_id: checkText,
  mode: checkText,
});

const SNAPSHOT_FIELDS: FieldChecks<SnapshotMetadata> = {
  snapshot_id: checkSnapshotId,
  parent_id: checkParentId,
  source_namespace: checkText,
  source_version: checkText,
  source_consistency: checkText,
  scope: checkText,
  started_at_ns: checkUint64,
  finished_at_ns: checkUint64,
  resolution: oneOf(RESOLUTIONS),
  coverage: checkCoverage,
  fingerprint: checkFingerprint,
};

const ARRAY_FIELDS: FieldChecks<ArrayEntry> = {
  file: checkText,
  dtype: oneOf(DTYPE_NAMES),
  count: checkUint64,
  byte_length: checkUint64,
  endianness: oneOf([ENDIANNESS]),
  sha256: checkSha256,
};

const MAY_LACK_IN_DRAFT = ['dtype', 'file', 'count', 'byte_length', 'endianness', 'sha256'] as const;

/** An object whose names are array keys. */
function arraysOf<T>(checkEntry: Check<T>): Check<Readonly<Record<ArrayKey, T>>> {
  return (value, path, violations) => {
    if (!isObject(value)) {
      violations.addFound(path, 'must be an object with an entry for each array', value);
      return undefined;
    }
    const before = violations.count;
    const arrays = Object.create(null) as Record<ArrayKey, T>;
    for (const key of Object.keys(value)) {
      const entryPath = memberPath(path, key);
      if (!isArrayKey(key)) {
        violations.addFound(entryPath, 'must have a key that matches [a-z][a-z0-9_]{0,63}', key);
        continue;
      }
      const entry = checkEntry(value[key], entryPath, violations);
      if (entry !== undefined) arrays[key] = entry;
    }
    return violations.count === before ? arrays : undefined;
  };
}

const FORMAT_FIELDS = {
  format: oneOf([FORMAT]),
  version: checkInteger(VERSION),
  array_schema_version: oneOf([ARRAY_SCHEMA_VERSION]),
};

/** A stored manifest: everything is there. */
export const checkManifest = objectOf<Manifest>({
  ...FORMAT_FIELDS,
  snapshot: objectOf(SNAPSHOT_FIELDS, [], snapshotRules),
  arrays: arraysOf(objectOf(ARRAY_FIELDS, [], arrayRules)),
});

/** The metadata of a draft, which may leave `parent_id` out. */
export type DraftSnapshot = Omit<SnapshotMetadata, 'parent_id'> &
  Partial<Pick<SnapshotMetadata, 'parent_id'>>;

export const checkDraftSnapshot = objectOf<DraftSnapshot>(SNAPSHOT_FIELDS, ['parent_id'], snapshotRules);

/** A draft as a document: what the service can work out by itself may be left out. */
export interface DraftDocument extends Partial<Omit<Manifest, 'snapshot' | 'arrays'>> {
  readonly snapshot: DraftSnapshot;
  readonly arrays: Readonly<Record<ArrayKey, DraftArray>>;
}

export const checkDraftDocument = objectOf<DraftDocument>(
  {
    ...FORMAT_FIELDS,
    snapshot: checkDraftSnapshot,
    arrays: arraysOf(objectOf<DraftArray>(ARRAY_FIELDS, MAY_LACK_IN_DRAFT, arrayRules)),
  },
  ['format', 'version', 'array_schema_version'],
);
