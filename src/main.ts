/** The process: settings in, one listening service out, and an orderly end (CONTRACT, section 4). */
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import type { Logger } from 'pino';
import { buildApp, type App } from './app.ts';
import { asksForToken, ConfigError, environmentName, flagName, type Config } from './config.ts';
import { Doors } from './doors.ts';
import { isLoopback } from './http/hosts.ts';
import { parseDeclarations, type Declarations } from './contract/contexts.ts';
import { declarationsRefusal } from './declarations-file.ts';
import { listen } from './listening.ts';
import { openLog, type Log } from './log.ts';
import { Metrics } from './http/metrics.ts';
import { obeySignals } from './signals.ts';
import { openStore } from './open-store.ts';
import type { SnapshotStore } from './store/snapshot-store.ts';

/** Shipped with the package; two levels up from `dist/src`, one from `src`. */
const EXAMPLE_CONTEXTS = ['../../examples/contexts.json', '../examples/contexts.json'];

interface Running {
  readonly app: App;
  readonly store: SnapshotStore;
  readonly config: Config;
  readonly log: Log;
}

/** Starts the service and returns once it listens. Throws `ConfigError` or `UnusableRootError` with one clear line. */
export async function startService(config: Config): Promise<void> {
  const log = openLog(config);
  const doors = new Doors(config);
  let running: Running | null = null;
  obeySignals({
    stop: (reason, error) => {
      if (running === null) endStart(error);
      stopWithGrace(running, reason, error).catch(() => process.exit(1));
    },
    stopAtOnce: (reason) => {
      log.logger.warn(running === null ? {} : transfersOf(running), `second ${reason}: stopping at once`);
      process.exit(1);
    },
    reread: () => {
      reread(doors, running, log.logger);
    },
    ignore: (signal) => {
      log.logger.info(`${signal}: means nothing here`);
    },
  });
  logWarnings(log.logger);
  const { declarations, warning } = loadDeclarations(config);
  const metrics = new Metrics();
  metrics.watchLog(log.lines);
  const store = await openStore(config.root, {
    declarations,
    threads: config.threads,
    observer: {
      syncTook: metrics.observeSync,
      threadLost: (err) => {
        log.logger.error(
          { err },
          'a thread that proves and stores payloads died; another one takes its place',
        );
      },
    },
    limits: {
      arrays: config.maxArrays,
      arrayBytes: config.maxArrayBytes,
      snapshotBytes: config.maxSnapshotBytes,
    },
    reserveBytes: config.reserveBytes,
    verify: config.verify,
    verifyMaxAgeMs: config.verifyMaxAgeSeconds * 1000,
    cacheBytes: config.cacheBytes,
    idleMs: config.idleSeconds * 1000,
    readOnly: config.readOnly,
    engineAnswered: metrics.observeEngine,
    ...mountTable(),
  });
  await store.prepare();
  const app = await buildApp(config, store, log.logger, metrics, doors);
  const url = await listen(app.server, config, process.env);
  running = { app, store, config, log };
  await sayWhere(`pipewhy-snapshots is serving ${config.root} at ${url}\n`);
  // Only now: a start that fails says one line, the reason.
  if (warning !== undefined) log.logger.warn(warning);
  warnOpenDoors(config, log.logger);
}

/** Tokens and certificate as their files are now; those of before where a file cannot be used. */
function reread(doors: Doors, running: Running | null, logger: Logger): void {
  if (!doors.haveFiles) {
    logger.info('SIGHUP: neither tokens nor a certificate come from files, so nothing was read again');
    return;
  }
  try {
    doors.reread();
    if (doors.tls !== null) running?.app.connections.renewTls(doors.tls);
    logger.info('SIGHUP: tokens and certificate were read again');
  } catch (error) {
    const reason = error instanceof Error ? error.message : inspect(error);
    logger.error(`SIGHUP: what was in force stays in force: ${reason}`);
  }
}

/** A port that nobody is told of is of no use: a standard output that cannot be written ends the start. */
async function sayWhere(line: string): Promise<void> {
  // Unlike what the other commands print, this is never enough: a reader that has gone has not read it.
  process.stdout.removeAllListeners('error').on('error', () => undefined);
  try {
    await promisify(
      process.stdout.write.bind(process.stdout) as (
        text: string,
        done: (error?: Error | null) => void,
      ) => void,
    )(line);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `standard output cannot be written (${code ?? message}), and it is where the service says its address; give it a ` +
        'terminal, a file with room, a pipe that is read, or /dev/null',
    );
  }
}

/** Nothing runs yet that could be waited for. */
function endStart(error: unknown): never {
  if (error === undefined) process.exit(0);
  process.stderr.write(`pipewhy-snapshots: ${error instanceof Error ? error.message : inspect(error)}\n`);
  process.exit(1);
}

/** Node would print them on standard error itself, in a form of its own, and fail where that cannot be written. */
function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning').on('warning', (warning) => {
    logger.warn({ err: warning }, 'warning of the runtime');
  });
}

function loadDeclarations(config: Config): { declarations: Declarations; warning?: string } {
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

function mountTable(): { mountTable: string } | undefined {
  try {
    return { mountTable: fs.readFileSync('/proc/self/mountinfo', 'utf8') };
  } catch {
    return undefined;
  }
}

function warnOpenDoors(config: Config, logger: Logger): void {
  if (config.socket !== undefined || isLoopback(config.host) || asksForToken(config)) return;
  logger.warn(
    `${config.host} can be reached from other machines and no token is set: anyone there can read and publish`,
  );
}

function transfersOf({ app: { transfers } }: Running): { uploads: number; downloads: number } {
  return { uploads: transfers.uploads, downloads: transfers.downloads };
}

/** Nothing new; running transfers may end within the grace. `error` is what escaped, where that is why it stops. */
async function stopWithGrace(running: Running, reason: string, error: unknown): Promise<never> {
  const { app, store, config, log } = running;
  const { logger } = log;
  app.transfers.stop();
  if (error === undefined) logger.info(transfersOf(running), `${reason}: stopping`);
  else logger.fatal({ err: error }, 'unexpected error: stopping');
  let status = error === undefined ? 0 : 1;
  const cut = setTimeout(() => {
    logger.warn(
      transfersOf(running),
      'the grace is over: running transfers are cut, their attempts stay as evidence',
    );
    status = 1;
    app.server.server.closeAllConnections();
  }, config.graceSeconds * 1000);
  app.connections.closeIdle();
  try {
    await app.server.close();
    clearTimeout(cut);
    await store.close();
  } catch (failure) {
    logger.error({ err: failure }, 'the end did not go as it should');
    status = 1;
  }
  // What a reader of the log has not taken by now, it will not: the end never waits for it.
  log.lines.flush();
  process.exit(status);
}
