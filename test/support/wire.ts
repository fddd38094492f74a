/** HTTP by the byte: connections that send what no client would, and answers read as they lie on the wire. */
import fs from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Answer } from './http.ts';

export { sleep };

const HEAD_END = '\r\n\r\n';

/** One connection; everything received is kept. Never throws for what the other side does: look at `ended`. */
export class Wire {
  readonly socket: Socket;
  #pieces: Buffer[] = [];
  #length = 0;
  #ended = false;
  #error: NodeJS.ErrnoException | undefined;
  readonly #watchers = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#pieces.push(chunk);
      this.#length += chunk.length;
      this.#wake();
    });
    socket.on('error', (error) => {
      this.#error = error;
      this.#wake();
    });
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#ended = true;
        this.#wake();
      });
    }
  }

  /** To the port of a URL on 127.0.0.1. */
  static async open(url: string): Promise<Wire> {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    socket.setNoDelay(true);
    const wire = new Wire(socket);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return wire;
  }

  /** All bytes received and not yet taken as answers. */
  get received(): Buffer {
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }

  get receivedLength(): number {
    return this.#length;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get error(): NodeJS.ErrnoException | undefined {
    return this.#error;
  }

  /** Resolves when the kernel has the bytes, or the connection is lost. */
  async send(bytes: string | Uint8Array): Promise<void> {
    if (this.socket.destroyed) return;
    await new Promise<void>((resolve) => {
      this.socket.once('close', resolve);
      this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => {
        this.socket.off('close', resolve);
        resolve();
      });
    });
  }

  /** Takes the next answer, also an interim one; undefined when the connection ends before it is whole. */
  async answer(withinMs = 5_000, { toHead = false } = {}): Promise<Answer | undefined> {
    const until = Date.now() + withinMs;
    // Bytes without which another look would be in vain.
    let wanted = 1;
    for (;;) {
      if (this.#length >= wanted || this.#ended) {
        const parsed = parseAnswer(this.received, this.#ended, toHead);
        if (typeof parsed === 'object') {
          this.#pieces = [this.received.subarray(parsed.length)];
          this.#length -= parsed.length;
          return parsed.answer;
        }
        wanted = parsed;
      }
      if (this.#ended) return undefined;
      if (!(await this.#change(until))) throw new Error(`No answer within ${withinMs} ms.`);
    }
  }

  /** Resolves true when the other side has closed within the time. */
  async closed(withinMs = 5_000): Promise<boolean> {
    const until = Date.now() + withinMs;
    while (!this.#ended) if (!(await this.#change(until))) return false;
    return true;
  }

  destroy(): void {
    this.socket.destroy();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  #wake(): void {
    for (const watcher of this.#watchers) watcher();
  }

  async #change(until: number): Promise<boolean> {
    const left = until - Date.now();
    if (left <= 0) return false;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#watchers.delete(done);
        resolve();
      };
      const timer = setTimeout(done, left);
      this.#watchers.add(done);
    });
    return true;
  }
}

/** An answer and the bytes it takes, or how many bytes there must be before it can be one. */
function parseAnswer(
  bytes: Buffer,
  ended: boolean,
  toHead: boolean,
): { answer: Answer; length: number } | number {
  const head = bytes.indexOf(HEAD_END);
  if (head === -1) return bytes.length + 1;
  const [first = '', ...lines] = bytes.subarray(0, head).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /u.exec(first)?.[1]);
  if (Number.isNaN(status)) throw new Error(`Not a status line: ${JSON.stringify(first)}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const start = head + HEAD_END.length;
  if (status < 200 || status === 304 || toHead) {
    return { answer: { status, headers, body: Buffer.alloc(0) }, length: start };
  }
  const length = headers['content-length'];
  if (length === undefined) {
    if (!ended) return bytes.length + 1;
    return { answer: { status, headers, body: bytes.subarray(start) }, length: bytes.length };
  }
  const end = start + Number(length);
  if (bytes.length < end) return end;
  return { answer: { status, headers, body: bytes.subarray(start, end) }, length: end };
}

/** The head of a request with these header lines; `Host` is added unless one is among them. */
export function head(method: string, target: string, lines: readonly string[] = [], version = '1.1'): string {
  const host = lines.some((line) => /^host:/iu.test(line)) ? [] : ['Host: localhost'];
  return [`${method} ${target} HTTP/${version}`, ...host, ...lines, '', ''].join('\r\n');
}

/** The body in chunks of the given sizes, over and over (RFC 9112, 7.1). */
export function chunked(body: Uint8Array, ...sizes: number[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (let turn = 0; at < body.length; turn += 1) {
    const piece = body.subarray(at, at + (sizes[turn % sizes.length] ?? body.length));
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), Buffer.from(piece), Buffer.from('\r\n'));
    at += piece.length;
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

/** Sends one request on a connection of its own and takes its answer; undefined where the connection broke. */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
  withinMs?: number,
): Promise<Answer | undefined> {
  const wire = await Wire.open(url);
  try {
    await wire.send(bytes);
    return await wire.answer(withinMs, { toHead: bytes.toString().startsWith('HEAD ') });
  } finally {
    wire.destroy();
  }
}

/** How many descriptors a process holds. */
export function descriptorsOf(pid: number): number {
  return fs.readdirSync(`/proc/${pid}/fd`).length;
}

/** Waits until `condition` holds; fails with `what` when it does not in time. */
export async function eventually(what: string, condition: () => boolean, withinMs = 5_000): Promise<void> {
  const until = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > until) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}

/** Characters that end a line, or that a terminal acts upon, as they would appear in `text` itself. */
export function activeCharactersIn(text: string): string[] {
  return Array.from(text).filter((character) => {
    const code = character.codePointAt(0)!;
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0x2028 || code === 0x2029;
  });
}
