/** The process: settings in, one listening service out, and an orderly end (CONTRACT, section 4). */
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import closeWithGrace from 'close-with-grace';
import { pino, type Logger } from 'pino';
import { build as prettyLines } from 'pino-pretty';
import { buildApp, type App } from './app.ts';
import { ConfigError, environmentName, flagName, isLoopback, type Config } from './config.ts';
import { parseDeclarations, type Declarations } from './contract/contexts.ts';
import { declarationsRefusal } from './declarations-file.ts';
import { listen } from './listening.ts';
import { Metrics } from './http/metrics.ts';
import { inertJson, inertText } from './http/inert-text.ts';
import { LocalSnapshotStore } from './store/local-snapshot-store.ts';
import { nodeFileSystem } from './store/node-file-system.ts';
import { timedFileSystem } from './store/timed-file-system.ts';
import { workerProver } from './store/worker-prover.ts';

/** Shipped with the package; two levels up from `dist/src`, one from `src`. */
const EXAMPLE_CONTEXTS = ['../../examples/contexts.json', '../examples/contexts.json'];

/** Starts the service and returns once it listens. Throws `ConfigError` or `UnusableRootError` with one clear line. */
export async function startService(config: Config): Promise<void> {
  const logger = makeLogger(config);
  const { declarations, warning } = loadDeclarations(config);
  const metrics = new Metrics();
  const store = new LocalSnapshotStore(config.root, {
    declarations,
    fileSystem: timedFileSystem(nodeFileSystem, metrics.observeSync),
    ...(config.threads === 0
      ? {}
      : { prover: workerProver(declarations, config.threads === 'auto' ? undefined : config.threads) }),
    limits: {
      arrays: config.maxArrays,
      arrayBytes: config.maxArrayBytes,
      snapshotBytes: config.maxSnapshotBytes,
    },
    reserveBytes: config.reserveBytes,
    verify: config.verify,
    verifyMaxAgeMs: config.verifyMaxAgeSeconds * 1000,
    ...mountTable(),
  });
  await store.prepare();
  const app = await buildApp(config, store, logger, metrics);
  const url = await listen(app.server, config, process.env);
  // Only now: a start that fails says one line, the reason.
  if (warning !== undefined) logger.warn(warning);
  warnOpenDoors(config, logger);
  stopWithGrace(app, store, config, logger);
  process.stdout.write(`pipewhy-snapshots is serving ${config.root} at ${url}\n`);
}

function makeLogger(config: Config): Logger {
  const pretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && process.stderr.isTTY);
  // Standard output carries the one line that says where the service listens; the log goes to standard error.
  const options = { level: config.logLevel, redact: ['req.headers.authorization'] };
  const lines = pretty
    ? prettyLines({ destination: 2, ignore: 'pid,hostname', singleLine: true })
    : pino.destination({ dest: 2, sync: false });
  const inert = pretty ? inertText : inertJson;
  return pino(options, {
    write: (line) => {
      lines.write(inert(line));
    },
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
  if (config.socket !== undefined || isLoopback(config.host) || config.token !== undefined) return;
  logger.warn(
    `${config.host} can be reached from other machines and no token is set: anyone there can read and publish`,
  );
}

/** First signal: nothing new, running transfers may end within the grace. Second signal or end of grace: stop at once. */
function stopWithGrace(
  { server, transfers, connections }: App,
  store: LocalSnapshotStore,
  config: Config,
  logger: Logger,
): void {
  closeWithGrace(
    {
      delay: false,
      logger: false,
      onSecondSignal: (signal: string) => {
        logger.warn(
          { uploads: transfers.uploads, downloads: transfers.downloads },
          `second ${signal}: stopping at once`,
        );
        process.exit(1);
      },
    },
    async ({ err, signal }) => {
      transfers.stop();
      if (err !== undefined) logger.fatal({ err }, 'unexpected error: stopping');
      else
        logger.info(
          { uploads: transfers.uploads, downloads: transfers.downloads },
          `${signal ?? 'end'}: stopping`,
        );
      const cut = setTimeout(() => {
        logger.warn(
          { uploads: transfers.uploads, downloads: transfers.downloads },
          'the grace is over: running transfers are cut, their attempts stay as evidence',
        );
        process.exitCode = 1;
        server.server.closeAllConnections();
      }, config.graceSeconds * 1000);
      connections.closeIdle();
      await server.close();
      clearTimeout(cut);
      await store.close();
      if (process.exitCode === 1) process.exit(1);
    },
  );
}
