/** `ls`: what is published. */
import { Option, type Command } from 'commander';
import type { ListedSnapshot, ListPageOptions } from '../../client/index.ts';
import {
  concluding,
  listed,
  noteUnless,
  positiveInteger,
  resolveId,
  TIME_HELP,
  timeInNanoseconds,
  withClient,
  withConnection,
  withExamples,
  type ConnectionOptions,
} from '../connection.ts';
import { formatBytes, formatTime, note, printJson, printTable, type Column } from '../output.ts';

interface LsOptions extends ConnectionOptions {
  readonly namespace?: string;
  readonly parent?: string;
  readonly since?: string;
  readonly until?: string;
  readonly order?: 'newest' | 'id';
  readonly limit?: number;
  readonly after?: string;
  readonly proof?: 'all' | 'frame';
  readonly damaged?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: 'SNAPSHOT', least: 12 },
  { title: 'NAMESPACE', least: 9, leftOut: 6 },
  { title: 'VERSION', least: 8, leftOut: 3 },
  { title: 'SCOPE', least: 8, leftOut: 1 },
  { title: 'COVERAGE', leftOut: 4 },
  { title: 'FINISHED' },
  { title: 'ARRAYS', leftOut: 2 },
  { title: 'SIZE', leftOut: 5 },
];

export function define(command: Command): Command {
  withConnection(
    command
      .option('--namespace <name>', 'only those of this source_namespace')
      .option('--parent <id>', 'only those with this parent_id')
      .option('--since <time>', 'only those finished then or later', timeInNanoseconds)
      .option('--until <time>', 'only those finished then or earlier', timeInNanoseconds)
      .addOption(
        new Option('--order <order>', 'the last finished first, or by id')
          .choices(['newest', 'id'])
          .default('newest'),
      )
      .option('--limit <number>', 'at most this many', positiveInteger)
      .option('--after <cursor>', 'go on after this cursor, which the listing before named')
      .addOption(
        new Option(
          '--proof <what>',
          'prove every byte of what is listed, or only marker, manifest, inventory and lengths',
        ).choices(['all', 'frame']),
      )
      .option('--damaged', 'list damaged snapshots among the others instead of failing'),
  );
  withExamples(
    command,
    `  pipewhy-snapshots ls --namespace warehouse.sales --since 7d
  pipewhy-snapshots ls --limit 20
  pipewhy-snapshots ls | cut -f1
  pipewhy-snapshots ls --json | jq -r '.snapshots[].manifest_sha256'

${TIME_HELP}
On a terminal it is a table as wide as that; otherwise one line per snapshot with tabs, sizes in bytes and no titles.`,
  );
  return command.action((options: LsOptions) => concluding(options, () => list(options)));
}

async function list(options: LsOptions): Promise<void> {
  const { items, next } = await withClient(options, async (client) => {
    const { namespace, parent, since, until, order, after, proof } = options;
    const query: ListPageOptions = {
      sourceNamespace: namespace,
      parentId: parent === undefined ? undefined : await resolveId(client, parent),
      since,
      until,
      order,
      proof,
      damaged: options.damaged === true ? 'show' : undefined,
    };
    return listed(client, { ...query, after, limit: options.limit ?? Infinity });
  });
  const terminal = process.stdout.isTTY;
  if (options.json === true) printJson({ snapshots: items, next });
  else
    await printTable(
      COLUMNS,
      items.map((item) => rowOf(item, terminal)),
    );
  if (items.length === 0 && terminal) note('No snapshot is published, or none of those asked for.');
  if (next !== null) noteUnless(options, `More: the same command with --after ${next}`);
}

function rowOf(entry: ListedSnapshot, terminal: boolean): readonly string[] {
  if ('problem' in entry) {
    const { code, detail } = entry.problem;
    return [entry.snapshot_id, 'DAMAGED', code, detail, '-', '-', '-', '-'];
  }
  const finished = formatTime(entry.finished_at_ns);
  return [
    entry.snapshot_id,
    entry.source_namespace,
    entry.source_version,
    entry.scope,
    entry.coverage_status,
    terminal ? finished.replace(/\.\d+Z$/u, 'Z') : finished,
    String(entry.array_count),
    terminal ? formatBytes(entry.byte_length) : entry.byte_length,
  ];
}
