/**
 * The first of several processes: it listens, hands each connection to the process that has fewest, replaces processes that
 * die, and keeps what holds for all of them. It serves nothing itself, and holds no byte of a request.
 *
 * Node's cluster module would do most of this, but a connection that it was handing to a process which dies just then
 * hangs for ever, and when all processes die at once it loses the socket that systemd passed.
 */
import { fork, type ChildProcess } from 'node:child_process';
import net, { type Socket } from 'node:net';
import type { Logger } from 'pino';
import { ConfigError, processesOf, type Config } from './config.ts';
import { Doors } from './doors.ts';
import { GatheredMetrics, type CountedMetric } from './http/metrics.ts';
import { listen } from './listening.ts';
import { openLog, type Log } from './log.ts';
import { Channel, type FirstCalls, type ServingCalls, type Started } from './process-channel.ts';
import { shareOf } from './shares.ts';
import { obeySignals } from './signals.ts';
import { endStart, loadDeclarations, logWarnings, sayWhere, warnAtStart } from './starting.ts';
import type { StoreRooms } from './store/root.ts';
import type { Promised } from './store/space-reserve.ts';
import { defaultThreads } from './store/worker-pool.ts';

/** A process that dies is replaced, but where they die again and again no faster than this. */
const REPLACE_EVERY_MS = 1000;
/** Connections that may wait for a process that takes them; the system has a queue of its own before that. */
const MAX_WAITING = 1024;
/** How long a process may take to say what it has counted, or to return what it does not use. */
const ANSWER_MS = 2000;
/** How much longer than the grace a process may take to end. */
const END_MS = 5000;

/** A serving process as the first one sees it. */
class Serving {
  readonly number: number;
  readonly child: ChildProcess;
  readonly channel: Channel<ServingCalls, FirstCalls>;
  /** Resolves when it has ended and all that it said was heard. */
  readonly ended: Promise<void>;
  /** Whether connections may be handed to it. */
  serves = false;
  /** Connections that it has. */
  open = 0;
  /** Those of which it has not said yet that it has them. */
  readonly handed = new Set<Socket>();
  uploads = 0;
  promised: Promised = { bytes: 0n, files: 0n };
  counts: readonly CountedMetric[] = [];

