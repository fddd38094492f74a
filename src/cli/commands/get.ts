/** `get`: a whole package or one array, continued where it broke off and proven as it lies on the disk. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ArrayInfo, ProvenManifest, SnapshotClient } from '../../client/index.ts';
import { sha256Hex } from '../../contract/digest.ts';
import {
  INTENT_FILE,
  intentBytes,
  MANIFEST_FILE,
  MARKER_FILE,
  markerBytes,
  payloadFileName,
} from '../../contract/package.ts';
import {
  concluding,
  ID_HELP,
  interruptible,
  resolveId,
  withClient,
  withConnection,
  withExamples,
  type ConnectionOptions,
} from '../connection.ts';
import { CommandError, reasonOf, wrongUse } from '../errors.ts';
import {
  claimPart,
  directoryTakesName,
  downloadFile,
  downloadInto,
  existsAlready,
  holds,
  makeDirectory,
  writeSmall,
  type Content,
  type DownloadOptions,
} from '../files.ts';
import { counted, formatBytes, print, printJson, progressBar, writeOut, type Progress } from '../output.ts';

interface GetOptions extends ConnectionOptions {
  readonly output?: string;
  readonly npy?: boolean;
}

export function define(command: Command): Command {
  withConnection(
    command
      .argument('<id>', 'snapshot id')
      .argument('[key]', 'array; without it the whole snapshot')
      .option(
        '-o, --output <path>',
        'directory of a snapshot (./<id>), file of an array (./array-<key>.bin), - for standard output',
      )
      .option('--npy', 'write the array as a .npy file; without it the ending .npy of the file says so'),
  );
  withExamples(
    command,
    `  pipewhy-snapshots get 0123456789abcdef0123456789abcdef
  pipewhy-snapshots get latest:warehouse.sales ids -o ids.npy
  pipewhy-snapshots get 01234567 ids -o - | head -c 80 | od -t d8

${ID_HELP}

What breaks off stays as <path>.part and is continued by the same command; a run that was killed leaves
<path>.part.<machine>-<process>, which the next one on that machine continues. A snapshot's directory holds byte-exact
copies: (cd <id> && sha256sum -c <(echo "$(cat complete.sha256)  manifest.json")).`,
  );
  return command.action(async (id: string, key: string | undefined, options: GetOptions) => {
    let part: string | null = null;
    await concluding(options, () => get(id, key, options, (kept) => void (part = kept)), {
      left: () =>
        part === null ? null : `What arrived stays in ${shown(part)}; the same command continues it.`,
    });
  });
}

function shown(path: string): string {
  const near = relative('', path);
  return near.startsWith('..') ? path : near;
}

async function get(
  words: string,
  key: string | undefined,
  options: GetOptions,
  onKept: (part: string | null) => void,
): Promise<void> {
  if (key === undefined && options.output === '-')
    throw wrongUse('a whole snapshot is a directory; name an array to write it to standard output');
  if (key === undefined && options.npy === true)
    throw wrongUse('a whole snapshot is copied as it is; name an array to have it as a .npy file');
  const progress = await progressBar('fetching', { waiting: 'the service is proving what is stored' });
  try {
    await interruptible((signal) =>
      withClient(options, async (client) => {
        const run: Run = {
          client,
          id: await resolveId(client, words, signal),
          options,
          progress,
          signal,
          onKept,
        };
        if (key === undefined) await getPackage(run);
        else if (options.output === '-') await pipeArray(run, key);
        else await getArray(run, key);
      }),
    );
  } finally {
    progress.stop();
  }
}

interface Run {
  readonly client: SnapshotClient;
  readonly id: string;
  readonly options: GetOptions;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly onKept: (part: string | null) => void;
}

async function getPackage({ client, id, options, progress, signal, onKept }: Run): Promise<void> {
  const { output = id, json } = options;
  const proven = await client.manifest(id, { signal });
  const entries = Object.values(proven.manifest.arrays);
  const bytes = entries.reduce((sum, entry) => sum + BigInt(entry.byte_length), 0n);
  let done = 0;
  const onBytes = (count: number): void => progress.update((done += count), Number(bytes));
  const outcome = await downloadPackage(client, proven, output, { onBytes, onKept, signal });
  progress.stop();
  const result = { outcome, path: output, snapshot_id: id, manifest_sha256: proven.manifestSha256 };
  if (json === true) printJson({ ...result, array_count: entries.length, byte_length: String(bytes) });
  else print(`${outcome} ${output} (${counted(entries.length, 'array')}, ${formatBytes(bytes)}, proven)`);
}

type Outcome = 'saved' | 'present';

/** `present`: the directory held exactly this package already. Throws `CommandError` if it holds anything else. */
async function downloadPackage(
  client: SnapshotClient,
  proven: ProvenManifest,
  directory: string,
  options: DownloadOptions & Pick<Run, 'onKept'>,
): Promise<Outcome> {
  const target = resolve(directory);
  const small = smallFiles(proven);
  const files = filesOf(proven, small);
  const found = await namesIn(target);
  if (found !== null && found.length > 0) {
    if (await holdsPackage(target, found, files)) return 'present';
    throw notThisSnapshot(directory);
  }
  await makeDirectory(resolve(target, '..'));
  const part = await claimPart(target, 'directory');
  try {
    await refuseStrangers(part.path, files);
    await fill(client, proven, part.path, small, options);
    if (await directoryTakesName(part.path, target)) return 'saved';
    // Another run was faster, or something else came there meanwhile.
    if (!(await holdsPackage(target, (await namesIn(target)) ?? [], files))) throw notThisSnapshot(directory);
    await rm(part.path, { recursive: true, force: true });
    return 'present';
  } catch (error) {
    options.onKept(await part.keep());
    throw error;
  }
}

