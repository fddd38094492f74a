/** `get`: a whole package or one array, continued where it broke off and proven on arrival. */
import { payloadFileName } from '../../contract/package.ts';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { SnapshotClient } from '../../client/index.ts';
import { concluding, newCommand, withClient, withConnection, withExamples } from '../actions.ts';
import type { ConnectionOptions } from '../actions.ts';
import { digestOf, download } from '../download.ts';
import { UsageError } from '../exit-codes.ts';
import { counted, formatBytes, print, printJson, progressBar, type Progress } from '../output.ts';
import { downloadPackage } from '../package-download.ts';

interface GetOptions extends ConnectionOptions {
  readonly output?: string;
}

export function getCommand(): Command {
  const command = withConnection(
    newCommand('get', 'fetch a whole snapshot, or one array of it, and prove it')
      .argument('<id>', 'snapshot id')
      .argument('[key]', 'array; without it the whole snapshot')
      .option(
        '-o, --output <path>',
        'directory of a snapshot (./<id>), file of an array (./array-<key>.bin), - for standard output',
      ),
  );
  withExamples(
    command,
    `  pipewhy-snapshots get 0123456789abcdef0123456789abcdef
  pipewhy-snapshots get 0123456789abcdef0123456789abcdef ids -o ids.bin
  pipewhy-snapshots get 0123456789abcdef0123456789abcdef ids -o - | head -c 80 | od -t d8

What breaks off stays as <path>.part and is continued by the same command. A snapshot's directory holds byte-exact
copies: (cd <id> && sha256sum -c <(echo "$(cat complete.sha256)  manifest.json")).`,
  );
  return command.action((id: string, key: string | undefined, options: GetOptions) =>
    concluding(options, async () => {
      const progress = progressBar('fetching');
      try {
        await withClient(options, (client) =>
          key === undefined
            ? getPackage(client, id, options, progress)
            : options.output === '-'
              ? pipeArray(client, id, key)
              : getArray(client, id, key, options, progress),
        );
      } finally {
        progress.stop();
      }
    }),
  );
}

async function getPackage(
  client: SnapshotClient,
  id: string,
  options: GetOptions,
  progress: Progress,
): Promise<void> {
  const { output = id, json } = options;
  if (output === '-')
    throw new UsageError('a whole snapshot is a directory; name an array to write it to standard output');
  const { proven, outcome } = await downloadPackage(client, id, output, (done, total) =>
    progress.update(done, total),
  );
  progress.stop();
  const entries = Object.values(proven.manifest.arrays);
  const bytes = entries.reduce((sum, entry) => sum + BigInt(entry.byte_length), 0n);
  const result = { outcome, path: output, snapshot_id: id, manifest_sha256: proven.manifestSha256 };
  if (json === true) printJson({ ...result, array_count: entries.length, byte_length: String(bytes) });
  else print(`${outcome} ${output} (${counted(entries.length, 'array')}, ${formatBytes(bytes)}, proven)`);
}

async function getArray(
  client: SnapshotClient,
  id: string,
  key: string,
  options: GetOptions,
  progress: Progress,
): Promise<void> {
  const info = await client.arrayInfo(id, key);
  const path = await fileFor(options.output, key);
  const { byteLength, sha256 } = info;
  const existing = await digestOf(path);
  if (existing !== null && existing !== sha256) {
    throw new UsageError(`${path} is there with other content; choose another file with -o, or remove it`);
  }
  let done = 0;
  if (existing === null) {
    await download(client, { id, key, byteLength, sha256 }, path, (count) =>
      progress.update((done += count), byteLength),
    );
  }
  progress.stop();
  const outcome = existing === null ? 'saved' : 'present';
  const { dtype, count } = info;
  if (options.json === true)
    printJson({ outcome, path, snapshot_id: id, key, dtype, count, byte_length: String(byteLength), sha256 });
  else print(`${outcome} ${path} (${count} of ${dtype}, ${formatBytes(byteLength)}, proven)`);
}

/** The digest is known only at the end: whoever reads the pipe must look at the exit status. */
async function pipeArray(client: SnapshotClient, id: string, key: string): Promise<void> {
  await pipeline(Readable.from(client.streamArray(id, key), { objectMode: false }), process.stdout, {
    end: false,
  });
}

async function fileFor(output: string | undefined, key: string): Promise<string> {
  const name = payloadFileName(key);
  if (output === undefined) return name;
  const found = await stat(output).catch(() => null);
  return found?.isDirectory() === true ? join(output, name) : output;
}
