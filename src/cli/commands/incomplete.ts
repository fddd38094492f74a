/** `incomplete`: attempts that were never published, of a service or of a store on disk. */
import type { Command } from 'commander';
import type { IncompleteAttempt } from '../../client/index.ts';
import { concluding, newCommand, withClient, withConnection, withExamples } from '../actions.ts';
import type { ConnectionOptions } from '../actions.ts';
import { loadDeclarations } from '../declarations.ts';
import { openLocalStore } from '../local-store.ts';
import { formatBytes, note, printJson, printTable } from '../output.ts';

interface IncompleteOptions extends ConnectionOptions {
  readonly root?: string;
  readonly contexts?: string;
}

const HEAD = ['ATTEMPT', 'SNAPSHOT', 'PHASE', 'MODIFIED', 'SIZE', 'DIAGNOSTIC'];

export function incompleteCommand(): Command {
  const command = withConnection(
    newCommand('incomplete', 'list attempts that were never published; changes nothing')
      .option('--root <directory>', 'look at a store on disk, without a service')
      .option('--contexts <file>', 'with --root: the C3 declarations [SNAPSHOTS_CONTEXTS]'),
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
  printTable(HEAD, attempts.map(rowOf));
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
  const { store } = await openLocalStore(root, await loadDeclarations(contexts, note));
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
