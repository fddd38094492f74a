/** `incomplete`: attempts that were never published, of a service or of a store on disk. */
import { Option, type Command } from 'commander';
import type { IncompleteAttempt } from '../../client/index.ts';
import {
  concluding,
  withClient,
  withConnection,
  withExamples,
  type ConnectionOptions,
} from '../connection.ts';
import { formatBytes, note, printJson, printTable, type Column } from '../output.ts';

interface IncompleteOptions extends ConnectionOptions {
  readonly root?: string;
  readonly contexts?: string;
}

const COLUMNS: readonly Column[] = [
  { title: 'ATTEMPT', least: 17 },
  { title: 'SNAPSHOT', least: 9 },
  { title: 'PHASE' },
  { title: 'MODIFIED', leftOut: 1 },
  { title: 'SIZE', leftOut: 2 },
  { title: 'DIAGNOSTIC', least: 16 },
];

export function define(command: Command): Command {
  withConnection(
    command
      .option('--root <directory>', 'look at a store on disk, without a service')
      .addOption(
        new Option('--contexts <file>', 'with --root: the C3 declarations').env('SNAPSHOTS_CONTEXTS'),
      ),
  );
  withExamples(
    command,
    `  pipewhy-snapshots incomplete
  pipewhy-snapshots incomplete --root /srv/snapshots --json`,
  );
  return command.action((options: IncompleteOptions) => concluding(options, () => incomplete(options)));
}

async function incomplete(options: IncompleteOptions): Promise<void> {
  const attempts =
    options.root === undefined ? await ofService(options) : await ofDisk(options.root, options);
  if (options.json === true) {
    printJson({ incomplete: attempts });
    return;
  }
  await printTable(COLUMNS, attempts.map(rowOf));
  if (attempts.length === 0 && process.stdout.isTTY) note('No attempt was left behind.');
}

async function ofService(options: IncompleteOptions): Promise<readonly IncompleteAttempt[]> {
  return withClient(options, async (client) => {
    const attempts: IncompleteAttempt[] = [];
    for await (const attempt of client.incomplete({ pageSize: 1000 })) attempts.push(attempt);
    return attempts;
  });
}

async function ofDisk(root: string, { contexts }: IncompleteOptions): Promise<readonly IncompleteAttempt[]> {
  // Only here: most often a service is asked, and the store is not needed.
  const { openLocalStore } = await import('../local-store.ts');
  const { store } = await openLocalStore(root, contexts);
  try {
    return (await store.inspectIncomplete()).incomplete;
  } finally {
    await store.close();
  }
}

function rowOf(attempt: IncompleteAttempt): readonly string[] {
  return [
    attempt.path,
    attempt.snapshot_id ?? '-',
    attempt.phase,
    attempt.modified_at ?? '-',
    process.stdout.isTTY ? formatBytes(attempt.byte_length) : attempt.byte_length,
    attempt.diagnostic,
  ];
}
