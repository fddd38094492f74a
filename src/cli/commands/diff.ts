/** `diff`: how two snapshots differ, wherever each of them is. */
import type { Command } from 'commander';
import type { Comparison } from '../../client/index.ts';
import { entryOf } from '../../contract/comparison.ts';
import { isAnySnapshotError, SnapshotError } from '../../contract/errors.ts';
import type { ArrayKey, SnapshotId } from '../../contract/ids.ts';
import { inert } from '../../contract/text.ts';
import { compareSnapshots, type ComparedSide } from '../../store/comparison.ts';
import { concluding, DEFAULT_URL, ID_HELP, interruptible, resolveId, withUrl } from '../connection.ts';
import { CommandError, exitStatusOf, statusOf } from '../errors.ts';
import { failingOutputEndsWith, note, print, printJson, printTable, type Column } from '../output.ts';
import { Spool } from '../spool.ts';
import {
  withAddresses,
  withTwoStores,
  type OpenedStore,
  type SideName,
  type TwoStoresOptions,
} from '../stores.ts';

interface DiffOptions extends TwoStoresOptions {
  readonly url: string;
  readonly socket?: string;
  readonly key?: string;
}

/** As diff and cmp have it. */
const DIFFERENT = statusOf('failed');
const TROUBLE = statusOf('usage');

export function define(command: Command): Command {
  withAddresses(
    withUrl(command)
      .argument('<from>', 'snapshot id, or <address>#<id>')
      .argument('<to>', 'snapshot id, or <address>#<id>')
      .option(
        '--key <array>',
        'align rows by the values of this array, which must be unique on each side; without it elements are compared by position',
      ),
  );
  command.addHelpText(
    'after',
    `
Examples:
  pipewhy-snapshots diff 01234567 latest
  pipewhy-snapshots diff 01234567 latest:warehouse.sales --key ids
  pipewhy-snapshots diff ./data#latest https://snapshots.example#latest
  pipewhy-snapshots diff 01234567 89abcdef --json | jq .arrays

${ID_HELP}

An <address> is a directory that holds a store, s3://bucket/prefix, or the http:// or https:// URL of a service; without one
the service of --url is meant. Arrays of a service that differ from those of another store are kept in the directory for temporary files (TMPDIR)
while they are compared.

Both are proven first. What makes a comparison questionable (another context, algorithm, schema, resolution or scope) is said
first. On a terminal it is a table as wide as that; otherwise one line per difference with tabs, its kind first.

Exit status:
  0  all arrays and both coverages are equal; ids, parents and times do not count
  1  they differ
  2  trouble: wrong use, no such snapshot, no connection, or bytes that cannot be proven; the message says which`,
  );
  return command.action(async (from: string, to: string, options: DiffOptions) => {
    failingOutputEndsWith(TROUBLE);
    const work = async (): Promise<void> => {
      const found = await compare(from, to, options);
      // First, so that it holds although nobody reads the report to its end.
      process.exitCode = found.equal ? statusOf('ok') : DIFFERENT;
      if (options.json === true) printJson(found);
      else await show(found);
    };
    await concluding(options, work, { statusOf: troubleOf });
  });
}

function troubleOf(error: unknown): number {
  return error instanceof CommandError && error.code === 'interrupted' ? exitStatusOf(error) : TROUBLE;
}

/** `ADDRESS#ID` or, for the service of the options, `ID`. */
interface Located {
  /** Null for the service of the options. */
  readonly address: string | null;
  readonly id: string;
}

/** Splits at the first `#`; what begins as `latest:` is an id, as a namespace may hold one. */
export function locate(text: string): Located {
  const at = text.startsWith('latest:') ? -1 : text.indexOf('#');
  if (at < 1) return { address: null, id: text.slice(at + 1) };
  return { address: text.slice(0, at), id: text.slice(at + 1) };
}

async function compare(fromText: string, toText: string, options: DiffOptions): Promise<Comparison> {
  const { key, url, socket } = options;
  const located = { from: locate(fromText), to: locate(toText) };
  const addressOf = ({ address }: Located): string => address ?? (url === '' ? DEFAULT_URL : url);
  const addresses = { from: addressOf(located.from), to: addressOf(located.to) };
  const sockets = {
    ...(socket === undefined || located.from.address !== null ? {} : { fromSocket: socket }),
    ...(socket === undefined || located.to.address !== null ? {} : { toSocket: socket }),
  };
  return interruptible((signal) =>
    withTwoStores(addresses, { ...sockets, ...options }, async ({ from, to }) => {
      const one = await resolveId(from, located.from.id, signal);
      const other = await resolveId(to, located.to.id, signal);
      const areTogether = sameAddress(addresses.from, addresses.to);
      if (areTogether && from.kind === 'service') return from.client.compare(one, other, { key, signal });
      const spool = new Spool();
      try {
        const sides = [
          named(fromText, await sideOf('from', from, one, spool)),
          named(toText, await sideOf('to', to, other, spool)),
        ] as const;
        return await compareSnapshots(...sides, { key, signal });
      } finally {
        spool.remove();
      }
    }),
  );
}

function sameAddress(one: string, other: string): boolean {
  const [a, b] = [one, other].map((url) =>
    URL.canParse(url) ? new URL(url).href.replace(/\/+$/u, '') : url,
  );
  return a === b;
}

