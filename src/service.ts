/** One serving process: a store and what serves it, made from settings, and their orderly end. */
import fs from 'node:fs';
import { inspect } from 'node:util';
import type { Logger } from 'pino';
import { buildApp, type App } from './app.ts';
import type { Config } from './config.ts';
import { isAnySnapshotError } from './contract/errors.ts';
import { Doors } from './doors.ts';
import { listen } from './listening.ts';
import { openLog, type Log } from './log.ts';
import { Metrics } from './http/metrics.ts';
import { ownPermits, type UploadPermits } from './http/transfers.ts';
import { obeySignals } from './signals.ts';
import { endStart, loadDeclarations, logWarnings, sayWhere, warnAtStart } from './starting.ts';
import { openStore } from './open-store.ts';
import type { SnapshotStore } from './store/snapshot-store.ts';
import type { StoreRooms } from './store/root.ts';
import type { Peers } from './store/space-reserve.ts';

/** What a process shares with others that serve the same root. */
export interface Shared {
  readonly uploads: UploadPermits;
  readonly peers: Peers | null;
  /** The store's directories as the others know them; null before any of them has looked. */
  readonly rooms: StoreRooms | null;
}

export interface Service {
  readonly app: App;
  readonly store: SnapshotStore;
  readonly metrics: Metrics;
  readonly doors: Doors;
  readonly config: Config;
  readonly log: Log;
}

/** Serves from this process and returns once it listens. Throws `ConfigError` or `UnusableRootError` with one clear line. */
export async function serveAlone(config: Config): Promise<void> {
  const log = openLog(config);
  const doors = new Doors(config);
  let service: Service | null = null;
  obeySignals({
    stop: (reason, error) => {
      if (service === null) endStart(error);
      stopWithGrace(service, reason, error).catch(() => process.exit(1));
    },
    stopAtOnce: (reason) => {
      log.logger.warn(service === null ? {} : transfersOf(service), `second ${reason}: stopping at once`);
      process.exit(1);
    },
    reread: () => {
      rereadDoors(doors, service, log.logger);
    },
    ignore: (signal) => {
      log.logger.info(`${signal}: means nothing here`);
    },
  });
  logWarnings(log.logger);
  const opened = await openService(config, log, doors);
  const url = await listen(opened.app.server.server, config, process.env);
  service = opened;
  await sayWhere(config, url);
  warnAtStart(config, log.logger);
}

/** Opens store and service; nothing listens yet. Throws `ConfigError` or `UnusableRootError` with one clear line. */
export async function openService(
  config: Config,
  log: Log,
  doors = new Doors(config),
  shared: Shared = { uploads: ownPermits(config.maxUploads), peers: null, rooms: null },
): Promise<Service> {
  const { declarations } = loadDeclarations(config);
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
    rooms: shared.rooms,
    peers: shared.peers,
    ...mountTable(),
  });
  try {
    await store.prepare();
  } catch (error) {
    // A directory that is away for a while is told with each request, as the processes beside this one do.
    if (shared.rooms === null || !isAnySnapshotError(error)) throw error;
  }
  const app = await buildApp(config, store, log.logger, metrics, doors, shared.uploads);
  // Fastify waits only for servers that it made listen itself: without this, stopping would cut running transfers.
  app.server.addHook('onClose', () => app.connections.end());
  await app.server.ready();
  return { app, store, metrics, doors, config, log };
}

/** Tokens and certificate as their files are now; those of before where a file cannot be used. */
export function rereadDoors(doors: Doors, service: Service | null, logger: Logger): void {
  if (!doors.haveFiles) {
    logger.info('SIGHUP: neither tokens nor a certificate come from files, so nothing was read again');
    return;
  }
  try {
    doors.reread();
    if (doors.tls !== null) service?.app.connections.renewTls(doors.tls);
    logger.info('SIGHUP: tokens and certificate were read again');
  } catch (error) {
    const reason = error instanceof Error ? error.message : inspect(error);
    logger.error(`SIGHUP: what was in force stays in force: ${reason}`);
  }
}

function mountTable(): { mountTable: string } | undefined {
  try {
    return { mountTable: fs.readFileSync('/proc/self/mountinfo', 'utf8') };
  } catch {
    return undefined;
  }
}

export function transfersOf({ app: { transfers } }: Service): { uploads: number; downloads: number } {
  return { uploads: transfers.uploads, downloads: transfers.downloads };
}

/** Nothing new; running transfers may end within the grace. `error` is what escaped, where that is why it stops. */
export async function stopWithGrace(running: Service, reason: string, error: unknown): Promise<never> {
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
