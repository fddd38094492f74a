/** `publish`: files, or what a pipe brings, as one immutable snapshot. */
import { existsSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import type { FileInput, PublishResult } from '../../client/index.ts';
import { DTYPE_NAMES, isDtype } from '../../contract/dtypes.ts';
import { isSnapshotError } from '../../contract/errors.ts';
import { isArrayKey, type ArrayKey } from '../../contract/ids.ts';
import { MANIFEST_FILE, arrayKeyOfFileName } from '../../contract/package.ts';
import { parseStrictJson, type JsonValue } from '../../contract/strict-json.ts';
import {
  concluding,
  interruptible,
  unlessAborted,
  withClient,
  withConnection,
  withExamples,
  type ConnectionOptions,
} from '../connection.ts';
import { CommandError, reasonOf, statusOf, wrongUse } from '../errors.ts';
import { counted, formatBytes, note, print, printJson, progressBar } from '../output.ts';
import { beginsAsNpy, Spool, STANDARD_INPUT } from '../spool.ts';

interface PublishOptions extends ConnectionOptions {
  readonly metadata?: string;
  readonly dir?: string;
  readonly ifExists: 'fail' | 'confirm';
  readonly declareDigests: boolean;
}

export function define(command: Command): Command {
  withConnection(
    command
      .argument(
        '[arrays...]',
        'arrays as key=path[:dtype]; the dtype may stand in the metadata instead, and a .npy file says its own; - is ' +
          'standard input',
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
  pipewhy-snapshots publish --metadata snapshot.json ids=<(zcat ids.gz):int64
  pipewhy-snapshots publish --dir ./0123456789abcdef0123456789abcdef
  jq '.snapshot.scope = "all"' draft.json | pipewhy-snapshots publish --metadata - --json ids=ids.bin

A file that begins as a .npy file is one, whatever its name. What is no regular file (a pipe, -) is
kept in the directory for temporary files (TMPDIR) until the command ends, so that it can be hashed, and sent again.`,
  );
  return command.action((args: readonly string[], options: PublishOptions) =>
    concluding(options, () => publish(args, options)),
  );
}

async function publish(args: readonly string[], options: PublishOptions): Promise<void> {
  const { dir, ifExists, declareDigests, json } = options;
  const file = options.metadata ?? (dir === undefined ? undefined : join(dir, MANIFEST_FILE));
  if (file === undefined)
    throw wrongUse('the metadata is missing: give --metadata <file>, or --dir with a manifest.json');
  const named = await collectArrays(args, dir);
  const fromInput = Object.keys(named).filter((key) => named[key]?.path === STANDARD_INPUT);
  if (fromInput.length + (file === STANDARD_INPUT ? 1 : 0) > 1)
    throw wrongUse('standard input can be only one of the arrays and the metadata');
  const spool = new Spool();
  const progress = await progressBar('publishing');
  let metadata: JsonValue = null;
  const sending = { done: false };
  try {
    const result = await interruptible(
      async (signal) => {
        metadata = await unlessAborted(signal, readMetadata(file), {
          endsWithProcess: file === STANDARD_INPUT,
        });
        const arrays = await spooled(named, spool, signal);
        return withClient(options, (client) =>
          client.publish(metadata as never, arrays, {
            ifExists,
            declareDigests,
            signal,
            onProgress: ({ sentBytes, totalBytes }) => {
              sending.done = sentBytes === totalBytes;
              progress.update(sentBytes, totalBytes);
            },
          }),
        );
      },
      () => {
        // The last byte may be on its way: only the service knows.
        if (sending.done) return `everything was sent, so it may be published: ${lookFor(metadata)}`;
        return 'nothing was published; what had arrived stays with the service as evidence (pipewhy-snapshots incomplete)';
      },
    );
    progress.stop();
    report(result, json === true);
  } catch (error) {
    const interrupted = error instanceof CommandError && error.code === 'interrupted';
    if (!interrupted || !sending.done) throw error;
    throw new CommandError('interrupted', error.message, { status: statusOf('unknown') });
  } finally {
    progress.stop();
    spool.remove();
  }
}

function lookFor(metadata: JsonValue): string {
  const document = metadata as { snapshot?: { snapshot_id?: unknown }; snapshot_id?: unknown } | null;
  const id = document?.snapshot?.snapshot_id ?? document?.snapshot_id;
  return `pipewhy-snapshots show ${typeof id === 'string' ? id : '<id>'} tells`;
}

export type FileInputs = Readonly<Record<ArrayKey, FileInput>>;

/** `key=path[:dtype]` as an array. Throws `CommandError`. */
function parseArrayArgument(argument: string): readonly [ArrayKey, FileInput] {
  const at = argument.indexOf('=');
  const key = argument.slice(0, Math.max(at, 0));
  const rest = argument.slice(at + 1);
  if (at === -1 || rest === '') {
    throw wrongUse(`expected an array as key=path[:dtype], found ${JSON.stringify(argument)}`);
  }
  if (!isArrayKey(key)) {
    throw wrongUse(`${JSON.stringify(key)} is no array key: expected [a-z][a-z0-9_]{0,63}`);
  }
  const colon = rest.lastIndexOf(':');
  const suffix = rest.slice(colon + 1);
  if (colon > 0 && isDtype(suffix)) return [key, { path: rest.slice(0, colon), dtype: suffix }];
  const path = rest.slice(0, Math.max(colon, 0));
  if (colon > 0 && !existsSync(rest) && (path === STANDARD_INPUT || existsSync(path))) {
    throw wrongUse(
      `${JSON.stringify(suffix)} is no dtype: expected one of ${DTYPE_NAMES.join(', ')} in ${argument}`,
    );
  }
  return [key, { path: rest }];
}

const NPY_NAME = /^array-(?<key>.+)\.npy$/u;

/** Every `array-<key>.bin` and `array-<key>.npy` of a directory. Throws if it cannot be listed or holds a key twice. */
async function arraysOfDirectory(directory: string): Promise<FileInputs> {
  const names = await readdir(directory).catch((error: unknown) => {
    throw new CommandError('failed', `--dir ${directory} cannot be listed (${reasonOf(error)})`);
  });
  const arrays = Object.create(null) as Record<ArrayKey, FileInput>;
  for (const name of names.sort()) {
    const key = arrayKeyOfFileName(name) ?? NPY_NAME.exec(name)?.groups?.['key'];
    if (!isArrayKey(key)) continue;
    if (key in arrays)
      throw new CommandError(
        'failed',
        `--dir ${directory} holds the array ${key} both as .bin and as .npy; keep one of them there`,
      );
    arrays[key] = { path: join(directory, name) };
  }
  return arrays;
}

/** Arguments over the files of `directory`. Throws `CommandError` for a key given twice. */
async function collectArrays(args: readonly string[], directory: string | undefined): Promise<FileInputs> {
  const arrays = Object.create(null) as Record<ArrayKey, FileInput>;
  if (directory !== undefined) Object.assign(arrays, await arraysOfDirectory(directory));
  const given = new Set<string>();
  for (const argument of args) {
    const [key, input] = parseArrayArgument(argument);
    if (given.has(key)) throw wrongUse(`the array ${key} is given twice`);
    given.add(key);
    arrays[key] = input;
  }
  return arrays;
}

/** Regular files, each with the format that its bytes show: what was no such file has become one. */
async function spooled(inputs: FileInputs, spool: Spool, signal: AbortSignal): Promise<FileInputs> {
  const arrays = Object.create(null) as Record<ArrayKey, FileInput>;
  for (const [key, input] of Object.entries(inputs)) {
    const found = input.path === STANDARD_INPUT ? null : await stat(input.path).catch(() => undefined);
    // What is not there, and a directory, is refused by name when it is opened.
    const isFile = found?.isFile() === true || found === undefined || found?.isDirectory() === true;
    const path = isFile ? input.path : await spool.take(key, input.path, signal);
    const isNpy = input.path.endsWith('.npy') || (await beginsAsNpy(path));
    arrays[key] = { ...input, path, format: isNpy ? 'npy' : 'raw' };
  }
  return arrays;
}

/** No service takes a larger document; a device without an end must not fill the memory. */
const MAX_METADATA_BYTES = 64 * 1024 * 1024;

async function readMetadata(file: string): Promise<JsonValue> {
  const shown = file === STANDARD_INPUT ? 'standard input' : file;
  const bytes = await readBounded(file).catch((error: unknown) => {
    // A file that cannot be used is a failure, as it is for the arrays; only a wrong flag is wrong use.
    throw new CommandError('failed', `the metadata in ${shown} cannot be read (${reasonOf(error)})`);
  });
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!isSnapshotError(error, 'malformed_json')) throw error;
    throw new CommandError('failed', `${shown} is not strict JSON. ${error.message}`, { cause: error });
  }
}

async function readBounded(file: string): Promise<Buffer> {
  const handle = file === STANDARD_INPUT ? null : await open(file, 'r');
  try {
    const stream: AsyncIterable<Buffer> = handle?.createReadStream({ autoClose: false }) ?? process.stdin;
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of stream) {
      length += chunk.length;
      if (length > MAX_METADATA_BYTES) throw new Error(`it is longer than ${MAX_METADATA_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, length);
  } finally {
    await handle?.close();
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
  if (confirmedAfter.code === 'snapshot_exists') {
    note('The snapshot was there before; what is stored was proven to be exactly this one.');
    return;
  }
  note(`What is stored was proven to be exactly this snapshot, after: ${confirmedAfter.message}`);
  if (confirmedAfter.code === 'publication_uncertain') {
    note('The service could not tell whether it would survive a power cut.');
  }
}
