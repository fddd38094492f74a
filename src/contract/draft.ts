/** What a producer hands in: the metadata document of a publication, or the metadata as plain values. */

import { isObject } from './checks.ts';
import { checkDraftDocument, checkDraftSnapshot } from './document-checks.ts';
import type { DraftSnapshot } from './document-checks.ts';
import { ContractViolationError } from './errors.ts';
import { isArrayKey } from './ids.ts';
import type { DraftManifest, SnapshotMetadata } from './model.ts';
import type { JsonValue } from './strict-json.ts';
import { Violations } from './violations.ts';

/**
 * Checks a metadata document (PW-07.01, PW-07.02): exact field sets, every field, and the rules across fields.
 * `parent_id` may be left out, and so may everything the service works out by itself; what is given must be right.
 *
 * With `dtypeFromPayload` a dtype may be left out as well, if nothing else is wrong: whoever stores the payloads then
 * has to learn it from them.
 *
 * @throws ContractViolationError with all violations at once, up to 100
 */
export function parseDraft(value: JsonValue, { dtypeFromPayload = false } = {}): DraftManifest {
  const violations = new Violations();
  const document = checkDraftDocument(value, '', violations);
  if (document === undefined || !dtypeFromPayload) requireDtypes(value, violations);
  if (document === undefined || violations.count > 0) throw new ContractViolationError(violations.list());
  return { snapshot: withParent(document.snapshot), arrays: document.arrays };
}

function requireDtypes(value: JsonValue, violations: Violations): void {
  const arrays = isObject(value) ? value['arrays'] : undefined;
  if (!isObject(arrays)) return;
  for (const [key, entry] of Object.entries(arrays)) {
    if (isArrayKey(key) && isObject(entry) && entry['dtype'] === undefined) {
      violations.add(`arrays.${key}.dtype`, DTYPE_MISSING);
    }
  }
}

/** What is wrong with an array whose dtype nobody says. */
export const DTYPE_MISSING = 'is required but missing; only a .npy part (application/x-npy) says its own';

/**
 * Checks metadata given as plain values. The uint64 fields are bigints or decimal strings; a number is refused, as it
 * cannot hold every uint64. The result is a copy.
 *
 * @throws ContractViolationError with all violations at once; their paths begin with `snapshot`
 */
export function parseSnapshotMetadata(value: unknown): SnapshotMetadata {
  const violations = new Violations();
  const snapshot = checkDraftSnapshot(value, 'snapshot', violations);
  if (snapshot === undefined) throw new ContractViolationError(violations.list());
  return withParent(snapshot);
}

function withParent(snapshot: DraftSnapshot): SnapshotMetadata {
  return { ...snapshot, parent_id: snapshot.parent_id ?? null };
}
