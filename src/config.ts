/** The service's settings: flags over environment over defaults, checked once, frozen, and passed on by hand. */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { isToken, TOKEN_RULE } from './contract/text.ts';
import { isLoopback } from './http/hosts.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const count = (min: number, max: number): z.ZodType<number> =>
  z
    .union([z.number(), z.string().regex(/^\d+$/u).transform(Number)], {
      error: `expected a whole number from ${min} to ${max}`,
    })
    .pipe(z.number().int().min(min, `expected at least ${min}`).max(max, `expected at most ${max}`));

const SIZE = /^(\d+)\s*(B|KiB|MiB|GiB|TiB)?$/u;
const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KiB: KIB,
  MiB: MIB,
  GiB: 1024 * MIB,
  TiB: 1024 * 1024 * MIB,
};

/** What a number can still count in bytes. */
const LARGEST_TIB = Math.floor(Number.MAX_SAFE_INTEGER / (1024 * 1024 * MIB));

const bytes = z
  .union([z.number(), z.string()], { error: 'expected a size such as 64MiB' })
  .transform((value, context) => {
    const match = SIZE.exec(String(value));
    const size = Number(match?.[1]) * (UNITS[match?.[2] ?? 'B'] ?? Number.NaN);
    if (Number.isSafeInteger(size)) return size;
    const message = Number.isNaN(size)
      ? 'expected a size such as 1048576, 512KiB, 64MiB or 2GiB'
      : `expected at most ${LARGEST_TIB}TiB`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const flag = z.union(
  [z.boolean(), z.enum(['true', 'false', '1', '0', '']).transform((text) => text === 'true' || text === '1')],
  { error: 'expected true or false' },
);

const text = z.string().min(1, 'expected a value');

/** One, or several of a repeated flag. The line end that the file of a secret has is no part of it. */
const tokens = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().map((one) => one.replace(/\r?\n$/u, '')))
  .superRefine((list, context) => {
    // The value itself is never shown.
    const message = list.includes('')
      ? 'expected a value, found an empty value'
      : `expected ${TOKEN_RULE}, found something else`;
    if (!list.every(isToken)) context.addIssue({ code: 'custom', message });
  });

const paths = z.union([z.array(text), text.transform((one) => [one])]);

const host = text.transform((name) => name.replace(/^\[(.*)\]$/u, '$1'));

const names = z
  .union([z.array(text), z.string().transform((value) => value.split(',').map((name) => name.trim()))])
  .transform((list) => list.filter((name) => name !== '').map((name) => name.toLowerCase()));

const basePath = z
  .string()
  .regex(/^(\/[A-Za-z0-9._~-]+)*\/?$/u, 'expected a path such as /snapshots-service, or nothing')
  .transform((path) => path.replace(/\/$/u, ''));

const SETTINGS = z.strictObject({
  root: text.default('./data'),
  host: host.default('127.0.0.1'),
  port: count(0, 65_535).default(8750),
  /** Listen on this unix socket instead of a port. */
  socket: text.optional(),
  /** Absolute or relative path of the C3 declarations; the shipped example, with a warning, when absent. */
  contexts: text.optional(),
  /** Each publishes and reads. */
  token: tokens.default([]),
  /** Each only reads. */
  readToken: tokens.default([]),
  /** Files of such tokens, one a line, read again at SIGHUP. */
  tokenFile: paths.default([]),
  readTokenFile: paths.default([]),
  /** PEM files of the certificate and its key, read again at SIGHUP; without them it is plain HTTP. */
  tlsCert: text.optional(),
  tlsKey: text.optional(),
  /** Hosts accepted in the Host header beside the loopback names and the listening address. */
  allowedHosts: names.default([]),
  /** Serve a non-loopback address although no token is set. */
  allowAnonymous: flag.default(false),
  readOnly: flag.default(false),
  basePath: basePath.default(''),
  verify: z.enum(['always', 'once'], { error: 'expected always or once' }).default('always'),
  verifyMaxAgeSeconds: count(1, 31_536_000).default(3600),
  maxMetadataBytes: bytes.default(MIB),
  maxArrays: count(1, 100_000).default(1024),
  maxArrayBytes: bytes.default(1024 * 1024 * MIB),
  maxSnapshotBytes: bytes.default(4 * 1024 * 1024 * MIB),
  maxUploads: count(1, 10_000).default(64),
  /** A transfer that makes no progress for this long is ended. */
  idleSeconds: count(1, 86_400).default(60),
  /** Bytes a second that an upload must bring and a download must take, on average over half a minute; 0 for any. */
  minBytesPerSecond: bytes.default(128),
  /** Memory that all downloads together may hold; more of them are refused for the moment. */
  maxDownloadBytes: bytes.default(192 * MIB),
  /** What the whole process may remember of manifests and proofs. */
  cacheBytes: bytes.default(32 * MIB),
  /** How long running transfers may go on after SIGTERM or SIGINT. */
  graceSeconds: count(0, 86_400).default(30),
  /** How much of a refused body is read so that its sender can hear the refusal. */
  maxDrainBytes: bytes.default(512 * MIB),
  /** Bytes of the disk that stay free; `auto` is 1% of it, at most 64 MiB. */
  reserveBytes: z
    .union([z.literal('auto'), bytes], { error: 'expected a size such as 64MiB, or auto' })
    .default('auto'),
  /** Processes that serve one root behind one address; `auto` is one for each core. */
  processes: z
    .union([z.literal('auto'), count(1, 64)], { error: 'expected a number of processes, or auto' })
    .default(1),
  /** Threads that hash and prove; 0 works without them, in the service's own thread. */
  threads: z
    .union([z.literal('auto'), count(0, 64)], { error: 'expected a number of threads, or auto' })
    .default('auto'),
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'expected trace, debug, info, warn, error, fatal or silent',
    })
    .default('info'),
  logFormat: z.enum(['auto', 'json', 'pretty'], { error: 'expected auto, json or pretty' }).default('auto'),
});

