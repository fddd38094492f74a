/**
 * Checks of one value each, composed into checks of whole documents. What judges a document also describes it: every
 * check carries its JSON Schema (2020-12), and the types of the documents are those that their checks give. They are
 * written by hand rather than run through a schema library for three reasons: rules across fields must be judged on
 * whatever fields are valid by themselves, `__proto__` and `constructor` are names like any other, and every read of a
 * snapshot runs them.
 */

import {
  ARRAY_KEY_PATTERN,
  isArrayKey,
  isSnapshotId,
  SHA256_HEX_PATTERN,
  SNAPSHOT_ID_PATTERN,
} from './ids.ts';
import type { ArrayKey } from './ids.ts';
import { JsonNumber } from './json-value.ts';
import { isWellFormedText } from './text.ts';
import { isUint64, UINT64_PATTERN } from './uint64.ts';
import { memberPath } from './violations.ts';
import { Violations } from './violations.ts';

/** A schema as plain JSON; the schemas of members are the very objects that their checks carry. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Gives the value in its checked type, or adds violations and gives undefined. */
export interface Check<T> {
  (value: unknown, path: string, violations: Violations): T | undefined;
  /** What rules across fields demand stands in the description, as a schema cannot say it. */
  readonly schema: JsonSchema;
}

/** The type that a check gives. */
export type Checked<C> = C extends Check<infer T> ? T : never;

/** A check for every field of an object. */
export type Fields = Readonly<Record<string, Check<unknown>>>;

type Required<F extends Fields, O extends keyof F> = {
  readonly [K in Exclude<keyof F, O>]: Checked<F[K]>;
};
type Optional<F extends Fields, O extends keyof F> = { readonly [K in O]?: Checked<F[K]> };
/** The object of fields `F`, of which those in `O` may be left out. */
export type ObjectOf<F extends Fields, O extends keyof F = never> = {
  readonly [K in keyof (Required<F, O> & Optional<F, O>)]: (Required<F, O> & Optional<F, O>)[K];
};

/** The fields that are valid by themselves; the others are absent or undefined. */
export type ValidFields<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Judges what spans fields. */
export type Rules<T> = (fields: ValidFields<T>, path: string, violations: Violations) => void;

function described<T>(
  schema: JsonSchema,
  judge: (value: unknown, path: string, violations: Violations) => T | undefined,
): Check<T> {
  return Object.assign(judge, { schema });
}

/** A check that passes what `accepts` accepts and otherwise says `expected`. */
function check<T>(schema: JsonSchema, accepts: (value: unknown) => value is T, expected: string): Check<T> {
  return described(schema, (value, path, violations) => {
    if (accepts(value)) return value;
    violations.addFound(path, expected, value);
    return undefined;
  });
}

/** The same check of a value that means `description`. */
export function meaning<T>(description: string, inner: Check<T>, more: JsonSchema = {}): Check<T> {
  return described({ ...inner.schema, description, ...more }, (...given) => inner(...given));
}

export const snapshotId = check(
  { type: 'string', pattern: SNAPSHOT_ID_PATTERN.source, examples: ['0123456789abcdef0123456789abcdef'] },
  isSnapshotId,
  'must be a snapshot id: 32 lowercase hex digits',
);

export const sha256 = check(
  { type: 'string', pattern: SHA256_HEX_PATTERN.source },
  (value): value is string => typeof value === 'string' && SHA256_HEX_PATTERN.test(value),
  'must be a SHA-256: 64 lowercase hex digits',
);

const uint64Text = check(
  { type: 'string', pattern: UINT64_PATTERN.source, examples: ['3'] },
  isUint64,
  'must be an integer from 0 to 18446744073709551615 as a decimal string without sign, blanks or leading zeros',
);

/** Also takes a bigint, which no JSON text gives but a caller of the library may. */
const uint64Value = described(uint64Text.schema, (value, path, violations) =>
  uint64Text(typeof value === 'bigint' ? value.toString() : value, path, violations),
);

export function uint64(description: string): Check<string> {
  return meaning(`${description}; an unsigned 64-bit integer as a decimal string`, uint64Value);
}

const anyText = check(
  { type: 'string', minLength: 1 },
  (value): value is string => typeof value === 'string' && value !== '' && isWellFormedText(value),
  'must be a nonempty string of Unicode text without lone surrogates',
);

export function text(description: string): Check<string> {
  return meaning(description, anyText);
}

/** The integer itself: `true`, `1.0` and `"1"` are something else (PW-07.01). */
export function integer<T extends number>(expected: T): Check<T> {
  const literal = String(expected);
  return described({ type: 'number', const: expected }, (value, path, violations) => {
    if (value instanceof JsonNumber && value.text === literal) return expected;
    violations.addFound(path, `must be the integer ${literal}`, value);
    return undefined;
  });
}

/** Text of a form that a pattern says. */
export function matching(pattern: RegExp, expected: string): Check<string> {
  return check(
    { type: 'string', pattern: pattern.source },
    (value): value is string => typeof value === 'string' && pattern.test(value),
    expected,
  );
}

