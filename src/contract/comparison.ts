/** The document that says how two snapshots differ, and what of it the two manifests tell by themselves. */
import {
  anyString,
  byArrayKey,
  either,
  listOf,
  matching,
  meaning,
  objectOf,
  oneOf,
  orNull,
  sha256,
  snapshotId,
  text,
  truth,
  uint64,
  type Checked,
} from './checks.ts';
import type { ArrayEntry, Manifest } from './documents.ts';
import { DTYPE_NAMES } from './dtypes.ts';

/** Values that are shown of each array, and rows of all. */
export const MOST_EXAMPLES = 10;

const metadataValue = orNull(either(anyString, listOf(anyString)));
const difference = objectOf(
  'A field that is not the same on both sides',
  { path: text('Dotted: snapshot.coverage.status'), from: metadataValue, to: metadataValue },
  { open: true },
);
export type MetadataDifference = Checked<typeof difference>;

const side = orNull(
  objectOf(
    'The array on this side, null where it has none',
    {
      dtype: meaning('Type of the elements', oneOf(DTYPE_NAMES)),
      count: uint64('Elements'),
      sha256: meaning('Of its exact bytes', sha256),
    },
    { open: true },
  ),
);
const element = matching(/^(?:0|-?[1-9][0-9]{0,19})$/, 'must be an integer as a decimal string');
const elementExample = objectOf(
  'One differing element that both sides have; with a key, two elements of one row',
  {
    index: uint64('Its index; with a key that of its row in from'),
    from: meaning('Its exact value in from, decimal', element),
    to: meaning('Its exact value in to, decimal', element),
  },
  { open: true },
);

const ARRAY_STATUSES = ['equal', 'changed', 'added', 'removed', 'retyped'] as const;
type ArrayStatus = (typeof ARRAY_STATUSES)[number];

const arrayComparison = objectOf(
  'One array on both sides',
  {
    status: meaning(
      'equal: the same dtype and bytes. changed: the same dtype, other bytes. added, removed: only one side has it. ' +
        'retyped: of another dtype; nothing is compared element by element then',
      oneOf(ARRAY_STATUSES),
    ),
    from: side,
    to: side,
    differing: uint64(
      'Elements that differ; those beyond the shorter length do. With a key, of an array as long as the key on each side: ' +
        'rows of both sides in which it differs',
    ),
    first: orNull(uint64('Index of the first of them; with a key the least index of such a row in from')),
    last: orNull(uint64('Index of the last of them; with a key the greatest index of such a row in from')),
    examples: meaning(
      `The first of them that both sides have, at most ${MOST_EXAMPLES}; with a key in the order of the keys`,
      listOf(elementExample),
    ),
  },
  { open: true },
);
export type ArrayComparison = Checked<typeof arrayComparison>;

const ROW_KINDS = ['added', 'removed', 'changed'] as const;
const rowExample = objectOf(
  'One row that is not the same',
  {
    key: meaning('The value of the key, decimal', element),
    kind: meaning('added: only to has it. removed: only from has it', oneOf(ROW_KINDS)),
    arrays: meaning('In which a changed row differs', listOf(text('Key of an array'))),
  },
  { open: true },
);
export type RowExample = Checked<typeof rowExample>;

const rowComparison = objectOf(
  'Rows aligned by the values of one array; only where a key was given',
  {
    key: text('Key of that array'),
    added: uint64('Rows that only to has'),
    removed: uint64('Rows that only from has'),
    changed: uint64('Rows of both that differ in at least one array as long as the key'),
    same: uint64('Rows of both that do not'),
    examples: meaning(
      `The first that are not the same in the order of their keys, at most ${MOST_EXAMPLES}`,
      listOf(rowExample),
    ),
  },
  { open: true },
);
export type RowComparison = Checked<typeof rowComparison>;

export const comparison = objectOf(
  'How two snapshots differ; every byte of both was proven first',
  {
    from: snapshotId,
    to: snapshotId,
    equal: meaning(
      'All arrays are equal, and so are both coverages; ids, parents and times do not count',
      truth,
    ),
    comparable: meaning('There are no obstacles', truth),
    obstacles: meaning(
      'Differences of the fingerprint identity, the resolution or the scope; they never stop the comparison',
      listOf(difference),
    ),
    metadata: meaning('Every field of the snapshot that differs, by path', listOf(difference)),
    arrays: byArrayKey('Every array of either side', arrayComparison),
    rows: rowComparison,
  },
  { optional: ['rows'], open: true },
);
export type Comparison = Checked<typeof comparison>;

/** What the manifests tell: nothing of the elements of arrays that differ. Both must be valid. */
export function compareManifests(from: Manifest, to: Manifest): Omit<Comparison, 'rows'> {
  const metadata = [...differences('snapshot', from.snapshot, to.snapshot)];
  // The fields of a manifest have no order of their own.
  metadata.sort((a, b) => (a.path < b.path ? -1 : 1));
  const obstacles = metadata.filter(({ path }) => OBSTACLE.test(path));
  const arrays = Object.create(null) as Record<string, ArrayComparison>;
  for (const key of [...new Set([...Object.keys(from.arrays), ...Object.keys(to.arrays)])].sort()) {
    arrays[key] = compareEntries(entryOf(from, key), entryOf(to, key));
  }
  const areEqual = Object.values(arrays).every(({ status }) => status === 'equal');
  return {
    from: from.snapshot.snapshot_id,
    to: to.snapshot.snapshot_id,
    equal: areEqual && !metadata.some(({ path }) => path.startsWith('snapshot.coverage.')),
    comparable: obstacles.length === 0,
    obstacles,
    metadata,
    arrays,
  };
}

const OBSTACLE = /^snapshot\.(?:fingerprint\..+|resolution|scope)$/u;

function* differences(path: string, from: object, to: object): Generator<MetadataDifference, void, void> {
  const fields = to as Readonly<Record<string, MetadataDifference['to'] | object>>;
  for (const [name, one] of Object.entries(from) as [string, MetadataDifference['from'] | object][]) {
    const other = fields[name] ?? null;
    if (isDocument(one) && isDocument(other)) yield* differences(`${path}.${name}`, one, other);
    else if (JSON.stringify(one) !== JSON.stringify(other)) {
      const values = { from: one, to: other } as Pick<MetadataDifference, 'from' | 'to'>;
      yield { path: `${path}.${name}`, ...values };
    }
  }
}

function isDocument(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The entry of an array, null where the manifest has none; `constructor` is a legal key. */
export function entryOf({ arrays }: Manifest, key: string): ArrayEntry | null {
  return Object.hasOwn(arrays, key) ? (arrays[key] ?? null) : null;
}

function compareEntries(from: ArrayEntry | null, to: ArrayEntry | null): ArrayComparison {
  return { status: statusOf(from, to), from: sideOf(from), to: sideOf(to), ...NOTHING_DIFFERS };
}

const NOTHING_DIFFERS = { differing: '0', first: null, last: null, examples: [] } as const;

function statusOf(from: ArrayEntry | null, to: ArrayEntry | null): ArrayStatus {
  if (from === null) return 'added';
  if (to === null) return 'removed';
  if (from.dtype !== to.dtype) return 'retyped';
  return from.sha256 === to.sha256 ? 'equal' : 'changed';
}

function sideOf(entry: ArrayEntry | null): ArrayComparison['from'] {
  if (entry === null) return null;
  const { dtype, count, sha256: digest } = entry;
  return { dtype, count, sha256: digest };
}
