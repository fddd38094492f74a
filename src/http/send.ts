/**
 * Sends a listing without ever holding it: entry by entry, at the pace of its reader. What goes wrong before the first byte
 * is answered with a problem document; what goes wrong after it breaks the connection, never ends it cleanly.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asSnapshotError } from './problems.ts';
import { inertJson } from './inert-text.ts';
import { sendHijacked, type DownloadPace } from './send-payload.ts';

/** An answer begins when it is complete, or has so many bytes, or after so long: whichever comes first. */
const AHEAD_BYTES = 256 * 1024;
const AHEAD_MS = 1_000;
/** Entries are written in blocks of about this size, and whatever there is after so long. */
const BLOCK_BYTES = 64 * 1024;
const FLUSH_MS = 1_000;
/** While the next entry is being proven, a blank between entries tells reader and proxies that there is more to come. */
const BLANK_EVERY = 10;

export interface ListItem<P> {
  /** Null for one that is passed over. */
  readonly entry: object | null;
  readonly problem?: P | null;
}

export interface JsonList<P> {
  /** What is before the entries, up to and with `[`. */
  readonly head: string;
  readonly items: AsyncIterable<ListItem<P>>;
  /** What is behind them, from `]` on. */
  readonly tail: string;
  /** The refusal for all problems that were found, in the order in which they were. */
  readonly failure: (problems: AsyncIterable<P>) => Promise<Error>;
}

type Step<P> = IteratorResult<ListItem<P>, unknown>;

/** Resolves when all has been sent or the client is gone. Rejects, with nothing sent yet, for what went wrong before. */
export async function sendJsonList<P>(
  request: FastifyRequest,
  reply: FastifyReply,
  list: JsonList<P>,
  pace: DownloadPace,
): Promise<FastifyReply> {
  const iterator = list.items[Symbol.asyncIterator]();
  const text = new Text(list.head);
  void reply.header('content-type', 'application/json');
  try {
    const late = after(AHEAD_MS);
    let pending = iterator.next();
    try {
      while (text.bytes < AHEAD_BYTES) {
        const step = await Promise.race([pending, late.promise]);
        if (step === LATE) break;
        if (step.done === true)
          return await reply.send(Buffer.concat([...text.take(), Buffer.from(list.tail)]));
        const { entry, problem } = step.value;
        if (problem !== undefined && problem !== null) throw await list.failure(withRest(problem, iterator));
        if (entry !== null) text.add(entry);
        pending = iterator.next();
      }
    } finally {
      late.clear();
    }
    // Nothing of a body is wanted, and what a reader would hear by now is that it begins.
    if (request.method === 'HEAD') {
      pending.catch(() => undefined);
      return await reply.send();
    }
    return await sendHijacked(request, reply, blocks(request, list, text, pending, iterator), pace);
  } finally {
    await iterator.return?.();
  }
}

async function* withRest<P>(first: P, rest: AsyncIterator<ListItem<P>>): AsyncGenerator<P, void, void> {
  yield first;
  for (let step = await rest.next(); step.done !== true; step = await rest.next()) {
    const { problem } = step.value;
    if (problem !== undefined && problem !== null) yield problem;
  }
}

async function* only<P>(problem: P): AsyncGenerator<P, void, void> {
  yield problem;
  await Promise.resolve();
}

async function* blocks<P>(
  request: FastifyRequest,
  list: JsonList<P>,
  text: Text,
  first: Promise<Step<P>>,
  iterator: AsyncIterator<ListItem<P>>,
): AsyncGenerator<Uint8Array, void, void> {
  let pending = first;
  let idle = 0;
  let tick = after(FLUSH_MS);
  try {
    yield* text.take();
    for (;;) {
      const step = await Promise.race([pending, tick.promise]);
      if (step === LATE) {
        tick = after(FLUSH_MS);
        idle = text.bytes > 0 ? 0 : idle + 1;
        if (idle >= BLANK_EVERY) {
          idle = 0;
          yield Buffer.from('\n');
        }
        yield* text.take();
        continue;
      }
      if (step.done === true) break;
      const { entry, problem } = step.value;
      if (problem !== undefined && problem !== null) throw await list.failure(only(problem));
      if (entry !== null) text.add(entry);
      if (text.bytes >= BLOCK_BYTES) yield* text.take();
      pending = iterator.next();
    }
    yield* text.take();
    yield Buffer.from(list.tail);
  } catch (error) {
    request.exchange.outcome.code = asSnapshotError(error).code;
    throw error;
  } finally {
    tick.clear();
    pending.catch(() => undefined);
  }
}

/** JSON that waits to be written. */
class Text {
  #parts: Buffer[];
  #bytes: number;
  #isFirst = true;

  constructor(head: string) {
    this.#parts = [Buffer.from(head)];
    this.#bytes = head.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(entry: object): void {
    const part = Buffer.from((this.#isFirst ? '' : ',') + inertJson(JSON.stringify(entry)));
    this.#isFirst = false;
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** All of it as one block, or nothing. */
  take(): Buffer[] {
    if (this.#bytes === 0) return [];
    const block = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return [block];
  }
}

const LATE = Symbol('late');

function after(ms: number): { readonly promise: Promise<typeof LATE>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, ms, LATE);
  });
  return {
    promise,
    clear: () => {
      clearTimeout(timer);
    },
  };
}
