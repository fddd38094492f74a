/** Who may enter and how it is kept from being overheard: tokens and the certificate, also from files read again at SIGHUP. */
import { createHash, timingSafeEqual } from 'node:crypto';
import fs from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError, environmentName, flagName, type Config, type Setting } from './config.ts';
import { isToken, TOKEN_RULE } from './contract/text.ts';
import type { Access } from './http/guards.ts';

/** Certificate and private key, as PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

interface Keys {
  readonly publish: readonly Buffer[];
  readonly read: readonly Buffer[];
  readonly tls: TlsFiles | null;
}

export class Doors {
  readonly #config: Config;
  #keys: Keys;

  /** Throws `ConfigError` for a file that cannot be used. */
  constructor(config: Config) {
    this.#config = config;
    this.#keys = keysOf(config);
  }

  /** Whether a token is asked for. */
  get areGuarded(): boolean {
    return this.#keys.publish.length + this.#keys.read.length > 0;
  }

  get tls(): TlsFiles | null {
    return this.#keys.tls;
  }

  /** Whether anything comes from a file that `reread` would read. */
  get haveFiles(): boolean {
    const { tokenFile, readTokenFile } = this.#config;
    return tokenFile.length + readTokenFile.length > 0 || this.tls !== null;
  }

  /** Takes new tokens and a new certificate. Throws `ConfigError`, and then everything stays as it was. */
  reread(): void {
    this.#keys = keysOf(this.#config);
  }

  /** Compares with every token there is, in constant time, whatever the lengths. */
  accessOf(token: string): Access {
    const given = digest(token);
    const isAmong = (known: readonly Buffer[]): boolean =>
      known.reduce((found, one) => timingSafeEqual(given, one) || found, false);
    const [publishes, reads] = [isAmong(this.#keys.publish), isAmong(this.#keys.read)];
    if (publishes) return 'publish';
    return reads ? 'read' : 'none';
  }
}

function keysOf(config: Config): Keys {
  const tokensOf = (given: readonly string[], setting: Setting, files: readonly string[]): Buffer[] =>
    [...given, ...files.flatMap((path) => tokensIn(path, setting))].map(digest);
  return {
    publish: tokensOf(config.token, 'tokenFile', config.tokenFile),
    read: tokensOf(config.readToken, 'readTokenFile', config.readTokenFile),
    tls: tlsOf(config),
  };
}

/** One token a line. A file without any would leave a door open, or shut, that nobody meant. */
function tokensIn(path: string, setting: Setting): string[] {
  const lines = readFile(path, setting).toString('utf8').split(/\r?\n/u);
  lines.forEach((line, index) => {
    if (line === '' || isToken(line)) return;
    throw new ConfigError(`${shown(setting)} ${path}: line ${index + 1} is no token: expected ${TOKEN_RULE}`);
  });
  const tokens = lines.filter((line) => line !== '');
  if (tokens.length > 0) return tokens;
  throw new ConfigError(
    `${shown(setting)} ${path}: there is no token in it; write one, on a line of its own`,
  );
}

function tlsOf({ tlsCert, tlsKey }: Config): TlsFiles | null {
  if (tlsCert === undefined || tlsKey === undefined) return null;
  const files = { cert: readFile(tlsCert, 'tlsCert'), key: readFile(tlsKey, 'tlsKey') };
  try {
    createSecureContext(files);
  } catch (error) {
    throw new ConfigError(
      `the certificate ${tlsCert} and the key ${tlsKey} cannot be used (${(error as Error).message}): expected a PEM ` +
        'certificate, with those between it and its root behind it, and its own PEM key without a passphrase',
    );
  }
  return files;
}

function readFile(path: string, setting: Setting): Buffer {
  try {
    return fs.readFileSync(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ConfigError(
      `${shown(setting)} ${path}: the file cannot be read (${code}); name one that this user may read`,
    );
  }
}

function shown(setting: Setting): string {
  return `${flagName(setting)} (${environmentName(setting)})`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
