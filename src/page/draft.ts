/** A publication as it is filled in by hand: the fields, the document they make, and what is wrong with it. */
import { draftDocument, type SnapshotMetadata } from '../contract/documents.ts';
import { dtypeWidth, isDtype, type Dtype } from '../contract/dtypes.ts';
import { isArrayKey } from '../contract/ids.ts';
import { Violations, type Violation } from '../contract/violations.ts';

/** Every field as its text stands in the form; paths are those of the document. */
export type Fields = Readonly<Record<FieldPath, string>>;

export const FIELD_PATHS = [
  'snapshot.snapshot_id',
  'snapshot.parent_id',
  'snapshot.source_namespace',
  'snapshot.source_version',
  'snapshot.source_consistency',
  'snapshot.scope',
  'snapshot.started_at_ns',
  'snapshot.finished_at_ns',
  'snapshot.resolution',
  'snapshot.coverage.status',
  'snapshot.coverage.expected_records',
  'snapshot.coverage.returned_records',
  'snapshot.coverage.failure_reasons',
  'snapshot.fingerprint.algorithm_name',
  'snapshot.fingerprint.algorithm_id',
  'snapshot.fingerprint.context_id',
  'snapshot.fingerprint.normalization_profile_id',
  'snapshot.fingerprint.source_schema_id',
  'snapshot.fingerprint.mode',
] as const;
export type FieldPath = (typeof FIELD_PATHS)[number];

/** One array to come. */
export interface DraftPart {
  readonly key: string;
  readonly file: File;
  /** Of a `.npy` file what its header says, or '' where that is no dtype of the contract. */
  readonly dtype: Dtype | '';
  readonly isNpy: boolean;
  /** Bytes of the payload, where it can be told. */
  readonly payloadBytes: number;
}

/** Left empty they are null, which is how what is unknown or not there is told. */
const NULLABLE: ReadonlySet<FieldPath> = new Set([
  'snapshot.parent_id',
  'snapshot.coverage.expected_records',
]);
const REASONS: FieldPath = 'snapshot.coverage.failure_reasons';

export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Epoch nanoseconds, as exact as a browser's clock is. */
export function nowNs(): string {
  return String(BigInt(Date.now()) * 1_000_000n);
}

export function documentOf(fields: Fields, parts: readonly DraftPart[]): object {
  const document: Record<string, unknown> = {};
  for (const path of FIELD_PATHS) {
    const text = fields[path];
    if (path === REASONS)
      set(
        document,
        path,
        text.split('\n').filter((line) => line.trim() !== ''),
      );
    else set(document, path, text === '' && NULLABLE.has(path) ? null : text);
  }
  const arrays = parts.map(({ key, dtype }) => [key, dtype === '' ? {} : { dtype }] as const);
  return { ...document, arrays: Object.fromEntries(arrays) };
}

function set(document: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = document;
  for (const name of names) at = (at[name] ??= {}) as Record<string, unknown>;
  at[last] = value;
}

/** By the contract's own rules, and those of the files: what the service would refuse, said before anything is sent. */
export function violationsOf(fields: Fields, parts: readonly DraftPart[]): readonly Violation[] {
  const violations = new Violations();
  draftDocument(documentOf(fields, parts), '', violations);
  const seen = new Set<string>();
  for (const { key, dtype, isNpy, payloadBytes } of parts) {
    if (isArrayKey(key)) {
      const path = `arrays.${key}`;
      if (seen.has(key)) violations.add(path, 'must be the key of one file only; found it twice');
      if (dtype === '') {
        violations.add(
          `${path}.dtype`,
          isNpy
            ? 'must be one of the eight integer types; the .npy file holds another'
            : 'is required but missing',
        );
      } else if (payloadBytes % dtypeWidth(dtype) !== 0) {
        violations.add(
          path,
          `must hold whole elements of ${dtypeWidth(dtype)} bytes; found ${payloadBytes} bytes`,
        );
      }
    }
    seen.add(key);
  }
  return violations.list();
}

/** The key that a file name stands for: `array-ids.bin`, `ids.npy`; letters that a key may not have are replaced. */
function keyOf(name: string): string {
  const stem = name.replace(/\.[^.]*$/u, '').replace(/^array-/u, '');
  const key = stem
    .toLowerCase()
    .replace(/[^a-z0-9_]+/gu, '_')
    .replace(/^[^a-z]+/u, '');
  return key === '' ? 'array' : key.slice(0, 64);
}

/** NumPy's header says the type: enough of it is read to fill the form in, and the service judges it. */
export async function partOf(file: File): Promise<DraftPart> {
  const head = new Uint8Array(await file.slice(0, 512).arrayBuffer());
  const text = new TextDecoder('latin1').decode(head);
  // What a browser calls latin1 has another character for the first byte.
  const isNpy = /\.npy$/iu.test(file.name) && head[0] === 0x93 && text.startsWith('NUMPY', 1);
  const raw = { key: keyOf(file.name), file, isNpy, dtype: '', payloadBytes: file.size } as const;
  if (!isNpy) return raw;
  const isLong = (head[6] ?? 0) > 1;
  const view = new DataView(head.buffer);
  const header = isLong ? 12 + view.getUint32(8, true) : 10 + view.getUint16(8, true);
  const [, kind = '', width = ''] = /'descr': *'[<|]([iu])(\d)'/u.exec(text) ?? [];
  const dtype = `${kind === 'u' ? 'u' : ''}int${Number(width) * 8}`;
  return { ...raw, payloadBytes: file.size - header, dtype: isDtype(dtype) ? dtype : '' };
}

/** The fields of a document that somebody has already, as a metadata document or a manifest; null where it is none. */
export function fieldsOf(
  text: string,
): { fields: Partial<Fields>; dtypes: Readonly<Record<string, Dtype>> } | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const document = value as {
    snapshot?: Partial<SnapshotMetadata>;
    arrays?: Record<string, { dtype?: unknown }>;
  } | null;
  if (typeof document !== 'object' || typeof document?.snapshot !== 'object') return null;
  const fields: Partial<Record<FieldPath, string>> = {};
  for (const path of FIELD_PATHS) {
    const found = path
      .split('.')
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], document);
    if (typeof found === 'string') fields[path] = found;
    else if (found === null) fields[path] = '';
    else if (Array.isArray(found)) fields[path] = found.join('\n');
  }
  const dtypes = Object.entries(document.arrays ?? {}).flatMap(([key, entry]) =>
    isDtype(entry.dtype) ? [[key, entry.dtype] as const] : [],
  );
  return { fields, dtypes: Object.fromEntries(dtypes) };
}
