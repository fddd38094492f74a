/** The metadata document of a publication, completed with what is known of the arrays and checked before it is sent. */
import { isObject } from '../contract/checks.ts';
import { dtypeWidth, isDtype } from '../contract/dtypes.ts';
import { isSnapshotError, summarize, type Violation } from '../contract/errors.ts';
import { isArrayKey, type ArrayKey } from '../contract/ids.ts';
import { parseDraft, type DraftManifest, type SeenPayload } from '../contract/manifest.ts';
import { JsonNumber, type JsonValue } from '../contract/strict-json.ts';
import { refusedLocally } from './errors.ts';
import type { ArraySource } from './sources.ts';

/** What is known of payloads before they are sent. */
export type KnownPayloads = Readonly<Record<ArrayKey, SeenPayload>>;

/**
 * `metadata` is either the snapshot's metadata or a whole document with `snapshot` and `arrays`, such as a manifest.
 * What the sources tell (dtype, lengths, digests) is added where the document is silent, so that the service can refuse
 * bytes that were lost or changed on the way.
 *
 * @throws ContractViolationError with every violation at once
 */
export function draftOf(
  metadata: unknown,
  sources: readonly ArraySource[],
  known: KnownPayloads,
): DraftManifest {
  const given = plain(metadata);
  const document = isObject(given) && 'snapshot' in given ? given : { snapshot: given };
  const declared = isObject(document['arrays']) ? document['arrays'] : {};
  const violations: Violation[] = [];
  const arrays: Record<string, unknown> = Object.assign(Object.create(null) as object, declared);
  for (const source of sources) {
    const entry = arrays[source.key] ?? {};
    if (!isObject(entry)) continue;
    checkDtype(source, entry['dtype'], violations);
    arrays[source.key] = { ...fromSource(source, entry, known), ...entry };
  }
  const keys = new Set(sources.map(({ key }) => key));
  for (const key of Object.keys(arrays)) {
    if (isArrayKey(key) && !keys.has(key)) {
      violations.push({ path: `arrays.${key}`, message: 'is declared, but no bytes were given for it' });
    }
  }
  return parse({ ...document, arrays } as JsonValue, violations);
}

function checkDtype(source: ArraySource, declared: unknown, violations: Violation[]): void {
  const { key, dtype } = source;
  const path = `arrays.${key}.dtype`;
  if (dtype === null && declared === undefined) {
    violations.push({ path, message: 'is given neither with the array nor in the metadata' });
  } else if (dtype !== null && declared !== undefined && declared !== dtype) {
    violations.push({
      path,
      message: `differs from the array given, which holds ${dtype}`,
    });
  }
}

function fromSource(
  source: ArraySource,
  entry: Record<string, unknown>,
  known: KnownPayloads,
): Record<string, string> {
  const { key, dtype, byteLength } = source;
  const result: Record<string, string> = {};
  const effective = dtype ?? entry['dtype'];
  if (dtype !== null) result['dtype'] = dtype;
  if (byteLength !== null) result['byte_length'] = String(byteLength);
  if (byteLength !== null && isDtype(effective) && byteLength % dtypeWidth(effective) === 0) {
    result['count'] = String(byteLength / dtypeWidth(effective));
  }
  const seen = Object.hasOwn(known, key) ? known[key] : undefined;
  if (seen !== undefined) result['sha256'] = seen.sha256;
  return result;
}

function parse(document: JsonValue, violations: readonly Violation[]): DraftManifest {
  let draft: DraftManifest | null = null;
  let errors = violations;
  try {
    draft = parseDraft(document);
  } catch (error) {
    if (!isSnapshotError(error, 'contract_violation')) throw error;
    // What is already told in this side's words is not told again in the contract's.
    const told = new Set(violations.map(({ path }) => path));
    errors = [...violations, ...error.details.errors.filter(({ path }) => !told.has(path))];
  }
  if (draft !== null && errors.length === 0) return draft;
  throw refusedLocally('contract_violation', summarize(errors), { errors });
}

/** Plain values in the form the contract's checks judge: numbers keep their text, bigints become decimal strings. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return new JsonNumber(String(value));
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) if (member !== undefined) copy[name] = plain(member);
  return copy;
}
