/** `contexts`: the fingerprint declarations that the service has in force. */
import type { Command } from 'commander';
import {
  concluding,
  withClient,
  withConnection,
  withExamples,
  type ConnectionOptions,
} from '../connection.ts';
import { printJson, printTable, type Column } from '../output.ts';

const COLUMNS: readonly Column[] = [
  { title: 'CONTEXT', least: 16 },
  { title: 'ALGORITHM', least: 12 },
  { title: 'NORMALIZATION', least: 8, leftOut: 2 },
  { title: 'SOURCE SCHEMA', least: 8, leftOut: 1 },
  { title: 'MODE' },
];

export function define(command: Command): Command {
  withExamples(
    withConnection(command),
    `  pipewhy-snapshots contexts
  pipewhy-snapshots contexts --json > contexts.json

A snapshot's fingerprint must be one of them, field by field.`,
  );
  return command.action((options: ConnectionOptions) =>
    concluding(options, async () => {
      const declarations = await withClient(options, (client) => client.contexts());
      if (options.json === true) {
        printJson(declarations);
        return;
      }
      const rows = declarations.contexts.map((context) => [
        context.context_id,
        context.algorithm_id,
        context.normalization_profile_id,
        context.source_schema_id,
        context.mode,
      ]);
      await printTable(COLUMNS, rows);
    }),
  );
}
