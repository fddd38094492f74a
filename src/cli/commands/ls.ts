/** `ls`: what is published. */
import type { Command } from 'commander';
import type { SnapshotSummary } from '../../client/index.ts';
import { isSnapshotId } from '../../contract/ids.ts';
import {
  concluding,
  newCommand,
  positiveInteger,
  withClient,
  withConnection,
  withExamples,
} from '../actions.ts';
import type { ConnectionOptions } from '../actions.ts';
import { UsageError } from '../exit-codes.ts';
import { formatBytes, formatTime, printJson, printTable } from '../output.ts';

interface LsOptions extends ConnectionOptions {
  readonly namespace?: string;
  readonly parent?: string;
  readonly limit?: number;
}

const HEAD = ['SNAPSHOT', 'NAMESPACE', 'VERSION', 'SCOPE', 'COVERAGE', 'FINISHED', 'ARRAYS', 'SIZE'];

export function lsCommand(): Command {
  const command = withConnection(
    newCommand('ls', 'list published snapshots by id')
      .option('--namespace <name>', 'only those of this source_namespace')
      .option('--parent <id>', 'only those with this parent_id')
      .option('--limit <number>', 'at most this many', positiveInteger),
  );
  withExamples(
    command,
    `  pipewhy-snapshots ls --namespace warehouse.sales
  pipewhy-snapshots ls | cut -f1
  pipewhy-snapshots ls --json | jq -r '.snapshots[].manifest_sha256'

On a terminal it is a table; otherwise one line per snapshot with tabs, sizes in bytes and no head.`,
  );
  return command.action((options: LsOptions) => concluding(options, () => list(options)));
}

async function list(options: LsOptions): Promise<void> {
  const { namespace, parent, limit = Infinity, json } = options;
  if (parent !== undefined && !isSnapshotId(parent)) {
    throw new UsageError(
      `--parent ${JSON.stringify(parent)} is no snapshot id: expected 32 lowercase hex digits`,
    );
  }
  const snapshots: SnapshotSummary[] = [];
  await withClient(options, async (client) => {
    const pageSize = Math.min(limit, 1000);
    for await (const summary of client.list({ sourceNamespace: namespace, parentId: parent, pageSize })) {
      snapshots.push(summary);
      if (snapshots.length >= limit) break;
    }
  });
  if (json === true) printJson({ snapshots });
  else printTable(HEAD, snapshots.map(rowOf));
}

function rowOf(summary: SnapshotSummary): readonly string[] {
  return [
    summary.snapshot_id,
    summary.source_namespace,
    summary.source_version,
    summary.scope,
    summary.coverage_status,
    formatTime(summary.finished_at_ns),
    String(summary.array_count),
    process.stdout.isTTY ? formatBytes(summary.byte_length) : summary.byte_length,
  ];
}
