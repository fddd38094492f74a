/** The service's own log on standard error: whatever becomes of its reader, writing a line never blocks, waits or throws. */
import fs from 'node:fs';
import { isatty } from 'node:tty';
import { pino, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Config } from './config.ts';
import { inertJson, inertText } from './contract/text.ts';

const STDERR = 2;
/** Lines whose reader stands still wait up to this; what comes then is dropped and counted. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** How soon a full pipe is tried again. */
const RETRY_MS = 100;

/** Writes what it can of the bytes now and says how many; throws `EAGAIN` for none, anything else for never. */
type WriteNow = (bytes: Uint8Array) => number;

/** Lines on their way to a descriptor that may be full, gone or standing still. */
export class LineWriter {
  readonly #writeNow: WriteNow;
  readonly #noteOf: (dropped: number) => string;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #untold = 0;
  /** Whether the last bytes written are the beginning of a line. */
  #inLine = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param noteOf a line that says how many were dropped, written when lines can be written again */
  constructor(writeNow: WriteNow, noteOf: (dropped: number) => string) {
    this.#writeNow = writeNow;
    this.#noteOf = noteOf;
  }

  /** How many lines nobody can read: failed, or more than may wait. */
  get dropped(): number {
    return this.#dropped;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** @param line ends in a newline */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.#drop(1);
      return;
    }
    // What stands there of a line that failed in its midst must not run into this one.
    if (this.#inLine && this.#waiting.length === 0) this.#push(Buffer.from('\n'));
    this.#push(bytes);
    if (this.#timer === undefined) this.flush();
  }

  /** Writes as much as can be written now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        this.#sent(next, this.#writeNow(next));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        this.#timer = setTimeout(() => {
          this.flush();
        }, RETRY_MS).unref();
      } else {
        this.#drop(this.#waiting.length);
        this.#waiting = [];
        this.#waitingBytes = 0;
      }
    }
  }

  #push(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #sent(bytes: Buffer, written: number): void {
    this.#waitingBytes -= written;
    this.#inLine = written < bytes.length && (written > 0 || this.#inLine);
    if (written < bytes.length) {
      this.#waiting[0] = bytes.subarray(written);
      return;
    }
    this.#waiting.shift();
    if (this.#waiting.length > 0 || this.#untold === 0) return;
    const note = this.#noteOf(this.#untold);
    this.#untold = 0;
    this.#push(Buffer.from(note));
  }

  #drop(lines: number): void {
    this.#dropped += lines;
    this.#untold += lines;
  }
}

export interface Log {
  readonly logger: Logger;
  readonly lines: LineWriter;
}

/**
 * The log of a process of the service, which stands in each line where there are several; standard output carries nothing but the line that says where it listens.
 */
export function openLog(
  { logFormat, logLevel }: Pick<Config, 'logFormat' | 'logLevel'>,
  process?: number,
): Log {
  const isPretty = logFormat === 'pretty' || (logFormat === 'auto' && isatty(STDERR));
  const pretty = prettyFactory({ ignore: 'pid,hostname', singleLine: true, colorize: isatty(STDERR) });
  const form = isPretty ? (line: string): string => pretty(inertText(line)) : inertJson;
  const note = (dropped: number): string =>
    form(
      `${JSON.stringify({
        level: 40,
        time: Date.now(),
        dropped,
        msg: `${dropped} lines of this log could not be written and are lost`,
      })}\n`,
    );
  const lines = new LineWriter(writerOf(STDERR), note);
  const logger = pino(
    {
      level: logLevel,
      redact: ['req.headers.authorization'],
      ...(process === undefined ? {} : { mixin: () => ({ process }) }),
    },
    {
      write: (line) => {
        lines.write(form(line));
      },
    },
  );
  return { logger, lines };
}

/**
 * Pipes and terminals are opened anew, because a descriptor that does not block must not be shared: its other holders would
 * meet EAGAIN. What cannot be opened anew, such as the journal's socket, is made so where it is, as Node does for its own
 * streams. Files never block for long.
 */
function writerOf(descriptor: number): WriteNow {
  let own = descriptor;
  if (!fs.fstatSync(descriptor).isFile()) {
    try {
      const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;
      own = fs.openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    } catch {
      process.stderr.on('error', () => undefined);
    }
  }
  return (bytes) => fs.writeSync(own, bytes);
}
