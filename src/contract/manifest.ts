/** What a producer hands in, and the manifest: built canonically for a publication, proven again at every read (PW-07.01, PW-07.03, PW-07.05). */

import { payloadFileName } from './package.ts';
import { canonicalText } from './canonical-json.ts';
import { isObject } from './checks.ts';
import { sha256Hex } from './digest.ts';
import {
  ARRAY_SCHEMA_VERSION,
  draftDocument,
  draftSnapshot,
  ENDIANNESS,
  FORMAT,
  manifest as manifestDocument,
  VERSION,
} from './documents.ts';
import type { ArrayEntry, DraftManifest, DraftSnapshot, Manifest, SnapshotMetadata } from './documents.ts';
import { dtypeWidth, isDtype } from './dtypes.ts';
import {
  ContractViolationError,
  SnapshotError,
  StorageIntegrityError,
  summarize,
  UnsupportedPackageError,
} from './errors.ts';
import type { Violation } from './errors.ts';
import { isArrayKey } from './ids.ts';
import type { ArrayKey } from './ids.ts';
import { JsonNumber, parseStrictText } from './strict-json.ts';
import type { JsonValue } from './strict-json.ts';
import { decodeUtf8 } from './utf8.ts';
import { Violations } from './violations.ts';

export type {
  ArrayEntry,
  Coverage,
  DraftArray,
  DraftManifest,
  Fingerprint,
  Manifest,
  SnapshotMetadata,
} from './documents.ts';

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
  const document = draftDocument(value, '', violations);
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
  const snapshot = draftSnapshot(value, 'snapshot', violations);
  if (snapshot === undefined) throw new ContractViolationError(violations.list());
  return withParent(snapshot);
}

function withParent(snapshot: DraftSnapshot): SnapshotMetadata {
  return { ...snapshot, parent_id: snapshot.parent_id ?? null };
}

/** What was seen of one payload's bytes while they were written. */
export interface SeenPayload {
  /** Bytes. */
  readonly byteLength: bigint | number;
  /** Of exactly these bytes, 64 lowercase hex digits. */
  readonly sha256: string;
}

export interface BuiltManifest {
  readonly manifest: Manifest;
  /** The canonical bytes of `manifest.json`. */
  readonly bytes: Uint8Array;
  /** Of `bytes`, 64 lowercase hex digits. */
  readonly sha256: string;
}

/**
 * The manifest of a draft and the payloads that were seen for it. Whether these match what the draft declares is for
 * the caller to have checked; every array of the draft needs its payload.
 *
 * @throws TypeError if a payload or a dtype is missing, or a payload is not a whole number of elements
 */
export function buildManifest(
  draft: DraftManifest,
  payloads: Readonly<Record<ArrayKey, SeenPayload>>,
): BuiltManifest {
  const arrays = Object.create(null) as Record<ArrayKey, ArrayEntry>;
  for (const [key, { dtype }] of Object.entries(draft.arrays)) {
    const payload = Object.hasOwn(payloads, key) ? payloads[key] : undefined;
    if (payload === undefined) throw new TypeError(`Expected a payload for the array ${key}, found none.`);
    if (dtype === undefined) throw new TypeError(`Expected a dtype for the array ${key}, found none.`);
    const byteLength = BigInt(payload.byteLength);
    const width = BigInt(dtypeWidth(dtype));
    if (byteLength % width !== 0n) {
      throw new TypeError(`Expected whole elements of ${width} bytes for ${key}, found ${byteLength} bytes.`);
    }
    arrays[key] = {
      file: payloadFileName(key),
      dtype,
      count: String(byteLength / width),
      byte_length: String(byteLength),
      endianness: ENDIANNESS,
      sha256: payload.sha256,
    };
  }
  const manifest: Manifest = {
    format: FORMAT,
    version: VERSION,
    array_schema_version: ARRAY_SCHEMA_VERSION,
    snapshot: draft.snapshot,
    arrays,
  };
  const bytes = new TextEncoder().encode(canonicalText(manifest));
  return { manifest, bytes, sha256: sha256Hex(bytes) };
}

