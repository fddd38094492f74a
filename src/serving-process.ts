/** What each of several serving processes runs: told by the first process, it serves connections that are handed to it. */
import { ConfigError, type Config } from './config.ts';
import type { UploadPermits } from './http/transfers.ts';
import { openLog, type Log } from './log.ts';
import { Channel, type FirstCalls, type ServingCalls, type Started } from './process-channel.ts';
import { openService, rereadDoors, stopWithGrace, type Service } from './service.ts';
import { logWarnings } from './starting.ts';
import { LocalSnapshotStore } from './store/local-snapshot-store.ts';
import { UnusableRootError, type StoreRooms } from './store/root.ts';

/** How often the first process is told what was counted here, in case this one dies. */
const TELL_COUNTS_MS = 1000;

/** Permits to upload that the first process gives: those that are not used are kept until it asks for them. */
class LeasedPermits implements UploadPermits {
  readonly max: number;
  readonly #lease: () => Promise<boolean>;
  #unused = 0;

  constructor(max: number, lease: () => Promise<boolean>) {
    this.max = max;
    this.#lease = lease;
  }

  take(): boolean | Promise<boolean> {
    if (this.#unused === 0) return this.#lease();
    this.#unused -= 1;
    return true;
  }

  giveBack(): void {
    this.#unused += 1;
  }

  returnUnused(): number {
    const returned = this.#unused;
    this.#unused = 0;
    return returned;
  }
}

function roomsOf({ store }: Service): StoreRooms | null {
  return store instanceof LocalSnapshotStore ? store.rooms : null;
}

class ServingProcess {
  readonly #channel: Channel<FirstCalls, ServingCalls>;
  #service: Service | null = null;
  #log: Log | null = null;
  #permits: LeasedPermits | null = null;
  #stopping = false;

  constructor() {
    this.#channel = new Channel<FirstCalls, ServingCalls>(
      // What cannot be said any more is said to nobody: without the first process this one ends, by 'disconnect'.
      (message) => process.send?.(message, undefined, undefined, () => undefined),
      {
        start: ({ config, number, rooms }) => this.#start(config, number, rooms),
        connection: (_, socket) => {
          if (this.#service === null || this.#stopping) {
            socket?.destroy();
            return false;
          }
          if (socket === undefined) return true;
          const { connections } = this.#service.app;
          socket.once('close', () => {
            this.#channel.tell('connectionOver', null);
          });
          // After the answer, so that whatever was read of a connection is known to be this process' to answer.
          process.nextTick(() => {
            connections.adopt(socket);
          });
          return true;
        },
        stop: (reason) => {
          this.#stop(reason);
        },
        reread: () => {
          if (this.#service !== null)
            rereadDoors(this.#service.doors, this.#service, this.#service.log.logger);
        },
        returnUploads: () => this.#permits?.returnUnused() ?? 0,
        counts: async () => (await this.#service?.metrics.counts()) ?? [],
      },
    );
    process.on('message', this.#channel.receive);
    process.on('disconnect', () => {
      this.#channel.close();
      this.#stop('the first process is gone');
    });
    // A terminal, and systemd, signal all processes of the service: the first one hears it, and says what to do.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) {
      process.on(signal, () => undefined);
    }
    const escaped = (error: unknown): void => {
      this.#stop('unexpected error', error ?? new Error('Something rejected without a reason.'));
    };
    process.on('uncaughtException', escaped).on('unhandledRejection', escaped);
  }

  async #start(config: Config, number: number, rooms: StoreRooms | null): Promise<Started> {
    try {
      const log = openLog(config, number);
      this.#log = log;
      logWarnings(log.logger);
      const permits = new LeasedPermits(config.maxUploads, () =>
        this.#channel.ask('takeUpload', null).catch(() => false),
      );
      this.#permits = permits;
      const service = await openService(config, log, undefined, {
        uploads: permits,
        rooms,
        peers: {
          // Without the first process nothing new comes, and what runs may end.
          exchange: (own) => this.#channel.ask('promise', own).catch(() => ({ bytes: 0n, files: 0n })),
          tell: (own) => {
            this.#channel.tell('promise', own);
          },
        },
      });
      service.metrics.gatherBy(() => this.#channel.ask('metrics', null));
      setInterval(() => {
        service.metrics.counts().then(
          (counts) => {
            this.#channel.tell('counted', counts);
          },
          (err: unknown) => {
            log.logger.warn({ err }, 'what was counted cannot be told');
          },
        );
      }, TELL_COUNTS_MS).unref();
      this.#service = service;
      return { problem: null, rooms: roomsOf(service) };
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof ConfigError) return { problem: { message, usage: error.usage }, rooms: null };
      if (error instanceof UnusableRootError) return { problem: { message, usage: false }, rooms: null };
      this.#stop('unexpected error', error);
      return { problem: { message, usage: false }, rooms: null };
    }
  }

  #stop(reason: string, error?: unknown): void {
    if (this.#stopping) {
      if (error !== undefined) process.exit(1);
      return;
    }
    this.#stopping = true;
    this.#channel.tell('leaving', null);
    if (this.#service === null) {
      if (error !== undefined) this.#log?.logger.fatal({ err: error }, 'unexpected error at the start');
      process.exit(error === undefined ? 0 : 1);
    }
    stopWithGrace(this.#service, reason, error).catch(() => process.exit(1));
  }
}

new ServingProcess();