/** The arrays of a service are fetched when they are first needed, and then read like those of a store on this machine. */
async function sideOf(
  name: SideName,
  opened: OpenedStore,
  id: SnapshotId,
  spool: Spool,
): Promise<ComparedSide> {
  if (opened.kind === 'store') return opened.store.side(id);
  const { client } = opened;
  // Only here: where one service has both, no engine is needed.
  const { FetchedArrays } = await import('../../store/fetched-arrays.ts');
  const arrays = new FetchedArrays();
  return {
    executor: arrays.executor,
    prove: async (signal) => {
      const { manifest } = await client.manifest(id, { signal });
      const paths = new Map<ArrayKey, Promise<string>>();
      return {
        manifest,
        open: async (key) => {
          const entry = entryOf(manifest, key);
          if (entry === null) throw new Error('Only arrays of the manifest are compared.');
          const bytes = client.streamArray(id, key, { signal });
          const fetching = paths.get(key) ?? spool.take(key, { name: `${name}-${key}`, bytes }, signal);
          paths.set(key, fetching);
          return arrays.open({ path: await fetching, snapshotId: id, key, entry }, signal);
        },
      };
    },
  };
}

/** Both sides may have the same id: a refusal says by the words of the line which one is meant. */
function named(text: string, side: ComparedSide): ComparedSide {
  return {
    ...side,
    prove: async (signal) => {
      try {
        return await side.prove(signal);
      } catch (error) {
        if (!isAnySnapshotError(error)) throw error;
        const { code, details, message } = error;
        throw new SnapshotError(code, `${text}: ${message}`, details, { cause: error });
      }
    },
  };
}

const METADATA_COLUMNS: readonly Column[] = [
  { title: 'METADATA' },
  { title: 'FROM', least: 8 },
  { title: 'TO', least: 8 },
];
const ARRAY_COLUMNS: readonly Column[] = [
  { title: 'ARRAY', least: 8 },
  { title: 'STATUS' },
  { title: 'FROM' },
  { title: 'TO' },
  { title: 'DIFFERING' },
  { title: 'FIRST', leftOut: 2 },
  { title: 'LAST', leftOut: 3 },
  { title: 'EXAMPLES', least: 12, leftOut: 1 },
];
const ROW_COLUMNS: readonly Column[] = [
  { title: 'KEY', least: 8 },
  { title: 'ROW' },
  { title: 'IN', least: 8 },
];

async function show(found: Comparison): Promise<void> {
  const terminal = process.stdout.isTTY;
  if (terminal) {
    print(`from  ${found.from}`);
    print(`to    ${found.to}`);
    for (const { path } of found.obstacles)
      print(`They differ in ${path}: what is compared may not be comparable.`);
  }
  const metadata = found.metadata.filter(({ path }) => path !== 'snapshot.snapshot_id');
  const isObstacle = new Set(found.obstacles.map(({ path }) => path));
  // What makes the comparison questionable comes first.
  metadata.sort((a, b) => Number(isObstacle.has(b.path)) - Number(isObstacle.has(a.path)));
  const kindOf = (path: string): string => (isObstacle.has(path) ? 'obstacle' : 'metadata');
  await showTable(
    METADATA_COLUMNS,
    metadata.map(({ path, from, to }) => [kindOf(path), path, shownValue(from), shownValue(to)]),
  );
  await showTable(
    ARRAY_COLUMNS,
    Object.entries(found.arrays).map(([key, array]) => ['array', key, ...cellsOf(array)]),
  );
  const { rows } = found;
  if (rows !== undefined) {
    const { key, added, removed, changed, same, examples } = rows;
    if (terminal) print('');
    const counts = [`${added} added`, `${removed} removed`, `${changed} changed`, `${same} the same`];
    if (terminal) print(`Rows by ${key}: ${counts.join(', ')}.`);
    else print(['rows', key, added, removed, changed, same].join('\t'));
    const byPosition = Object.entries(found.arrays).filter(([name, { status, from, to }]) => {
      const keys = found.arrays[key];
      const isAligned = from?.count === keys?.from?.count && to?.count === keys?.to?.count;
      return name !== key && status === 'changed' && !isAligned;
    });
    if (terminal && byPosition.length > 0) {
      const names = byPosition.map(([name]) => name).join(', ');
      print(`Of another length than ${key}, and so compared by position: ${names}.`);
    }
    await showTable(
      ROW_COLUMNS,
      examples.map((row) => ['row', row.key, row.kind, row.arrays.join(' ')]),
    );
  }
  if (terminal) note(found.equal ? 'They are equal.' : 'They differ.');
}

/** The first cell of each row says its kind, where there are no titles. */
async function showTable(columns: readonly Column[], rows: readonly (readonly string[])[]): Promise<void> {
  if (rows.length === 0) return;
  if (!process.stdout.isTTY) {
    await printTable(columns, rows);
    return;
  }
  print('');
  await printTable(
    columns,
    rows.map((row) => row.slice(1)),
  );
}

function cellsOf({
  status,
  from,
  to,
  differing,
  first,
  last,
  examples,
}: Comparison['arrays'][string]): string[] {
  const [one, other] = [from, to].map((side) => (side === null ? '-' : `${side.count} ${side.dtype}`)) as [
    string,
    string,
  ];
  const shown = examples.map(({ index, from: a, to: b }) => `[${index}] ${a} > ${b}`).join(', ');
  return [status, one, other, differing, first ?? '-', last ?? '-', shown === '' ? '-' : shown];
}

function shownValue(value: Comparison['metadata'][number]['from']): string {
  return inert(value === null ? 'null' : typeof value === 'string' ? value : JSON.stringify(value));
}