export type Config = Readonly<z.output<typeof SETTINGS>>;
export type Setting = keyof Config;
/** Values by setting, as strings from a command line or already typed. */
export type SettingInputs = Partial<Readonly<Record<Setting, unknown>>>;

/** `SNAPSHOTS_MAX_ARRAYS` for `maxArrays`, and so on for every setting. */
export function environmentName(setting: Setting): string {
  return `SNAPSHOTS_${setting.replace(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase()}`;
}

/** `--max-arrays` for `maxArrays`. */
export function flagName(setting: Setting): string {
  return `--${setting.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`;
}

export const SETTING_NAMES = Object.keys(SETTINGS.shape) as readonly Setting[];

/** Whether a flag may be given several times. */
export function isRepeatable(setting: Setting): boolean {
  const field: unknown = SETTINGS.shape[setting];
  const inner: unknown = field instanceof z.ZodDefault ? field.unwrap() : field;
  return inner === tokens || inner === paths;
}

/** The words that a setting may be, or null where it is something else. */
export function settingChoices(setting: Setting): readonly string[] | null {
  const field: unknown = SETTINGS.shape[setting];
  const inner: unknown = field instanceof z.ZodDefault ? field.unwrap() : field;
  return inner instanceof z.ZodEnum ? inner.options.map(String) : null;
}

/** What is in force where nothing is given, as a flag would say it; null where that is nothing, no or none. */
export function settingDefault(setting: Setting): string | null {
  const field: unknown = SETTINGS.shape[setting];
  if (!(field instanceof z.ZodDefault)) return null;
  const value: unknown = field.def.defaultValue;
  if (value === '' || value === false || (Array.isArray(value) && value.length === 0)) return null;
  return typeof value === 'number' && field.unwrap() === bytes ? inUnits(value) : String(value);
}

/** In the largest unit in which it is a whole number. */
function inUnits(size: number): string {
  const [unit, factor] = Object.entries(UNITS).findLast(([, one]) => size % one === 0) ?? ['B', 1];
  return `${size / factor}${unit}`;
}

/** A setting that cannot be used; the message names it the way it was given. */
export class ConfigError extends Error {
  /** Whether a flag holds a value that cannot be read: wrong use of the command, not a wrong surrounding. */
  readonly usage: boolean;

  constructor(message: string, { usage = false }: { readonly usage?: boolean } = {}) {
    super(message);
    this.name = 'ConfigError';
    this.usage = usage;
  }
}

/** Settings from flags, then environment, then defaults. Throws `ConfigError` naming every unusable one. */
export function loadConfig(
  flags: SettingInputs,
  environment: Readonly<Record<string, string | undefined>>,
): Config {
  const given: Record<string, unknown> = {};
  const origins = new Map<string, string>();
  for (const setting of SETTING_NAMES) {
    const variable = environmentName(setting);
    if (flags[setting] !== undefined) {
      given[setting] = flags[setting];
      origins.set(setting, flagName(setting));
    } else if (environment[variable] !== undefined && environment[variable] !== '') {
      given[setting] = environment[variable];
      origins.set(setting, variable);
    }
  }
  const parsed = SETTINGS.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => {
      const setting = String(issue.path[0]);
      const origin = origins.get(setting) ?? setting;
      if (setting === 'token' || setting === 'readToken') return `${origin}: ${issue.message}`;
      return `${origin}: ${issue.message}, found ${shown(given[setting])}${linkHint(origin, given[setting])}`;
    });
    const usage = parsed.error.issues.some(({ path }) => flags[String(path[0]) as Setting] !== undefined);
    throw new ConfigError(problems.join('; '), { usage });
  }
  const config = parsed.data;
  refuseOpenDoors(config);
  return Object.freeze(config);
}

function linkHint(origin: string, value: unknown): string {
  if (origin !== environmentName('port') || !String(value).startsWith('tcp:')) return '';
  return (
    ' (Kubernetes sets this variable for a Service named "snapshots": put enableServiceLinks: false into the pod, set the ' +
    'variable there, or give the Service another name)'
  );
}

function shown(value: unknown): string {
  return value === '' ? 'an empty value' : JSON.stringify(value);
}

/** Whether whoever comes needs a token. */
export function asksForToken({ token, readToken, tokenFile, readTokenFile }: Config): boolean {
  return [token, readToken, tokenFile, readTokenFile].some((given) => given.length > 0);
}

/** How many processes serve. */
export function processesOf({ processes }: Config): number {
  return processes === 'auto' ? availableParallelism() : processes;
}

function refuseOpenDoors(config: Config): void {
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    throw new ConfigError(
      `${flagName('tlsCert')} and ${flagName('tlsKey')} belong together: give both, or neither for plain HTTP`,
    );
  }
  if (config.socket !== undefined || isLoopback(config.host)) return;
  if (asksForToken(config) || config.allowAnonymous) return;
  throw new ConfigError(
    `${flagName('host')} ${config.host} can be reached from other machines: set ${environmentName('token')} to a secret, ` +
      `or ${flagName('allowAnonymous')} if something in front of the service keeps strangers out`,
  );
}