/**
 * Proves the bytes of a stored `manifest.json`: strict and canonical JSON, exact fields, every rule.
 *
 * @throws UnsupportedPackageError for a format, version, dtype or endianness of another kind, by name (PW-07.05)
 * @throws StorageIntegrityError `manifest` for everything else that does not hold
 */
export function parseManifest(bytes: Uint8Array): Manifest {
  const { text, document } = readJson(bytes);
  // Another version may have other fields, so its kind is judged before its shape.
  const otherKind = unsupportedKind(document);
  if (otherKind.length > 0) throw unsupported(otherKind);

  const violations = new Violations();
  const manifest = manifestDocument(document, '', violations);
  if (manifest !== undefined && isCanonical(document, text)) return manifest;

  const otherArrays = unsupportedArrays(document);
  const onlyUnsupported = otherArrays.length > 0 && otherArrays.length === violations.count;
  if (onlyUnsupported && isCanonical(document, text)) throw unsupported(otherArrays);
  const errors = violations.count > 0 ? violations.list() : [NOT_CANONICAL];
  throw new StorageIntegrityError(`The manifest does not hold. ${summarize(errors)}`, {
    problem: 'manifest',
    errors,
  });
}

const NOT_CANONICAL: Violation = {
  path: '',
  message: 'must be canonical JSON: sorted names, no blanks, no needless escapes; found another spelling',
};

function readJson(bytes: Uint8Array): { text: string; document: JsonValue } {
  try {
    const text = decodeUtf8(bytes);
    return { text, document: parseStrictText(text) };
  } catch (cause) {
    if (!(cause instanceof SnapshotError)) throw cause;
    const errors = [{ path: '', message: cause.message }];
    throw new StorageIntegrityError(
      `The manifest is not strict JSON. ${cause.message}`,
      { problem: 'manifest', errors },
      { cause },
    );
  }
}

/** Equal texts have equal bytes, as the text was decoded strictly and with any byte order mark kept. */
function isCanonical(document: JsonValue, text: string): boolean {
  try {
    return canonicalText(document) === text;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function unsupported(errors: readonly Violation[]): UnsupportedPackageError {
  return new UnsupportedPackageError(
    `The package is of a kind this service does not read. ${summarize(errors)}`,
    {
      errors,
    },
  );
}

/** Format and versions that are well typed and not ours. What is ill typed is left to the shape. */
function unsupportedKind(document: JsonValue): readonly Violation[] {
  const violations = new Violations();
  if (!isObject(document)) return [];
  const { format, version, array_schema_version: arraySchema } = document;
  if (typeof format === 'string' && format !== FORMAT) {
    violations.addFound('format', `must be "${FORMAT}"`, format);
  }
  if (version instanceof JsonNumber && version.isInteger && version.text !== String(VERSION)) {
    violations.addFound('version', `must be the integer ${VERSION}`, version);
  }
  if (typeof arraySchema === 'string' && arraySchema !== ARRAY_SCHEMA_VERSION) {
    violations.addFound('array_schema_version', `must be "${ARRAY_SCHEMA_VERSION}"`, arraySchema);
  }
  return violations.list();
}

/** Dtypes and byte orders that are strings and not ours. */
function unsupportedArrays(document: JsonValue): readonly Violation[] {
  const found: Violation[] = [];
  const arrays = isObject(document) ? document['arrays'] : undefined;
  if (!isObject(arrays)) return found;
  for (const [key, entry] of Object.entries(arrays)) {
    if (!isObject(entry)) continue;
    const { dtype, endianness } = entry;
    if (typeof dtype === 'string' && !isDtype(dtype)) {
      found.push(otherArray(key, 'dtype', 'one of the eight integer dtypes', dtype));
    }
    if (typeof endianness === 'string' && endianness !== ENDIANNESS) {
      found.push(otherArray(key, 'endianness', `"${ENDIANNESS}"`, endianness));
    }
  }
  return found;
}

function otherArray(key: string, field: string, expected: string, found: string): Violation {
  const violations = new Violations();
  violations.addFound(`arrays.${key}.${field}`, `must be ${expected}`, found);
  return violations.list()[0] ?? NOT_CANONICAL;
}
