/** Runs proofs and payload hashes in worker threads, so that long hashing uses every core and not the event loop. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Declarations } from '../contract/contexts.ts';
import type { TaskInput, TaskKind, TaskOutput } from './proof-tasks.ts';
import type { PayloadHash, PayloadReadBack, Prover } from './prover.ts';
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
  #streams = 0;
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
    return this.#lost === null ? this.#waiting.size + this.#streams * 2 : Infinity;
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

  startHash(stream: number): PayloadHash {
    this.#streams += 1;
    let open = true;
    const release = (): void => {
      if (open) this.#streams -= 1;
      open = false;
    };
    return {
      update: async (block) => {
        await this.ask({ kind: 'hash-update', stream, block });
      },
      digest: async () => {
        release();
        return (await this.ask({ kind: 'hash-digest', stream })) as string;
      },
      abandon: () => {
        if (!open) return;
        release();
        const request: Request = { id: null, kind: 'hash-abandon', stream };
        this.#say(request);
      },
    };
  }

  startReadBack(stream: number, path: string, name: string): PayloadReadBack {
    this.#streams += 1;
    let open = true;
    const end = async (kind: 'read-back-finish' | 'read-back-abandon'): Promise<unknown> => {
      if (open) this.#streams -= 1;
      open = false;
      return this.ask({ kind, stream });
    };
    return {
      block: async (block) => {
        await this.ask({ kind: 'read-back-block', stream, path, name, block });
      },
      finish: async () => (await end('read-back-finish')) as ReadBackResult,
      abandon: async () => {
        if (open) await end('read-back-abandon');
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
  #nextStream = 0;
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

  startHash(): PayloadHash {
    return this.#leastLoaded().startHash(this.#nextStream++);
  }

  startReadBack(path: string, name: string): PayloadReadBack {
    return this.#leastLoaded().startReadBack(this.#nextStream++, path, name);
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