function notThisSnapshot(directory: string): CommandError {
  return new CommandError(
    'target_exists',
    `${directory} is there and does not hold exactly this snapshot; choose another with -o`,
  );
}

const NO_BYTES = new Uint8Array(0);

/** By name; a stored package is proven only with exactly these bytes (PW-07.03). */
function smallFiles(proven: ProvenManifest): ReadonlyMap<string, Uint8Array> {
  const { manifest, manifestBytes, manifestSha256, hasIntent } = proven;
  return new Map([
    ...(hasIntent ? [[INTENT_FILE, intentBytes(manifest.snapshot.snapshot_id)] as const] : []),
    [MANIFEST_FILE, manifestBytes],
    [MARKER_FILE, markerBytes(manifestSha256)],
  ]);
}

/** In the service's own order: the intent first, the marker last. */
async function fill(
  client: SnapshotClient,
  { manifest }: ProvenManifest,
  part: string,
  small: ReadonlyMap<string, Uint8Array>,
  options: DownloadOptions,
): Promise<void> {
  const { snapshot_id: id } = manifest.snapshot;
  for (const [name, bytes] of small) if (name === INTENT_FILE) await writeSmall(join(part, name), bytes);
  for (const [key, { file, byte_length: length, sha256 }] of Object.entries(manifest.arrays)) {
    const wanted = { id, key, header: NO_BYTES, byteLength: Number(length), sha256 };
    await downloadInto(client, wanted, join(part, file), options);
  }
  for (const [name, bytes] of small) if (name !== INTENT_FILE) await writeSmall(join(part, name), bytes);
}

/** Every file of the package, and what it is to hold. */
function filesOf(
  { manifest }: ProvenManifest,
  small: ReadonlyMap<string, Uint8Array>,
): ReadonlyMap<string, Content> {
  const files = new Map<string, Content>();
  for (const { file, byte_length: length, sha256 } of Object.values(manifest.arrays))
    files.set(file, { header: NO_BYTES, byteLength: Number(length), sha256 });
  // A small file is all header, before a payload of nothing.
  for (const [name, bytes] of small)
    files.set(name, { header: bytes, byteLength: 0, sha256: sha256Hex(NO_BYTES) });
  return files;
}

async function holdsPackage(
  directory: string,
  names: readonly string[],
  files: ReadonlyMap<string, Content>,
): Promise<boolean> {
  if (names.some((name) => !files.has(name))) return false;
  for (const [name, content] of files) {
    // The intent is optional: a copy made without it is this snapshot all the same.
    if (name === INTENT_FILE && !names.includes(name)) continue;
    if (!names.includes(name) || !(await holds(join(directory, name), content))) return false;
  }
  return true;
}

/** What is not of this package would end up in it. */
async function refuseStrangers(part: string, files: ReadonlyMap<string, Content>): Promise<void> {
  const stranger = (await readdir(part)).find((name) => !files.has(name.replace(/\.part$/u, '')));
  if (stranger === undefined) return;
  throw new CommandError(
    'target_exists',
    `what an earlier run left for it holds ${JSON.stringify(stranger)}, which is not of this snapshot; remove that`,
  );
}

/** The names in a directory, or null if there is none. */
async function namesIn(directory: string): Promise<readonly string[] | null> {
  return readdir(directory).catch((error: unknown) => {
    const reason = reasonOf(error);
    if (reason === 'ENOENT') return null;
    throw new CommandError(
      reason === 'ENOTDIR' ? 'target_exists' : 'failed',
      `${directory} cannot be used as a directory (${reason})`,
    );
  });
}

async function getArray(run: Run, key: string): Promise<void> {
  const { client, id, options, progress, signal, onKept } = run;
  const info = await client.arrayInfo(id, key, { signal });
  const path = await fileFor(options, key);
  const { byteLength, sha256, dtype, count } = info;
  const isNpy = options.npy === true || path.endsWith('.npy');
  const header = isNpy ? await headerOf(info) : NO_BYTES;
  const content = { header, byteLength, sha256 };
  let outcome: Outcome = 'present';
  if (!(await holds(path, content))) {
    if ((await stat(path).catch(() => null)) !== null) throw existsAlready(path);
    let done = 0;
    const onBytes = (bytes: number): void => progress.update((done += bytes), byteLength);
    outcome = await downloadFile(client, { id, key, ...content }, path, { onBytes, onKept, signal });
  }
  progress.stop();
  const format = isNpy ? 'npy' : 'raw';
  const facts = { outcome, path, snapshot_id: id, key, format, dtype, count };
  if (options.json === true) printJson({ ...facts, byte_length: String(byteLength), sha256 });
  else print(`${outcome} ${path} (${count} of ${dtype}, ${formatBytes(byteLength)}, proven)`);
}

async function headerOf({ dtype, count }: ArrayInfo): Promise<Uint8Array> {
  const { npyHeader } = await import('../../contract/npy-header.ts');
  return npyHeader(dtype, String(count));
}

/** The digest is known only at the end: whoever reads the pipe must look at the exit status. */
async function pipeArray({ client, id, options, progress, signal }: Run, key: string): Promise<void> {
  if (options.npy === true) await writeOut(await headerOf(await client.arrayInfo(id, key, { signal })));
  for await (const block of client.streamArray(id, key, { signal })) {
    progress.stop();
    await writeOut(block);
  }
}

async function fileFor({ output, npy }: GetOptions, key: string): Promise<string> {
  const name = npy === true ? payloadFileName(key).replace(/bin$/u, 'npy') : payloadFileName(key);
  if (output === undefined) return name;
  const found = await stat(output).catch(() => null);
  return found?.isDirectory() === true ? join(output, name) : output;
}
