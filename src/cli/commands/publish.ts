/** `publish`: files as one immutable snapshot. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { PublicationUncertainError, SnapshotExistsError, type PublishResult } from '../../client/index.ts';
import { isSnapshotError } from '../../contract/errors.ts';
import { parseStrictJson, type JsonValue } from '../../contract/strict-json.ts';
import { concluding, newCommand, withClient, withConnection, withExamples } from '../actions.ts';
import type { ConnectionOptions } from '../actions.ts';
import { collectArrays } from '../array-arguments.ts';
import { reasonOf, UsageError } from '../exit-codes.ts';
import { counted, formatBytes, note, print, printJson, progressBar } from '../output.ts';

interface PublishOptions extends ConnectionOptions {
  readonly metadata?: string;
  readonly dir?: string;
  readonly ifExists: 'fail' | 'confirm';
  readonly declareDigests: boolean;
}

export function publishCommand(): Command {
  const command = withConnection(
    newCommand(
      'publish',
      'publish files of raw little-endian integers, or .npy files, as one immutable snapshot',
    )
      .argument(
        '[arrays...]',
        'arrays as key=path[:dtype]; the dtype may stand in the metadata instead, and a .npy file says its own',
      )
      .option(
        '--metadata <file>',
        'JSON document with "snapshot" and "arrays", or the snapshot alone; - for standard input',
      )
      .option(
        '--dir <directory>',
        'take every array-<key>.bin or .npy of a directory, and its manifest.json as the metadata',
      )
      .addOption(
        new Option(
          '--if-exists <what>',
          'what to do if the id is taken: confirm succeeds if it is the same snapshot',
        )
          .choices(['fail', 'confirm'])
          .default('fail'),
      )
      .option('--no-declare-digests', 'read files once only and let the service compute their digests'),
  );
  withExamples(
    command,
    `  pipewhy-snapshots publish --metadata snapshot.json ids=ids.bin:int64 flags=flags.bin:uint8
  pipewhy-snapshots publish --metadata snapshot.json ids=ids.npy flags=flags.npy
  pipewhy-snapshots publish --dir ./0123456789abcdef0123456789abcdef
  jq '.snapshot.scope = "all"' draft.json | pipewhy-snapshots publish --metadata - --json ids=ids.bin`,
  );
  return command.action((args: readonly string[], options: PublishOptions) =>
    concluding(options, () => publish(args, options)),
  );
}

async function publish(args: readonly string[], options: PublishOptions): Promise<void> {
  const { dir, ifExists, declareDigests, json } = options;
  const file = options.metadata ?? (dir === undefined ? undefined : join(dir, 'manifest.json'));
  if (file === undefined)
    throw new UsageError('the metadata is missing: give --metadata <file>, or --dir with a manifest.json');
  const arrays = await collectArrays(args, dir);
  const metadata = await readMetadata(file);
  const progress = progressBar('publishing');
  try {
    const result = await withClient(options, (client) =>
      client.publish(metadata as never, arrays, {
        ifExists,
        declareDigests,
        onProgress: ({ sentBytes, totalBytes }) => progress.update(sentBytes, totalBytes),
      }),
    );
    progress.stop();
    report(result, json === true);
  } finally {
    progress.stop();
  }
}

async function readMetadata(file: string): Promise<JsonValue> {
  const shown = file === '-' ? 'standard input' : file;
  const bytes = await (file === '-' ? buffer(process.stdin) : readFile(file)).catch((error: unknown) => {
    // A file that cannot be used is a failure, as it is for the arrays; only a wrong flag is wrong use.
    throw new Error(`the metadata in ${shown} cannot be read (${reasonOf(error)})`, { cause: error });
  });
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!isSnapshotError(error, 'malformed_json')) throw error;
    throw new Error(`${shown} is not strict JSON. ${error.message}`, { cause: error });
  }
}

function report(
  { outcome, manifest, manifestSha256, attempts, confirmedAfter }: PublishResult,
  json: boolean,
): void {
  const { snapshot_id: id } = manifest.snapshot;
  const entries = Object.values(manifest.arrays);
  const bytes = entries.reduce((sum, entry) => sum + BigInt(entry.byte_length), 0n);
  if (json) {
    printJson({
      outcome,
      snapshot_id: id,
      manifest_sha256: manifestSha256,
      array_count: entries.length,
      byte_length: String(bytes),
      attempts,
      confirmed_after: confirmedAfter?.code ?? null,
    });
    return;
  }
  print(`${outcome} ${id} (${counted(entries.length, 'array')}, ${formatBytes(bytes)})`);
  print(`manifest sha256 ${manifestSha256}`);
  if (confirmedAfter === null) return;
  if (confirmedAfter instanceof SnapshotExistsError) {
    note('The snapshot was there before; what is stored was proven to be exactly this one.');
    return;
  }
  note(`What is stored was proven to be exactly this snapshot, after: ${confirmedAfter.message}`);
  if (confirmedAfter instanceof PublicationUncertainError) {
    note('The service could not tell whether it would survive a power cut.');
  }
}
