/** `log`: where a snapshot comes from, and what came of it. */
import type { Command } from 'commander';
import type { ListedSnapshot, SnapshotClient } from '../../client/index.ts';
import { SnapshotNotFoundError } from '../../contract/errors.ts';
import { isSnapshotId, type SnapshotId } from '../../contract/ids.ts';
import {
  concluding,
  ID_HELP,
  interruptible,
  noteUnless,
  positiveInteger,
  resolveId,
  withClient,
  withConnection,
  withExamples,
  type ConnectionOptions,
} from '../connection.ts';
import { wrongUse } from '../errors.ts';
import { drawn, historyAround, historyOfAll, type History, type Known } from '../lineage.ts';
import { counted, formatTime, note, printJson, printTable, type Column } from '../output.ts';

interface LogOptions extends ConnectionOptions {
  readonly limit: number;
  readonly namespace?: string;
}

/** A snapshot as it is shown. */
interface Shown extends Known {
  readonly namespace: string;
  readonly version: string;
  /** Coverage, or `DAMAGED`. */
  readonly status: string;
}

const MOST_SHOWN = 50;

export function define(command: Command): Command {
  withConnection(
    command
      .argument('[id]', 'snapshot id; all snapshots by default')
      .option('--limit <number>', 'at most this many snapshots', positiveInteger, MOST_SHOWN)
      .option('--namespace <name>', 'without an id: only those of this source_namespace'),
  );
  withExamples(
    command,
    `  pipewhy-snapshots log latest
  pipewhy-snapshots log --namespace warehouse.sales
  pipewhy-snapshots log 01234567 --json | jq -r '.snapshots[].snapshot_id'

${ID_HELP}

With an id: the snapshot (@), its ancestors as far as they are there, its children, and the other children of its ancestors.
Children stand above their parents; o is a parent that is not there, x is damaged, and the dots lead to what --limit
leaves out. Of each snapshot marker, manifest, inventory and lengths are proven. Elsewhere than on a terminal it is one line per
snapshot with tabs: its relation, id, parent, time, namespace, version and coverage.`,
  );
  return command.action((id: string | undefined, options: LogOptions) =>
    concluding(options, async () => {
      if (id !== undefined && options.namespace !== undefined) {
        throw wrongUse('--namespace is for a log of all snapshots; leave it or the id out');
      }
      const { asked, history } = await interruptible((signal) =>
        withClient(options, (client) => lookUp(client, id, options, signal)),
      );
      if (options.json === true) printJson(documentOf(asked, history));
      else await show(asked, history);
      if (history.omitted > 0) {
        noteUnless(
          options,
          `${counted(history.omitted, 'snapshot is', 'snapshots are')} left out; --limit shows more.`,
        );
      }
    }),
  );
}

async function lookUp(
  client: SnapshotClient,
  text: string | undefined,
  { limit, namespace }: LogOptions,
  signal: AbortSignal,
): Promise<{ readonly asked: SnapshotId | null; readonly history: History<Shown> }> {
  const asked = text === undefined ? null : await resolveId(client, text, signal);
  if (asked !== null && !isSnapshotId(asked)) {
    throw wrongUse(`${JSON.stringify(text)} is no snapshot id: expected 32 lowercase hex digits`);
  }
  // No parent knows its children: whoever asks for them looks at all.
  const index = new Map<SnapshotId, Shown>();
  const query = { order: 'id', proof: 'frame', damaged: 'show', pageSize: PAGE_SIZE, signal } as const;
  for await (const entry of client.list(query)) {
    if (isSnapshotId(entry.snapshot_id)) index.set(entry.snapshot_id, shownOf(entry));
  }
  if (asked === null) {
    const passes = (node: Shown): boolean => namespace === undefined || node.namespace === cut(namespace);
    return { asked, history: historyOfAll(index, passes, limit) };
  }
  if (!index.has(asked)) throw new SnapshotNotFoundError(asked);
  return { asked, history: historyAround(index, asked, limit) };
}

const PAGE_SIZE = 1000;

/** Whatever is longer than any line is not kept. */
const MOST_KEPT = 300;
const cut = (text: string): string => (text.length > MOST_KEPT ? text.slice(0, MOST_KEPT) : text);

function shownOf(entry: ListedSnapshot): Shown {
  const { snapshot_id: id } = entry;
  if ('problem' in entry) {
    const { code, detail } = entry.problem;
    return { id, parent: null, finished: 0n, namespace: code, version: cut(detail), status: 'DAMAGED' };
  }
  return {
    id,
    parent: entry.parent_id,
    finished: BigInt(entry.finished_at_ns),
    namespace: cut(entry.source_namespace),
    version: cut(entry.source_version),
    status: entry.coverage_status,
  };
}

function documentOf(
  asked: SnapshotId | null,
  { shown, relations, missing, omitted }: History<Shown>,
): object {
  return {
    snapshot: asked,
    snapshots: shown.map(({ id, parent, finished, namespace, version, status }) => ({
      snapshot_id: id,
      parent_id: parent,
      relation: relations.get(id) ?? null,
      ...(status === 'DAMAGED'
        ? { problem: { code: namespace, detail: version } }
        : {
            source_namespace: namespace,
            source_version: version,
            coverage_status: status,
            finished_at_ns: String(finished),
          }),
    })),
    missing,
    omitted,
  };
}

const COLUMNS: readonly Column[] = [
  { title: '' },
  { title: 'SNAPSHOT', least: 12 },
  { title: 'FINISHED', leftOut: 3 },
  { title: 'NAMESPACE', least: 9, leftOut: 2 },
  { title: 'VERSION', least: 8, leftOut: 1 },
  { title: 'COVERAGE', leftOut: 4 },
];

async function show(asked: SnapshotId | null, history: History<Shown>): Promise<void> {
  const timeOf = ({ finished, status }: Shown): string =>
    status === 'DAMAGED' ? '-' : formatTime(String(finished));
  if (!process.stdout.isTTY) {
    const rows = history.shown.map((node) => {
      const relation = history.relations.get(node.id) ?? '-';
      return [relation, node.id, node.parent ?? '-', timeOf(node), node.namespace, node.version, node.status];
    });
    await printTable(COLUMNS, [
      ...rows,
      ...history.missing.map((id) => ['missing', id, '-', '-', '-', '-', '-']),
    ]);
    return;
  }
  if (history.shown.length === 0) {
    note('No snapshot is published, or none of those asked for.');
    return;
  }
  const markOf = ({ id, status }: Shown): string => (status === 'DAMAGED' ? 'x' : id === asked ? '@' : '*');
  const rows = drawn(history, markOf).map(({ graph, node, missing }) => {
    if (node === null) return [graph, missing ?? '', '', missing === null ? '' : 'not here', '', ''];
    const time = timeOf(node).replace(/\.\d+Z$/u, 'Z');
    return [graph, node.id, time, node.namespace, node.version, node.status];
  });
  await printTable(COLUMNS, rows);
}
