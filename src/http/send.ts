/**
 * Sends answers: JSON, whole answers within the bounds on memory and pace, the blocks of proven payloads, and listings entry
 * by entry. What goes wrong before the first byte is answered with a problem document; what goes wrong after it breaks the
 * connection, never ends it cleanly.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Exchange } from './connections.ts';
import { inertJson } from '../contract/text.ts';
import { asSnapshotError } from './problems.ts';
import type { Transfers } from './transfers.ts';

/** Sends bytes: to JSON that is sent as text, Fastify adds a charset, a parameter that JSON does not have (RFC 8259, 11). */
export function sendJson(reply: FastifyReply, value: unknown, mediaType = 'application/json'): FastifyReply {
  return reply.header('content-type', mediaType).send(Buffer.from(inertJson(JSON.stringify(value))));
}

/** How slowly a download may be taken. */
export interface DownloadPace {
  /** Nothing at all may be taken for so long. */
  readonly idleMs: number;
  /** Bytes a second, on average over each block; 0 for any. */
  readonly minBytesPerSecond: number;
}

export function downloadPaceOf({ idleSeconds, minBytesPerSecond }: Config): DownloadPace {
  return { idleMs: idleSeconds * 1000, minBytesPerSecond };
}

/** Answers up to this size go to the kernel at once, whether or not anybody reads; so a refusal can always be sent. */
const TAKEN_AT_ONCE = 16 * 1024;
/** What an answer that is streamed by the framework holds: the pieces read ahead and those being written. */
const STREAM_BYTES = 256 * 1024;

/**
 * Bounds an answer that the framework sends, of whatever route: what it holds until its reader took it is counted with the
 * downloads, and a reader slower than the pace is cut. Throws `unavailable` where downloads hold as much as may be held;
 * not for a publication, which has happened, and is counted only.
 */
export function boundAnswer(
  { exchange, method }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  { transfers, pace }: { readonly transfers: Transfers; readonly pace: DownloadPace },
): void {
  cutIdleReader(exchange, pace.idleMs);
  const stream = payload instanceof Readable ? payload : null;
  const length = stream === null ? lengthOf(payload) : Number(reply.getHeader('content-length') ?? 0);
  if (stream === null && length <= TAKEN_AT_ONCE) return;
  try {
    transfers.beginDownload(exchange, stream === null ? length : STREAM_BYTES, { refuse: method !== 'POST' });
  } catch (error) {
    stream?.destroy();
    throw error;
  }
  exchange.whenOver(cutSlowReader(exchange, length, pace));
}

function lengthOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return payload instanceof Uint8Array ? payload.length : 0;
}

/** Cuts a reader that has not taken so many bytes when the pace wants it; call the returned function when it has. */
function cutSlowReader(exchange: Exchange, bytes: number, pace: DownloadPace): () => void {
  if (pace.minBytesPerSecond === 0) return () => undefined;
  const allowedMs = Math.max(pace.idleMs, (bytes / pace.minBytesPerSecond) * 1000);
  // A timer holds no more than 24 days; nobody waits that long for what fits into memory.
  const limit = setTimeout(
    () => {
      exchange.cut(`its reader took less than ${bytes} bytes in ${Math.round(allowedMs / 1000)} seconds`);
    },
    Math.min(allowedMs, 2 ** 31 - 1),
  );
  return () => {
    clearTimeout(limit);
  };
}

/**
 * Resolves when the client took the block, so that its memory may be used again; rejects as soon as nobody is there to take
 * it. A reader that takes too little is cut.
 */
function writeBlock(exchange: Exchange, block: Uint8Array, pace: DownloadPace): Promise<void> {
  const { response, signal } = exchange;
  return new Promise((resolve, reject) => {
    const taken = cutSlowReader(exchange, block.length, pace);
    const onAbort = (): void => {
      finish(new Error('The client left.'));
    };
    function finish(error?: Error | null): void {
      taken();
      signal.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve();
    }
    // The exchange ends with its socket, also where Node tells a queued answer nothing.
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort);
    response.write(block, finish);
  });
}

/**
 * Writes the blocks after the head has been set. A client that takes nothing at all for the idle time is cut off. Rejects,
 * with the connection destroyed, when the blocks or the client fail.
 */
async function sendBlocks(
  exchange: Exchange,
  blocks: AsyncIterable<Uint8Array>,
  pace: DownloadPace,
): Promise<void> {
  const { response } = exchange;
  cutIdleReader(exchange, pace.idleMs);
  try {
    for await (const block of blocks) {
      try {
        await writeBlock(exchange, block, pace);
      } catch (error) {
        // Before the blocks hear of it: from then on their memory is another reader's, and nothing of it may still be written.
        response.destroy();
        throw error;
      }
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    response.setTimeout(0);
  }
}

/** Node's socket timeout looks at the write queue, so a slow reader of a large block counts as progress. */
function cutIdleReader(exchange: Exchange, idleMs: number): void {
  exchange.response.setTimeout(idleMs, () => {
    exchange.cut(`its reader took nothing for ${idleMs / 1000} seconds`);
  });
}

/**
 * Sends the reply's head and then the blocks, past the framework: their memory is used again, so each must have been
 * taken by the connection before the next is read. A failure is logged and breaks the connection.
 */
export async function sendHijacked(
  request: FastifyRequest,
  reply: FastifyReply,
  blocks: AsyncIterable<Uint8Array>,
  pace: DownloadPace,
): Promise<FastifyReply> {
  const { exchange } = request;
  reply.hijack();
  if (exchange.isOver) return reply;
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  try {
    await sendBlocks(exchange, blocks, pace);
  } catch (error) {
    // A client that leaves is told in the line of its request.
    if (!exchange.signal.aborted) request.log.warn({ err: error }, 'a download was broken off');
  }
  return reply;
}

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
    const late = new Alarm(AHEAD_MS);
    let pending = iterator.next();
    try {
      while (text.bytes < AHEAD_BYTES) {
        const step = await late.orFirst(pending);
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
  const tick = new Alarm(FLUSH_MS);
  try {
    yield* text.take();
    for (;;) {
      const step = await tick.orFirst(pending);
      if (step === LATE) {
        tick.set();
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

/**
 * A timer beside a loop that waits for one thing after the other. No race with one promise: that keeps a part of every turn
 * for as long as it is not settled, of which hundreds of megabytes pile up in a long listing.
 */
class Alarm {
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;
  #wake: () => void = () => undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.set();
  }

  /** Begins anew. */
  set(): void {
    this.#isDue = false;
    this.#timer = setTimeout(() => {
      this.#isDue = true;
      this.#wake();
    }, this.#ms);
  }

  /** What comes first: `pending`, which may be asked for again, or `LATE`. */
  async orFirst<T>(pending: Promise<T>): Promise<T | typeof LATE> {
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        resolve(LATE);
      };
      pending.then(resolve, reject);
      if (this.#isDue) resolve(LATE);
    });
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
