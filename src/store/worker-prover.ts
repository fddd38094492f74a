/** Runs proofs, and the storing and reading of large payloads, in worker threads, so that long hashing uses every core and not the event loop. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Declarations } from '../contract/contexts.ts';
import type { BlockRead } from './block-reading.ts';
import type { Descriptor } from './file-system.ts';
import type { TaskInput, TaskKind, TaskOutput } from './proof-tasks.ts';
import type { PayloadSink, Prover } from './prover.ts';
import type { ReadBackResult } from './read-back.ts';
import { unpackError, type Answer, type Batch, type Request } from './thread-messages.ts';

const MAX_THREADS = 8;
/** A thread that dies is replaced, but a machine on which they die again and again is not flooded with new ones. */
const MAX_REPLACEMENTS = 32;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** One thread and what it still owes. */
class ProvingThread {
  readonly #waiting = new Map<number, Waiting>();
  readonly #worker: Worker;
  #outbox: Request[] = [];
  #sinks = 0;
  #nextId = 0;
  #lost: Error | null = null;

  constructor(declarations: Declarations, onLost: (thread: ProvingThread) => void) {
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { declarations },
      // Descriptors opened for a reader outlive the task that opened them; the service's thread closes them.
      trackUnmanagedFds: false,
    });
    this.#worker.unref();
    this.#worker.on('message', (batch: Batch<Answer>) => {
      for (const answer of batch) this.#settle(answer);
    });
    this.#worker.on('error', (error) => {
      this.#lose(error instanceof Error ? error : new Error(String(error)));
    });
    this.#worker.on('exit', () => {
      this.#lose(new Error('A proving thread ended before it answered.'));
      onLost(this);
    });
  }

  get load(): number {
    return this.#lost === null ? this.#waiting.size + this.#sinks * 2 : Infinity;
  }

  ask(request: { kind: string } & Record<string, unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== null) {
        reject(this.#lost);
        return;
      }
      const id = this.#nextId++;
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(id, { resolve, reject });
      this.#say({ id, ...request } as Request);
    });
  }

  openSink(sink: number, file: Descriptor, path: string, name: string): PayloadSink {
    this.#sinks += 1;
    let open = true;
    const opened = this.ask({ kind: 'sink-open', sink, file, path, name });
    // A thread that is lost says so again at the next step, where somebody waits.
    opened.catch(() => undefined);
    const end = async (kind: 'sink-finish' | 'sink-abandon'): Promise<unknown> => {
      if (open) this.#sinks -= 1;
      open = false;
      return this.ask({ kind, sink });
    };
    return {
      store: async (bytes) => {
        await this.ask({ kind: 'sink-store', sink, bytes });
      },
      finish: async () => (await end('sink-finish')) as ReadBackResult,
      abandon: async () => {
        if (open) await end('sink-abandon');
      },
    };
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #say(request: Request): void {
    this.#outbox.push(request);
    if (this.#outbox.length > 1) return;
    setImmediate(() => {
      const batch: Batch<Request> = this.#outbox;
      this.#outbox = [];
      this.#worker.postMessage(batch);
    });
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (waiting === undefined) return;
    if ('error' in answer) waiting.reject(unpackError(answer.error));
    else waiting.resolve(answer.value);
  }

  #lose(error: Error): void {
    this.#lost ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

class WorkerProver implements Prover {
  readonly parallelism: number;
  readonly #threads: ProvingThread[] = [];
  readonly #declarations: Declarations;
  #nextSink = 0;
  #replacements = 0;
  #closed = false;

  constructor(declarations: Declarations, threads: number) {
    this.#declarations = declarations;
    this.parallelism = threads;
    for (let index = 0; index < threads; index += 1) this.#start();
  }

  async run<K extends TaskKind>(kind: K, input: TaskInput<K>): Promise<TaskOutput<K>> {
    return (await this.#leastLoaded().ask({ kind, input })) as TaskOutput<K>;
  }

  openSink(file: Descriptor, path: string, name: string): PayloadSink {
    return this.#leastLoaded().openSink(this.#nextSink++, file, path, name);
  }

  async readBlock(read: BlockRead): Promise<void> {
    await this.#leastLoaded().ask({ kind: 'read-block', read });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  #start(): void {
    const thread = new ProvingThread(this.#declarations, (lost) => {
      const at = this.#threads.indexOf(lost);
      if (at !== -1) this.#threads.splice(at, 1);
      if (this.#closed || this.#replacements >= MAX_REPLACEMENTS) return;
      this.#replacements += 1;
      this.#start();
    });
    this.#threads.push(thread);
  }

  #leastLoaded(): ProvingThread {
    let best = this.#threads[0];
    for (const thread of this.#threads) if (best === undefined || thread.load < best.load) best = thread;
    if (best === undefined) throw new Error('The proving threads have been stopped.');
    return best;
  }
}

/** `threads` defaults to the processors this process may use, at most eight. */
export function workerProver(declarations: Declarations, threads?: number): Prover {
  return new WorkerProver(declarations, threads ?? Math.min(availableParallelism(), MAX_THREADS));
}
