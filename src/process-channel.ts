/** What the first process and a serving one say to each other, and the channel over which they do. */
import type { Socket } from 'node:net';

import type { Config } from './config.ts';
import type { CountedMetric } from './http/metrics.ts';
import type { StoreRooms } from './store/root.ts';
import type { Promised } from './store/space-reserve.ts';

/** How a serving process is to serve. */
export interface Assignment {
  /** Its share of what holds for the whole service. */
  readonly config: Config;
  /** From 1; a process that takes the place of another has its number. */
  readonly number: number;
  /** The store's directories as the first that served found them; null for that one. */
  readonly rooms: StoreRooms | null;
}

export interface Started {
  /** Why the process cannot serve: one line, and whether that is wrong use of the command. */
  readonly problem: { readonly message: string; readonly usage: boolean } | null;
  readonly rooms: StoreRooms | null;
}

/** What a serving process is told and asked. */
export interface ServingCalls {
  /** Answered once it can serve, or cannot. */
  start: (given: Assignment) => Started;
  /** A connection; false where it is not taken. */
  connection: (given: null) => boolean;
  stop: (reason: string) => void;
  reread: (given: null) => void;
  /** Permits to upload that it does not use, and has no more. */
  returnUploads: (given: null) => number;
  counts: (given: null) => readonly CountedMetric[];
}

/** What the first process is told and asked. */
export interface FirstCalls {
  /** It takes no more connections, and ends. */
  leaving: (given: null) => void;
  /** One of its connections is over. */
  connectionOver: (given: null) => void;
  /** What it has counted so far, in case it dies. */
  counted: (counts: readonly CountedMetric[]) => void;
  /** Whether one more upload may run. */
  takeUpload: (given: null) => boolean;
  /** What it has promised of the disk; the answer is what all others have. */
  promise: (own: Promised) => Promised;
  /** The counts of all processes in Prometheus' text format. */
  metrics: (given: null) => string;
}

type Calls<C> = { [K in keyof C]: (given: never) => unknown };
type Given<C extends Calls<C>, K extends keyof C> = Parameters<C[K]>[0];
type Answer<C extends Calls<C>, K extends keyof C> = ReturnType<C[K]>;

/** What answers the calls of the other side. */
export type Answers<C extends Calls<C>> = {
  readonly [K in keyof C]: (
    given: Given<C, K>,
    socket: Socket | undefined,
  ) => Answer<C, K> | Promise<Answer<C, K>>;
};

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

type AnswerMessage =
  | { readonly answerTo: number; readonly value: unknown }
  | { readonly answerTo: number; readonly failed: string };
type Message =
  { readonly call: string; readonly given: unknown; readonly ask: number | null } | AnswerMessage;

/** Calls in both directions; what was asked and not answered fails when the other side is gone. */
export class Channel<Theirs extends Calls<Theirs>, Ours extends Calls<Ours>> {
  readonly #send: (message: Message, socket?: Socket) => void;
  readonly #answers: Answers<Ours>;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #closed = false;

  /** @param send hands a message, and perhaps a socket, to the other process; never throws */
  constructor(send: (message: Message, socket?: Socket) => void, answers: Answers<Ours>) {
    this.#send = send;
    this.#answers = answers;
  }

  /** Says something and waits for nothing. */
  tell<K extends keyof Theirs & string>(call: K, given: Given<Theirs, K>): void {
    if (!this.#closed) this.#send({ call, given, ask: null });
  }

  /** Rejects when the other side ends before it has answered. */
  ask<K extends keyof Theirs & string>(
    call: K,
    given: Given<Theirs, K>,
    socket?: Socket,
  ): Promise<Answer<Theirs, K>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(gone());
        return;
      }
      const ask = this.#asked++;
      this.#waiting.set(ask, { resolve, reject });
      this.#send({ call, given, ask }, socket);
    });
  }

  /** For every message of the other process. */
  readonly receive = (message: unknown, socket?: unknown): void => {
    const heard = message as Message;
    if ('answerTo' in heard) {
      const waiting = this.#waiting.get(heard.answerTo);
      this.#waiting.delete(heard.answerTo);
      if ('failed' in heard) waiting?.reject(new Error(heard.failed));
      else waiting?.resolve(heard.value as never);
      return;
    }
    const { call, given, ask } = heard;
    const answer = this.#answers[call as keyof Ours](given as never, socket as Socket | undefined);
    if (ask === null) return;
    if (answer instanceof Promise) {
      answer.then(
        (value: unknown) => {
          this.#answer({ answerTo: ask, value });
        },
        (error: unknown) => {
          this.#answer({ answerTo: ask, failed: String(error) });
        },
      );
    } else this.#answer({ answerTo: ask, value: answer });
  };

  /** The other side is gone. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
  }

  #answer(answer: AnswerMessage): void {
    if (!this.#closed) this.#send(answer);
  }
}

function gone(): Error {
  return new Error('The other process is gone.');
}
