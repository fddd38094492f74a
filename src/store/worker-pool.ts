/** The engine in worker threads, so that long hashing and slow disks use every core and never the event loop. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Declarations } from '../contract/contexts.ts';
import { SnapshotError } from '../contract/errors.ts';
import {
  sinkOver,
  type Executor,
  type PayloadSink,
  type TaskInput,
  type TaskKind,
  type TaskOutput,
  type ThreadCounts,
} from './engine.ts';
import type { Descriptor } from './file-system.ts';
import { nodeFileSystem } from './node-file-system.ts';
import { OpenDescriptors } from './open-descriptors.ts';
import { unpackError, type Answer, type Batch, type Message, type ThreadData } from './thread-messages.ts';

const MAX_THREADS = 8;
/** A thread that dies is replaced, but where they die again and again no faster than this. */
const REPLACE_EVERY_MS = 1000;

/** The processors this process may use, at most eight. */
export function defaultThreads(): number {
  return Math.min(availableParallelism(), MAX_THREADS);
}

export interface WorkerPoolOptions {
  readonly threads: number;
  /** What all threads together may remember of manifests, in bytes. */
  readonly manifestBytes: number;
  /** Told of every thread that died. */
  readonly onLost?: ((error: Error) => void) | undefined;
  /** Starts a thread; another one than `worker.js` only in tests. */
  readonly start?: (data: ThreadData) => Worker;
}

interface Waiting {
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

function startWorker(data: ThreadData): Worker {
  return new Worker(new URL('./worker.js', import.meta.url), {
    workerData: data,
    // Descriptors opened for a reader outlive the task that opened them; the service's thread closes them.
    trackUnmanagedFds: false,
  });
}

/** One thread and what it still owes. */
class EngineThread {
  readonly #waiting = new Map<number, Waiting>();
  readonly #worker: Worker;
  readonly #open = new OpenDescriptors();
  #outbox: Message[] = [];
  #sinks = 0;
  #nextId = 0;
  #lost: Error | null = null;

  constructor(
    data: Pick<ThreadData, 'declarations' | 'manifestBytes'>,
    start: (data: ThreadData) => Worker,
    onEnd: (thread: EngineThread, error: Error) => void,
  ) {
    this.#worker = start({ ...data, openDescriptors: this.#open.shared });
    this.#worker.unref();
    this.#worker.on('message', (batch: Batch<Answer>) => {
      for (const answer of batch) this.#settle(answer);
    });
    this.#worker.on('error', (error: unknown) => {
      this.#lost ??= error instanceof Error ? error : new Error(String(error));
    });
    this.#worker.on('exit', () => {
      this.#lost ??= new Error('The thread ended by itself.');
      this.#open.closeAll(nodeFileSystem);
      onEnd(this, this.#lost);
      for (const waiting of this.#waiting.values()) waiting.reject(threadLost(this.#lost));
      this.#waiting.clear();
    });
  }

  get load(): number {
    return this.#lost === null ? this.#waiting.size + this.#sinks * 2 : Infinity;
  }

  ask(kind: TaskKind, input: TaskInput<TaskKind>, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== null) {
        reject(threadLost(this.#lost));
        return;
      }
      signal?.throwIfAborted();
      const id = this.#nextId++;
      const onAbort = (): void => {
        this.#say({ abort: id });
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(id, { signal, onAbort, resolve, reject });
      this.#say({ id, kind, input });
    });
  }

  openSink(opened: TaskInput<'sinkOpen'>): PayloadSink {
    this.#sinks += 1;
    const run = async <K extends TaskKind>(kind: K, input: TaskInput<K>): Promise<TaskOutput<K>> =>
      (await this.ask(kind, input)) as TaskOutput<K>;
    return sinkOver(run, opened, () => (this.#sinks -= 1));
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #say(message: Message): void {
    this.#outbox.push(message);
    if (this.#outbox.length > 1) return;
    setImmediate(() => {
      const batch: Batch<Message> = this.#outbox;
      this.#outbox = [];
      this.#worker.postMessage(batch);
    });
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (waiting === undefined) return;
    const { signal, onAbort, resolve, reject } = waiting;
    signal?.removeEventListener('abort', onAbort);
    if ('error' in answer) {
      reject(signal?.aborted === true ? signal.reason : unpackError(answer.error));
      return;
    }
    const { descriptor } = (answer.value ?? {}) as { readonly descriptor?: Descriptor | null };
    if (typeof descriptor === 'number') this.#open.handedOver(descriptor);
    resolve(answer.value);
  }
}

function threadLost(cause: Error): SnapshotError<'unavailable'> {
  return new SnapshotError(
    'unavailable',
    'The thread that worked on this has died; another one takes its place. Try again in a moment.',
    { retry_after_seconds: 1 },
    { cause },
  );
}

class WorkerPool implements Executor {
  readonly parallelism: number;
  readonly #threads: EngineThread[] = [];
  readonly #data: Pick<ThreadData, 'declarations' | 'manifestBytes'>;
  readonly #options: WorkerPoolOptions;
  #nextSink = 0;
  #lost = 0;
  #nextReplacementAt = 0;
  #closed = false;

  constructor(declarations: Declarations, options: WorkerPoolOptions) {
    this.#data = { declarations, manifestBytes: Math.floor(options.manifestBytes / options.threads) };
    this.#options = options;
    this.parallelism = options.threads;
    for (let index = 0; index < options.threads; index += 1) this.#start();
  }

  get threads(): ThreadCounts {
    return { running: this.#threads.length, wanted: this.#closed ? 0 : this.parallelism, lost: this.#lost };
  }

  async run<K extends TaskKind>(kind: K, input: TaskInput<K>, signal?: AbortSignal): Promise<TaskOutput<K>> {
    return (await this.#leastLoaded().ask(kind, input, signal)) as TaskOutput<K>;
  }

  openSink(file: Descriptor, path: string, name: string): PayloadSink {
    return this.#leastLoaded().openSink({ sink: this.#nextSink++, file, path, name });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  #start(): void {
    const { start = startWorker } = this.#options;
    this.#threads.push(
      new EngineThread(this.#data, start, (thread, error) => {
        this.#threads.splice(this.#threads.indexOf(thread), 1);
        if (!this.#closed) this.#replace(error);
      }),
    );
  }

  #replace(error: Error): void {
    this.#lost += 1;
    const now = performance.now();
    const at = Math.max(now, this.#nextReplacementAt);
    this.#nextReplacementAt = at + REPLACE_EVERY_MS;
    setTimeout(() => {
      if (!this.#closed) this.#start();
    }, at - now).unref();
    this.#options.onLost?.(error);
  }

  #leastLoaded(): EngineThread {
    let best = this.#threads[0];
    for (const thread of this.#threads) if (best === undefined || thread.load < best.load) best = thread;
    if (best !== undefined) return best;
    if (this.#closed) throw new Error('The threads have been stopped.');
    throw new SnapshotError(
      'unavailable',
      'None of the threads that prove and store payloads is running; one is started again within a second. If this stays so, ' +
        'the log says why they die.',
      { retry_after_seconds: 1 },
    );
  }
}

export function workerPool(declarations: Declarations, options: WorkerPoolOptions): Executor {
  return new WorkerPool(declarations, options);
}
