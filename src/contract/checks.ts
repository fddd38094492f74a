/**
 * Checks of one value each, composed into checks of whole documents. They are written by hand rather than run
 * through a schema library for three reasons: rules across fields must be judged on whatever fields are valid by
 * themselves, `__proto__` and `constructor` are names like any other, and every read of a snapshot runs them.
 */

import { SHA256_HEX_PATTERN } from './digest.ts';
import { isSnapshotId } from './ids.ts';
import { JsonNumber } from './strict-json.ts';
import { isWellFormedText } from './text.ts';
import { isUint64 } from './uint64.ts';
import { memberPath } from './violations.ts';
import type { Violations } from './violations.ts';

/** Gives the value in its checked type, or adds violations and gives undefined. */
export type Check<T> = (value: unknown, path: string, violations: Violations) => T | undefined;

/** A check for every field of `T`. */
export type FieldChecks<T> = { readonly [K in keyof T]-?: Check<Exclude<T[K], undefined>> };

/** The fields that are valid by themselves; the others are absent or undefined. */
export type ValidFields<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Judges what spans fields. */
export type Rules<T> = (fields: ValidFields<T>, path: string, violations: Violations) => void;

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** A check that passes what `accepts` accepts and otherwise says `expected`. */
function check<T>(accepts: (value: unknown) => value is T, expected: string): Check<T> {
  return (value, path, violations) => {
    if (accepts(value)) return value;
    violations.addFound(path, expected, value);
    return undefined;
  };
}

export const checkSnapshotId = check(isSnapshotId, 'must be a snapshot id: 32 lowercase hex digits');

/** Null says that there is none; the spellings of null that some languages write as text are told apart from a wrong id. */
export const checkParentId: Check<string | null> = (value, path, violations) => {
  const isNull = typeof value === 'string' && /^(?:null|none|nil|undefined|)$/iu.test(value.trim());
  if (!isNull) return orNull(checkSnapshotId)(value, path, violations);
  violations.addFound(path, 'must be null without quotes, or left out, where there is no parent', value);
  return undefined;
};

export const checkSha256 = check(
  (value): value is string => typeof value === 'string' && SHA256_HEX_PATTERN.test(value),
  'must be a SHA-256: 64 lowercase hex digits',
);

const checkUint64Text = check(
  isUint64,
  'must be an integer from 0 to 18446744073709551615 as a decimal string without sign, blanks or leading zeros',
);

/** Also takes a bigint, which no JSON text gives but a caller of the library may. */
export const checkUint64: Check<string> = (value, path, violations) =>
  checkUint64Text(typeof value === 'bigint' ? value.toString() : value, path, violations);

export const checkText: Check<string> = check(
  (value): value is string => typeof value === 'string' && value !== '' && isWellFormedText(value),
  'must be a nonempty string of Unicode text without lone surrogates',
);

/** The integer itself: `true`, `1.0` and `"1"` are something else (PW-07.01). */
export function checkInteger<T extends number>(expected: T): Check<T> {
  const text = String(expected);
  return (value, path, violations) => {
    if (value instanceof JsonNumber && value.text === text) return expected;
    violations.addFound(path, `must be the integer ${text}`, value);
    return undefined;
  };
}

export function oneOf<T extends string>(allowed: readonly T[]): Check<T> {
  const names = allowed.map((name) => `"${name}"`).join(', ');
  const expected = allowed.length === 1 ? `must be ${names}` : `must be one of ${names}`;
  return check((value): value is T => (allowed as readonly unknown[]).includes(value), expected);
}

export function orNull<T>(inner: Check<T>): Check<T | null> {
  return (value, path, violations) => (value === null ? null : inner(value, path, violations));
}

export function listOf<T>(item: Check<T>): Check<readonly T[]> {
  return (value, path, violations) => {
    if (!Array.isArray(value)) {
      violations.addFound(path, 'must be an array', value);
      return undefined;
    }
    const before = violations.count;
    const items = Array.from(value, (entry: unknown, index) => item(entry, `${path}.${index}`, violations));
    return violations.count === before ? (items as T[]) : undefined;
  };
}

/** An object with exactly these fields; those in `optional` may be left out. */
export function objectOf<T extends object>(
  fields: FieldChecks<T>,
  optional: readonly OptionalKeys<T>[] = [],
  rules: Rules<T> = () => undefined,
): Check<T> {
  const names = Object.keys(fields) as (keyof T & string)[];
  const mayLack = new Set<PropertyKey>(optional);
  return (value, path, violations) => {
    if (!isObject(value)) {
      violations.addFound(path, `must be an object with the fields ${names.join(', ')}`, value);
      return undefined;
    }
    const before = violations.count;
    const valid: Partial<T> = {};
    let present = 0;
    for (const name of names) {
      const field = value[name];
      if (field === undefined) {
        if (!mayLack.has(name)) violations.add(memberPath(path, name), 'is required but missing');
        continue;
      }
      present += 1;
      const checked = fields[name](field, memberPath(path, name), violations);
      if (checked !== undefined) valid[name] = checked;
    }
    const given = Object.keys(value);
    if (given.length !== present) refuseUnknown(value, given, fields, path, violations);
    rules(valid, path, violations);
    return violations.count === before ? (valid as T) : undefined;
  };
}

function refuseUnknown(
  value: Record<string, unknown>,
  given: readonly string[],
  fields: object,
  path: string,
  violations: Violations,
): void {
  for (const name of given) {
    if (Object.hasOwn(fields, name) || value[name] === undefined) continue;
    violations.add(
      memberPath(path, name),
      `is not a field here; expected only ${Object.keys(fields).join(', ')}`,
    );
  }
}

/** Any object with named members; neither a list nor a number that kept its text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}