/** Any string, also an empty one. */
export const anyString = check(
  { type: 'string' },
  (value): value is string => typeof value === 'string',
  'must be a string',
);

/** Whether something is so. */
export const truth = check(
  { type: 'boolean' },
  (value): value is boolean => typeof value === 'boolean',
  'must be true or false',
);

/** A moment in UTC (ISO 8601). */
export const moment = check(
  { type: 'string', format: 'date-time' },
  (value): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  'must be a time in UTC such as 2026-05-02T12:00:00.000Z',
);

/** A number of things, from 0 to 2^53 - 1, as a JSON number. */
export const wholeNumber = check(
  { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0,
  'must be a whole number',
);

export function oneOf<const T extends string>(allowed: readonly T[]): Check<T> {
  const names = allowed.map((name) => `"${name}"`).join(', ');
  const [only] = allowed;
  return check(
    allowed.length === 1 ? { type: 'string', const: only } : { type: 'string', enum: allowed },
    (value): value is T => (allowed as readonly unknown[]).includes(value),
    allowed.length === 1 ? `must be ${names}` : `must be one of ${names}`,
  );
}

export function orNull<T>(inner: Check<T>): Check<T | null> {
  const { description, ...schema } = inner.schema;
  return described(
    { anyOf: [schema, { type: 'null' }], ...(description === undefined ? {} : { description }) },
    (value, path, violations) => (value === null ? null : inner(value, path, violations)),
  );
}

/** What either check accepts; of what neither does the second one tells. */
export function either<A, B>(first: Check<A>, second: Check<B>): Check<A | B> {
  return described({ anyOf: [first.schema, second.schema] }, (value, path, violations) => {
    const alone = first(value, path, new Violations());
    return alone === undefined ? second(value, path, violations) : alone;
  });
}

/** Null says that there is none; the spellings of null that some languages write as text are told apart from a wrong id. */
export function parentIdOf(description: string): Check<string | null> {
  const idOrNull = orNull(meaning(description, snapshotId));
  return described(idOrNull.schema, (value, path, violations) => {
    const isNull = typeof value === 'string' && /^(?:null|none|nil|undefined|)$/iu.test(value.trim());
    if (!isNull) return idOrNull(value, path, violations);
    violations.addFound(path, 'must be null without quotes, or left out, where there is no parent', value);
    return undefined;
  });
}

export function listOf<T>(item: Check<T>): Check<readonly T[]> {
  return described({ type: 'array', items: item.schema }, (value, path, violations) => {
    if (!Array.isArray(value)) {
      violations.addFound(path, 'must be an array', value);
      return undefined;
    }
    const before = violations.count;
    const items = Array.from(value, (entry: unknown, index) => item(entry, `${path}.${index}`, violations));
    return violations.count === before ? (items as T[]) : undefined;
  });
}

/** An object with exactly these fields, or when `open` at least these; those in `optional` may be left out. */
export function objectOf<const F extends Fields, const O extends keyof F & string = never>(
  description: string,
  fields: F,
  {
    optional = [],
    rules,
    open = false,
  }: {
    readonly optional?: readonly O[];
    readonly rules?: Rules<ObjectOf<F, NoInfer<O>>>;
    readonly open?: boolean;
  } = {},
): Check<ObjectOf<F, O>> {
  type T = ObjectOf<F, O>;
  const names = Object.keys(fields);
  const mayLack = new Set<string>(optional);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, fields[name]?.schema])),
    required: names.filter((name) => !mayLack.has(name)),
    ...(open ? {} : { additionalProperties: false }),
    description,
  };
  return described(schema, (value, path, violations) => {
    if (!isObject(value)) {
      violations.addFound(path, `must be an object with the fields ${names.join(', ')}`, value);
      return undefined;
    }
    const before = violations.count;
    const valid: Record<string, unknown> = {};
    let present = 0;
    for (const name of names) {
      const field = value[name];
      if (field === undefined) {
        if (!mayLack.has(name)) violations.add(memberPath(path, name), 'is required but missing');
        continue;
      }
      present += 1;
      const checked = fields[name]?.(field, memberPath(path, name), violations);
      if (checked !== undefined) valid[name] = checked;
    }
    const given = Object.keys(value);
    if (!open && given.length !== present) refuseUnknown(value, given, fields, path, violations);
    rules?.(valid as ValidFields<T>, path, violations);
    return violations.count === before ? (valid as T) : undefined;
  });
}

function refuseUnknown(
  value: Record<string, unknown>,
  given: readonly string[],
  fields: Fields,
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

/** An object whose names are array keys; it has no prototype, as `constructor` is a legal key. */
export function byArrayKey<T>(description: string, entry: Check<T>): Check<Readonly<Record<ArrayKey, T>>> {
  const schema = {
    type: 'object',
    propertyNames: { type: 'string', pattern: ARRAY_KEY_PATTERN.source },
    additionalProperties: entry.schema,
    description,
  };
  return described(schema, (value, path, violations) => {
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
      const checked = entry(value[key], entryPath, violations);
      if (checked !== undefined) arrays[key] = checked;
    }
    return violations.count === before ? arrays : undefined;
  });
}

/** Any object with named members; neither a list nor a number that kept its text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}
