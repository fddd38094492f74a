/** `show`: one snapshot's manifest, proven. */
import type { Command } from 'commander';
import type { ProvenManifest } from '../../client/index.ts';
import { concluding, newCommand, withClient, withConnection, withExamples } from '../actions.ts';
import type { ConnectionOptions } from '../actions.ts';
import { formatTime, print, printable, printTable } from '../output.ts';

export function showCommand(): Command {
  const command = withConnection(
    newCommand('show', 'show one snapshot and its arrays').argument('<id>', 'snapshot id'),
  );
  withExamples(
    command,
    `  pipewhy-snapshots show 0123456789abcdef0123456789abcdef
  pipewhy-snapshots show 0123456789abcdef0123456789abcdef --json | sha256sum

With --json it prints the exact bytes of the manifest and no newline, so that their SHA-256 is the manifest's.`,
  );
  return command.action((id: string, options: ConnectionOptions) =>
    concluding(options, async () => {
      const proven = await withClient(options, (client) => client.manifest(id));
      if (options.json === true) process.stdout.write(proven.manifestBytes);
      else show(proven);
    }),
  );
}

function show({ manifest: { snapshot, arrays }, manifestSha256 }: ProvenManifest): void {
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
  for (const [name, value] of lines) print(`${name.padEnd(16)}${printable(value)}`);
  const rows = Object.entries(arrays).map(([key, entry]) => [
    key,
    entry.dtype,
    entry.count,
    entry.byte_length,
    entry.sha256,
  ]);
  if (rows.length === 0) return;
  print('');
  printTable(['ARRAY', 'DTYPE', 'COUNT', 'BYTES', 'SHA-256'], rows, true);
}