  constructor(
    number: number,
    answers: (self: Serving) => ConstructorParameters<typeof Channel<ServingCalls, FirstCalls>>[1],
  ) {
    this.number = number;
    this.child = fork(new URL('./serving-process.js', import.meta.url), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.channel = new Channel<ServingCalls, FirstCalls>((message, socket) => {
      if (!this.child.connected) return;
      // The socket stays open here until the process says that it has it: if it dies before, another one gets it.
      this.child.send(message, socket, { keepOpen: true }, () => undefined);
    }, answers(this));
    this.child.on('message', this.channel.receive);
    const { child } = this;
    this.ended = new Promise((resolve) => {
      // 'close' comes after the exit and after the last message; 'disconnect' does not come while a socket is on its way.
      child.once('close', resolve);
      child.on('error', () => {
        if (child.pid === undefined) resolve();
      });
    });
  }
}

/** Serves from several processes and returns once all of them do. Throws `ConfigError` with one clear line. */
export async function serveTogether(config: Config): Promise<void> {
  const log = openLog(config, 0);
  // What cannot be used is told once, not by every process.
  new Doors(config);
  loadDeclarations(config);
  const supervisor = new Supervisor(config, log);
  obeySignals({
    stop: (reason, error) => {
      supervisor.stop(reason, error).catch(() => process.exit(1));
    },
    stopAtOnce: (reason) => {
      log.logger.warn(`second ${reason}: stopping at once`);
      supervisor.kill();
      process.exit(1);
    },
    reread: () => {
      supervisor.reread();
    },
    ignore: (signal) => {
      log.logger.info(`${signal}: means nothing here`);
    },
  });
  logWarnings(log.logger);
  try {
    const url = await supervisor.start();
    await sayWhere(config, url);
  } catch (error) {
    supervisor.kill();
    throw error;
  }
  warnAtStart(config, log.logger);
}

class Supervisor {
  readonly #config: Config;
  readonly #log: Log;
  readonly #logger: Logger;
  readonly #server: net.Server;
  readonly #all = new Set<Serving>();
  readonly #waiting = new Set<Socket>();
  readonly #metrics: GatheredMetrics;
  #uploadsFree: number;
  #rooms: StoreRooms | null = null;
  #lost = 0;
  #nextReplacementAt = 0;
  #listening = false;
  #stopping = false;

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
    this.#logger = log.logger;
    this.#uploadsFree = config.maxUploads;
    this.#server = net.createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      this.#handOut(socket);
    });
    const { serving } = this;
    this.#metrics = new GatheredMetrics({
      get running() {
        return serving().length;
      },
      get lost() {
        return lost();
      },
    });
    const lost = (): number => this.#lost;
  }

  /** Those that take connections. */
  readonly serving = (): Serving[] => [...this.#all].filter(({ serves }) => serves);

  /** Starts all processes, and listens once each of them can serve. Gives the address for people. Throws `ConfigError`. */
  async start(): Promise<string> {
    const count = processesOf(this.#config);
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    for (const { problem } of await Promise.all(numbers.map((number) => this.#begin(number)))) {
      if (problem !== null) throw new ConfigError(problem.message, { usage: problem.usage });
    }
    const url = await listen(this.#server, this.#config, process.env);
    this.#listening = true;
    return url;
  }

  async stop(reason: string, error?: unknown): Promise<never> {
    if (!this.#listening) {
      this.kill();
      endStart(error);
    }
    this.#stopping = true;
    if (error === undefined) this.#logger.info({ processes: this.#all.size }, `${reason}: stopping`);
    else this.#logger.fatal({ err: error }, 'unexpected error: stopping');
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
    for (const { channel } of this.#all) channel.tell('stop', reason);
    const late = setTimeout(
      () => {
        this.#logger.error('some processes do not end by themselves and are killed');
        this.kill();
      },
      this.#config.graceSeconds * 1000 + END_MS,
    );
    const all = [...this.#all];
    await Promise.all(all.map(({ ended }) => ended));
    clearTimeout(late);
    this.#log.lines.flush();
    const allWell = error === undefined && all.every(({ child }) => child.exitCode === 0);
    process.exit(allWell ? 0 : 1);
  }

  /** Whatever runs in them. */
  kill(): void {
    this.#stopping = true;
    for (const { child } of this.#all) child.kill('SIGKILL');
  }

  reread(): void {
    for (const { channel } of this.#all) channel.tell('reread', null);
  }

  async #begin(number: number): Promise<Started> {
    const one = new Serving(number, (self) => this.#answersTo(self));
    this.#all.add(one);
    const ended = one.ended.then(async (): Promise<Started> => {
      await this.#bury(one);
      const { exitCode, signalCode } = one.child;
      const how = signalCode ?? (exitCode === null ? 'it could not be started' : `status ${exitCode}`);
      const message = `a process of the service ended (${how}) before it served; what it wrote says why`;
      return { problem: { message, usage: false }, rooms: null };
    });
    const started = await Promise.race([
      one.channel
        .ask('start', { config: shareFor(this.#config), number, rooms: this.#rooms })
        .catch(() => ended),
      ended,
    ]);
    if (started.problem !== null) one.child.kill('SIGKILL');
    else if (!this.#stopping) {
      this.#rooms ??= started.rooms;
      one.serves = true;
      for (const socket of this.#waiting) {
        this.#waiting.delete(socket);
        this.#handOut(socket);
      }
    }
    return started;
  }

  #answersTo(self: Serving): ConstructorParameters<typeof Channel<ServingCalls, FirstCalls>>[1] {
    return {
      leaving: () => {
        self.serves = false;
      },
      connectionOver: () => {
        self.open -= 1;
      },
      counted: (counts) => {
        self.counts = counts;
      },
      takeUpload: () => this.#takeUpload(self),
      promise: (own) => {
        self.promised = own;
        return this.#promisedBeside(self);
      },
      metrics: () => this.#gather(),
    };
  }

  /** To the process that has fewest; until one serves, connections wait. */
  #handOut(socket: Socket): void {
    let best: Serving | undefined;
    for (const one of this.serving()) if (best === undefined || one.open < best.open) best = one;
    if (best === undefined) {
      if (this.#stopping || this.#waiting.size >= MAX_WAITING) socket.destroy();
      else this.#waiting.add(socket);
      return;
    }
    const to = best;
    to.open += 1;
    to.handed.add(socket);
    to.channel.ask('connection', null, socket).then(
      (taken) => {
        to.handed.delete(socket);
        if (taken) socket.destroy();
        else {
          to.open -= 1;
          this.#handOut(socket);
        }
      },
      // It died: what it was handed is handed out again when it is buried.
      () => undefined,
    );
  }

  /** After the end of a process: what it held is others', and another process takes its place. */
  async #bury(one: Serving): Promise<void> {
    const served = one.serves;
    one.serves = false;
    this.#all.delete(one);
    one.channel.close();
    this.#uploadsFree += one.uploads;
    await this.#metrics.keep(one.counts);
    for (const socket of one.handed) this.#handOut(socket);
    if (this.#stopping || !this.#listening) return;
    this.#lost += 1;
    const { exitCode, signalCode, pid } = one.child;
    this.#logger.error(
      { lost: one.number, lostPid: pid, exitCode, signalCode },
      served
        ? 'a process that serves died; another one takes its place'
        : 'a process did not get to serving; another one is tried',
    );
    const now = performance.now();
    const at = Math.max(now, this.#nextReplacementAt);
    this.#nextReplacementAt = at + REPLACE_EVERY_MS;
    setTimeout(() => {
      if (!this.#stopping)
        this.#replace(one.number).catch((error: unknown) => {
          this.#logger.error({ err: error }, 'a process cannot be started');
        });
    }, at - now);
  }

  async #replace(number: number): Promise<void> {
    const { problem } = await this.#begin(number);
    if (problem === null)
      this.#logger.info({ replaced: number }, 'a process serves in the place of the one that died');
    else this.#logger.error(`a process cannot serve: ${problem.message}`);
  }

  /** Permits that others do not use are asked back before an upload is refused. */
  async #takeUpload(taker: Serving): Promise<boolean> {
    if (this.#uploadsFree === 0) {
      const others = [...this.#all].filter((one) => one !== taker && one.uploads > 0);
      await Promise.all(
        others.map(async (one) => {
          const returned = await inTime(one.channel.ask('returnUploads', null), (late) => {
            this.#return(one, late);
          });
          this.#return(one, returned ?? 0);
        }),
      );
    }
    if (this.#uploadsFree === 0 || !this.#all.has(taker)) return false;
    this.#uploadsFree -= 1;
    taker.uploads += 1;
    return true;
  }

  #return(one: Serving, uploads: number): void {
    if (!this.#all.has(one)) return;
    one.uploads -= uploads;
    this.#uploadsFree += uploads;
  }

  #promisedBeside(self: Serving): Promised {
    let [bytes, files] = [0n, 0n];
    for (const one of this.#all) {
      if (one === self) continue;
      bytes += one.promised.bytes;
      files += one.promised.files;
    }
    return { bytes, files };
  }

  async #gather(): Promise<string> {
    await Promise.all(
      this.serving().map(async (one) => {
        one.counts = (await inTime(one.channel.ask('counts', null))) ?? one.counts;
      }),
    );
    return this.#metrics.text([...this.#all].map(({ counts }) => counts));
  }
}

/** What was asked, or null where it does not come in time; `onLate` gets what comes after all. */
async function inTime<T>(asked: Promise<T>, onLate?: (value: T) => void): Promise<T | null> {
  let isLate = false;
  const timer = { id: undefined as NodeJS.Timeout | undefined };
  const limit = new Promise<null>((resolve) => {
    timer.id = setTimeout(() => {
      isLate = true;
      resolve(null);
    }, ANSWER_MS);
  });
  const settled = asked.then(
    (value) => {
      if (isLate) onLate?.(value);
      return value;
    },
    () => null,
  );
  const first = await Promise.race([settled, limit]);
  clearTimeout(timer.id);
  return first;
}

/** The settings of one process: what is memory, or work on cores, is divided among all; the rest is the same for each. */
function shareFor(config: Config): Config {
  const processes = processesOf(config);
  const threads = config.threads === 'auto' ? defaultThreads() : config.threads;
  return {
    ...config,
    processes,
    threads: shareOf(threads, processes),
    maxDownloadBytes: shareOf(config.maxDownloadBytes, processes),
    cacheBytes: shareOf(config.cacheBytes, processes),
  };
}
