/** What people and scripts get to see: results on standard output, everything else on standard error. */
import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import { isProblemError, UnauthorizedError, type Problem } from '../client/index.ts';
import { isAnySnapshotError, type Violation } from '../contract/errors.ts';
import { problemDocumentOf } from './problem-documents.ts';

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

/** `1 array`, `2 arrays`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
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

/** One clear line and one more for each violation it does not tell; with `json` one document on one line. */
export function reportError(error: unknown, json: boolean): void {
  if (json) {
    note(JSON.stringify(problemDocumentOf(error)));
    return;
  }
  // The violations follow here, so that the sentence need not count them or point to a member of the document.
  const sentence = messageOf(error)
    .replace(/ \(and \d+ more; see errors\)/u, '')
    .replace('see errors', 'see below');
  note(`pipewhy-snapshots: ${printable(sentence)}`);
  const lines = violationsOf(error).map(({ path, message }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  for (const line of lines.filter((text) => !sentence.includes(text))) note(`  ${printable(line)}`);
  for (const line of adviceFor(error)) note(`  ${printable(line)}`);
}

/** What this command, other than any client, can do about a refusal. */
function adviceFor(error: unknown): readonly string[] {
  if (error instanceof UnauthorizedError) return ['Give the token with --token or, better, SNAPSHOTS_TOKEN.'];
  if (!isProblemError(error) || error.code !== 'snapshot_exists' || error.local) return [];
  const { manifest_sha256: stored, computed_manifest_sha256: computed } =
    error.problem as Problem<'snapshot_exists'>;
  return [
    ...(stored === undefined ? [] : [`stored manifest sha256    ${stored}`]),
    ...(computed === undefined ? [] : [`manifest sha256 of these  ${computed}`]),
    stored === undefined || computed === undefined || stored === computed
      ? 'With --if-exists confirm it is a success if what is stored is the same snapshot.'
      : 'They differ, so --if-exists confirm would refuse it too.',
  ];
}

function violationsOf(error: unknown): readonly Violation[] {
  if (isProblemError(error)) return error.errors;
  if (isAnySnapshotError(error) && 'errors' in error.details) return error.details.errors ?? [];
  return [];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
