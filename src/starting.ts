/** What every start of the service does, whether one process serves or several. */
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import type { Logger } from 'pino';
import { asksForToken, ConfigError, environmentName, flagName, type Config } from './config.ts';
import { parseDeclarations, type Declarations } from './contract/contexts.ts';
import { declarationsRefusal } from './declarations-file.ts';
import { isLoopback } from './http/hosts.ts';

/** Shipped with the package; two levels up from `dist/src`, one from `src`. */
const EXAMPLE_CONTEXTS = ['../../examples/contexts.json', '../examples/contexts.json'];

/** A port that nobody is told of is of no use: a standard output that cannot be written ends the start. */
export async function sayWhere({ root }: Config, url: string): Promise<void> {
  // Unlike what the other commands print, this is never enough: a reader that has gone has not read it.
  process.stdout.removeAllListeners('error').on('error', () => undefined);
  try {
    await promisify(
      process.stdout.write.bind(process.stdout) as (
        text: string,
        done: (error?: Error | null) => void,
      ) => void,
    )(`pipewhy-snapshots is serving ${root} at ${url}\n`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `standard output cannot be written (${code ?? message}), and it is where the service says its address; give it a ` +
        'terminal, a file with room, a pipe that is read, or /dev/null',
    );
  }
}

/** Nothing runs yet that could be waited for. */
export function endStart(error: unknown): never {
  if (error === undefined) process.exit(0);
  process.stderr.write(`pipewhy-snapshots: ${error instanceof Error ? error.message : inspect(error)}\n`);
  process.exit(1);
}

/** Node would print them on standard error itself, in a form of its own, and fail where that cannot be written. */
export function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning').on('warning', (warning) => {
    logger.warn({ err: warning }, 'warning of the runtime');
  });
}

/** What its operator should know of a service that has started; one that could not says one line, the reason. */
export function warnAtStart(config: Config, logger: Logger): void {
  const { warning } = loadDeclarations(config);
  if (warning !== undefined) logger.warn(warning);
  if (config.socket !== undefined || isLoopback(config.host) || asksForToken(config)) return;
  logger.warn(
    `${config.host} can be reached from other machines and no token is set: anyone there can read and publish`,
  );
}

export function loadDeclarations(config: Config): { declarations: Declarations; warning?: string } {
  if (config.contexts !== undefined) return { declarations: readDeclarations(config.contexts) };
  for (const candidate of EXAMPLE_CONTEXTS) {
    const path = fileURLToPath(new URL(candidate, import.meta.url));
    if (!fs.existsSync(path)) continue;
    const warning =
      `no declarations are configured (${environmentName('contexts')}): the shipped example is in force, which declares ` +
      'only the context "example-context"';
    return { declarations: readDeclarations(path), warning };
  }
  throw new ConfigError(
    `no declarations: name a file with ${flagName('contexts')} or ${environmentName('contexts')}`,
  );
}

function readDeclarations(path: string): Declarations {
  try {
    return parseDeclarations(fs.readFileSync(path));
  } catch (error) {
    throw new ConfigError(declarationsRefusal(path, error));
  }
}
