/** What the process does at a signal, and at an error that nobody caught. */
import fs from 'node:fs';
import { isatty } from 'node:tty';

/** A terminal signals its whole group, and npm hands the same signal on once more: within this, both are one wish. */
const SAME_WISH_MS = 1000;

export interface Wishes {
  /** The first wish to stop. `error` is what escaped, where that is the reason. */
  readonly stop: (reason: string, error?: unknown) => void;
  /** A second one. Must not return. */
  readonly stopAtOnce: (reason: string) => void;
  readonly reread: () => void;
  /** Nothing happens at this one, but it should be told. */
  readonly ignore: (signal: NodeJS.Signals) => void;
}

/**
 * SIGTERM, SIGINT and SIGQUIT stop. SIGHUP has what comes from files read again; it stops where it means what its name
 * says, that the terminal at which the service was started is gone. SIGUSR1 would open Node's inspector to everyone on this
 * machine, SIGUSR2 would kill: they do nothing.
 */
export function obeySignals({ stop, stopAtOnce, reread, ignore }: Wishes): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  const gone = (): number[] => terminals.filter((descriptor) => !isatty(descriptor));
  let first: { readonly reason: string; readonly at: number } | null = null;
  const wish = (reason: string, error?: unknown): void => {
    const now = performance.now();
    if (first === null) {
      first = { reason, at: now };
      stop(reason, error);
    } else if (reason !== first.reason || error !== undefined || now - first.at > SAME_WISH_MS) {
      stopAtOnce(reason);
    }
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) {
    process.on(signal, (name) => {
      wish(name);
    });
  }
  process.on('SIGHUP', (signal) => {
    if (gone().length > 0) wish(signal);
    else reread();
  });
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, ignore);
  // Node gives terminals back as it found them when it ends, and aborts where one is gone.
  process.on('exit', () => {
    for (const descriptor of gone()) fs.closeSync(descriptor);
  });
  const escaped = (error: unknown): void => {
    wish('unexpected error', error ?? new Error('Something rejected without a reason.'));
  };
  process.on('uncaughtException', escaped).on('unhandledRejection', escaped);
}
