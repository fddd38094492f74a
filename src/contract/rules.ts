/** Rules that span fields (PW-07.01, PW-07.02). Each judges the fields it can see and leaves the others alone. */

import { payloadFileName } from './package.ts';
import type { ValidFields } from './checks.ts';
import { dtypeWidth } from './dtypes.ts';
import type { Coverage, CoverageStatus, DraftArray, SnapshotMetadata } from './model.ts';
import { quote } from './text.ts';
import { compareUint64 } from './uint64.ts';
import type { Violations } from './violations.ts';

type CoverageRule = (fields: ValidFields<Coverage>, path: string, violations: Violations) => void;

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
  { failure_reasons: reasons }: ValidFields<Coverage>,
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
export function coverageRules(fields: ValidFields<Coverage>, path: string, violations: Violations): void {
  if (fields.status !== undefined) COVERAGE_RULES[fields.status](fields, path, violations);
}

/** The end is not before the start, and no snapshot is its own parent (PW-07.01). */
export function snapshotRules(
  fields: ValidFields<SnapshotMetadata>,
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

/** A payload is `count` elements and nothing else, in the one file its key stands for (PW-07.02). */
export function arrayRules(fields: ValidFields<DraftArray>, path: string, violations: Violations): void {
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
