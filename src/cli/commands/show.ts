/** `show`: one snapshot's manifest, proven. */
import type { Command } from 'commander';
import type { ProvenManifest } from '../../client/index.ts';
import { inert } from '../../contract/text.ts';
import {
  concluding,
  ID_HELP,
  resolveId,
  withClient,
  withConnection,
  withExamples,
  type ConnectionOptions,
} from '../connection.ts';
import { formatTime, note, print, printTable, writeOut, type Column } from '../output.ts';

export function define(command: Command): Command {
  withConnection(command.argument('<id>', 'snapshot id'));
  withExamples(
    command,
    `  pipewhy-snapshots show 0123456789abcdef0123456789abcdef
  pipewhy-snapshots show latest
  pipewhy-snapshots show 01234567 --json | sha256sum

${ID_HELP}

With --json it prints the exact bytes of the manifest and no newline, so that their SHA-256 is the manifest's; on a
terminal, what would steer that is escaped.`,
  );
  return command.action((id: string, options: ConnectionOptions) =>
    concluding(options, async () => {
      const proven = await withClient(options, async (client) =>
        client.manifest(await resolveId(client, id)),
      );
      if (options.json !== true) await show(proven);
      else if (process.stdout.isTTY) print(inert(Buffer.from(proven.manifestBytes).toString('utf8')));
      else await writeOut(proven.manifestBytes);
    }),
  );
}

const ARRAY_COLUMNS: readonly Column[] = [
  { title: 'ARRAY', least: 8 },
  { title: 'DTYPE' },
  { title: 'COUNT' },
  { title: 'BYTES', leftOut: 1 },
  { title: 'SHA-256', least: 12 },
];

async function show({ manifest: { snapshot, arrays }, manifestSha256 }: ProvenManifest): Promise<void> {
  const { coverage, fingerprint } = snapshot;
  const expected = coverage.expected_records ?? 'an unknown number';
  const lines: readonly (readonly [string, string])[] = [
    ['snapshot', snapshot.snapshot_id],
    ['parent', snapshot.parent_id ?? 'none'],
    ['namespace', snapshot.source_namespace],
    ['version', snapshot.source_version],
    ['consistency', snapshot.source_consistency],
    ['scope', snapshot.scope],
    ['resolution', snapshot.resolution],
    ['started', formatTime(snapshot.started_at_ns)],
    ['finished', formatTime(snapshot.finished_at_ns)],
    ['coverage', `${coverage.status}, ${coverage.returned_records} of ${expected} records`],
    ...coverage.failure_reasons.map((reason) => ['failure', reason] as const),
    ['context', `${fingerprint.context_id}, mode ${fingerprint.mode}`],
    ['algorithm', `${fingerprint.algorithm_name}, ${fingerprint.algorithm_id}`],
    ['normalization', fingerprint.normalization_profile_id],
    ['source schema', fingerprint.source_schema_id],
    ['manifest sha256', manifestSha256],
  ];
  for (const [name, value] of lines) print(`${name.padEnd(16)}${inert(value)}`);
  const rows = Object.entries(arrays).map(([key, entry]) => [
    key,
    entry.dtype,
    entry.count,
    entry.byte_length,
    entry.sha256,
  ]);
  if (rows.length === 0) return;
  print('');
  const { cut } = await printTable(ARRAY_COLUMNS, rows, {
    terminal: true,
    // A reader that is no terminal has room for everything.
    ...(process.stdout.isTTY ? {} : { width: Infinity }),
  });
  if (cut) note('The terminal is too narrow for the whole digests; --json gives them.');
}
