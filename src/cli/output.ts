/** What people and scripts get to see: results on standard output, everything else on standard error. */
import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import { isProblemError, SnapshotClientError } from '../client/index.ts';
import { isAnySnapshotError, type Violation } from '../contract/errors.ts';

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined));
}

/** Text from a service or a disk must not steer the terminal: controls and direction marks are shown as escapes. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) => {
    const point = char.codePointAt(0) ?? 0;
    return point <= 0xffff ? `\\u${point.toString(16).padStart(4, '0')}` : `\\u{${point.toString(16)}}`;
  });
}

const NO_LINES = Object.fromEntries(
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'
    .split(' ')
    .map((name) => [name, '']),
);

/**
 * Rows under a head: aligned columns on a terminal, else one line per row with tabs and without the head, for cut and awk.
 */
export function printTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  terminal: boolean = process.stdout.isTTY,
): void {
  if (!terminal) {
    for (const row of rows) print(row.map(printable).join('\t'));
    return;
  }
  const table = new Table({
    head: [...head],
    chars: { ...NO_LINES, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push(row.map(printable));
  for (const line of table.toString().split('\n')) print(line.trimEnd());
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** `1.5 MiB`; exact below 1024. */
export function formatBytes(bytes: number | bigint | string): string {
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

/** `2025-10-30T00:00:00.000000001Z` from epoch nanoseconds; the number itself beyond the calendar. */
export function formatTime(nanoseconds: string): string {
  const ns = BigInt(nanoseconds);
  const date = new Date(Number(ns / 1_000_000_000n) * 1000);
  if (Number.isNaN(date.getTime())) return `${nanoseconds} ns`;
  const fraction = String(ns % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/u, '');
  return date.toISOString().replace(/\.000Z$/u, fraction === '' ? 'Z' : `.${fraction}Z`);
}

export interface Progress {
  /** `total` null where it is not known. */
  update(done: number, total: number | null): void;
  stop(): void;
}

const SILENT: Progress = { update: () => undefined, stop: () => undefined };

/** A bar on standard error if that is a terminal, else nothing. */
export function progressBar(
  label: string,
  format: (value: number) => string = formatBytes,
  stream: NodeJS.WriteStream = process.stderr,
): Progress {
  if (!stream.isTTY) return SILENT;
  const bar = new SingleBar({
    stream,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 30,
    barCompleteChar: '#',
    barIncompleteChar: '.',
    format: `${label} {bar} {done}`,
  });
  bar.start(1, 0, { done: format(0) });
  return {
    update: (done, total) => {
      // Without a total the bar stays empty and only counts.
      bar.setTotal(Math.max(total ?? Number.MAX_SAFE_INTEGER, 1));
      bar.update(done, { done: total === null ? format(done) : `${format(done)} of ${format(total)}` });
    },
    stop: () => bar.stop(),
  };
}

/** One clear line and one more for each violation; with `json` one document on one line. */
export function reportError(error: unknown, json: boolean): void {
  if (json) {
    note(JSON.stringify(problemOf(error)));
    return;
  }
  note(`pipewhy-snapshots: ${printable(messageOf(error))}`);
  for (const { path, message } of violationsOf(error))
    note(`  ${printable(path === '' ? message : `${path}: ${message}`)}`);
}

function problemOf(error: unknown): object {
  if (isProblemError(error)) return error.problem;
  if (isAnySnapshotError(error)) return { code: error.code, detail: error.message, ...error.details };
  if (error instanceof SnapshotClientError) {
    const cause = isProblemError(error.cause) ? { cause: error.cause.problem } : {};
    return { code: error.code, detail: error.message, ...cause };
  }
  return { code: 'failed', detail: messageOf(error) };
}

function violationsOf(error: unknown): readonly Violation[] {
  if (isProblemError(error)) return error.errors;
  if (isAnySnapshotError(error) && 'errors' in error.details) return error.details.errors ?? [];
  return [];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
