/** `pipewhy-snapshots serve`: a flag for every setting, over the environment (CONTRACT, section 4). */
import { Option, type Command } from 'commander';
import {
  environmentName,
  flagName,
  isRepeatable,
  loadConfig,
  SETTING_NAMES,
  settingChoices,
  settingDefault,
  type Setting,
} from '../config.ts';

const HELP: Readonly<Record<Setting, readonly [argument: string, text: string]>> = {
  root: ['<directory>', 'where snapshots are kept'],
  host: ['<address>', 'address to listen on'],
  port: ['<number>', 'port to listen on; 0 picks one'],
  socket: ['<path>', 'listen on a unix socket instead'],
  contexts: ['<file>', 'the C3 declarations (the shipped example)'],
  token: ['<secret>', 'a bearer token that publishes and reads; may be repeated; better given by a file'],
  readToken: ['<secret>', 'a bearer token that only reads; may be repeated'],
  tokenFile: ['<file>', 'tokens that publish and read, one a line, read again at SIGHUP; may be repeated'],
  readTokenFile: ['<file>', 'tokens that only read, likewise'],
  tlsCert: ['<file>', 'serve https with this PEM certificate (and its chain), read again at SIGHUP'],
  tlsKey: ['<file>', 'the PEM key of the certificate'],
  allowedHosts: ['<names>', 'further names accepted in the Host header, separated by commas; * for any'],
  allowAnonymous: ['', 'serve a non-loopback address without a token'],
  readOnly: ['', 'publish nothing'],
  basePath: ['<path>', 'path prefix behind a proxy'],
  verify: ['<always|once>', 'prove every byte at every read, or once until a file changes'],
  verifyMaxAgeSeconds: ['<seconds>', 'age at which "once" proves again'],
  maxMetadataBytes: ['<size>', 'largest metadata document'],
  maxArrays: ['<number>', 'most arrays in one snapshot'],
  maxArrayBytes: ['<size>', 'largest array'],
  maxSnapshotBytes: ['<size>', 'largest snapshot'],
  maxUploads: ['<number>', 'uploads at once'],
  idleSeconds: ['<seconds>', 'a transfer without progress ends after this'],
  minBytesPerSecond: ['<size>', 'a transfer slower than this, over half a minute, ends; 0 for any'],
  maxDownloadBytes: ['<size>', 'memory that all downloads together may hold'],
  cacheBytes: ['<size>', 'memory for manifests and proofs that were seen before'],
  graceSeconds: ['<seconds>', 'time for running transfers when stopping'],
  maxDrainBytes: ['<size>', 'how much of a refused body is read'],
  reserveBytes: ['<size>', 'disk space kept free; auto is 1%, at most 64MiB'],
  threads: ['<number>', 'threads that hash and prove; auto is one per core, at most 8'],
  processes: ['<number>', 'processes that serve the root behind one address; auto is one per core'],
  logLevel: ['<level>', 'how much is logged'],
  logFormat: ['<format>', 'how a log line looks; auto is pretty on a terminal, JSON elsewhere'],
};

/** The default, where one is in force that a reader would want to know. */
function inForce(setting: Setting): string {
  const value = settingDefault(setting);
  return value === null ? '' : ` (${value})`;
}

export function define(command: Command): Command {
  for (const setting of SETTING_NAMES) {
    const [argument, text] = HELP[setting];
    const flags = `${flagName(setting)} ${argument}`.trim();
    const option = new Option(flags, `${text}${inForce(setting)} [${environmentName(setting)}]`);
    // For completion alone: what is no such word, the settings refuse in their own words.
    const choices = settingChoices(setting);
    if (choices !== null) option.argChoices = [...choices];
    if (isRepeatable(setting))
      option.argParser<string[]>((value, before: string[] | undefined) => [...(before ?? []), value]);
    command.addOption(option);
  }
  command.addHelpText(
    'after',
    `
Examples:
  pipewhy-snapshots serve
  pipewhy-snapshots serve --root /srv/snapshots --port 0
  SNAPSHOTS_TOKEN=... pipewhy-snapshots serve --host 0.0.0.0 --allowed-hosts snapshots.example

Exit status:
  0  stopped by SIGTERM or SIGINT, and every running transfer ended
  1  a root, port, file or variable cannot be used, or running transfers were cut when stopping
  2  wrong use of the command`,
  );
  return command.action(async (flags: Partial<Record<Setting, unknown>>) => {
    // Only here: every other sub-command starts without the server's weight.
    const { startService } = await import('../main.ts');
    await startService(loadConfig(flags, process.env));
  });
}
