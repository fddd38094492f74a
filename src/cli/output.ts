/**
 * What people and scripts get to see: results on standard output, everything else on standard error. Standard output is
 * written whole or the command ends: quietly where its reader has gone, else with one line and 1.
 */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { inert } from '../contract/text.ts';

let asJson = false;
let statusOfLostOutput = 1;

/**
 * Watches both outputs until the process ends. To be called before anything is written; `json` says in which form
 * standard error is told that standard output cannot be written.
 */
export function guardOutputs(json: boolean): void {
  process.stdout.on('error', endOfOutput);
  // Nobody can be told, and the status still says it.
  process.stderr.on('error', () => undefined);
  asJson = json;
}

/** For a command whose 1 means something else than that it failed. */
export function failingOutputEndsWith(status: number): void {
  statusOfLostOutput = status;
}

/** Pipes and terminals; a regular file or a device is written here, as Node ignores that a write of it was short. */
function isStream(stream: NodeJS.WriteStream): boolean {
  return stream instanceof Socket;
}

function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}

/** Resolves when standard output can take more. */
export async function writeOut(data: string | Uint8Array): Promise<void> {
  const { stdout } = process;
  if (isStream(stdout)) {
    if (!stdout.write(data)) await new Promise<void>((resolve) => void stdout.once('drain', resolve));
    return;
  }
  writeText(data);
}

export function writeText(data: string | Uint8Array): void {
  if (isStream(process.stdout)) {
    process.stdout.write(data);
    return;
  }
  try {
    writeWhole(1, typeof data === 'string' ? Buffer.from(data) : data);
  } catch (error) {
    endOfOutput(error as NodeJS.ErrnoException);
  }
}

/** The reader of a pipe, such as `head`, may have seen enough; what was found before keeps its status. */
function endOfOutput({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(process.exitCode ?? 0);
  const detail = `standard output cannot be written (${code ?? message})`;
  note(
    asJson
      ? JSON.stringify({ type: 'about:blank', title: 'The command failed', detail, code: 'failed' })
      : `pipewhy-snapshots: ${detail}`,
  );
  process.exit(statusOfLostOutput);
}

export function print(line: string): void {
  writeText(`${line}\n`);
}

export function note(line: string): void {
  writeNote(`${line}\n`);
}

export function writeNote(text: string): void {
  try {
    if (isStream(process.stderr)) process.stderr.write(text);
    else writeWhole(2, Buffer.from(text));
  } catch {
    // As above: the status still says it.
  }
}

/** JSON may hold stored text, and its reader may be a terminal: what steers one is escaped, which changes no value. */
export function printJson(value: unknown): void {
  print(inert(JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined), '\n'));
}

export interface Column {
  readonly title: string;
  /** What a narrow terminal may cut it down to; without it the column is never cut. */
  readonly least?: number;
  /** Columns are left out in this order, 1 first, where even that is too wide; without it the column always stays. */
  readonly leftOut?: number;
}

/**
 * Rows under their titles, fitted to the terminal, for which something may be `cut` or left out; elsewhere one line per row with tabs, whole and without titles, for
 * cut and awk.
 */
export async function printTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { terminal = process.stdout.isTTY, width = process.stdout.columns || 80 } = {},
): Promise<{ readonly cut: boolean }> {
  if (!terminal) {
    for (const row of rows) print(row.map((cell) => inert(cell)).join('\t'));
    return { cut: false };
  }
  // What is far too long is cut before it is looked at.
  const cells = rows.map((row) => row.map((cell) => inert(cell.slice(0, 2 * width))));
  const { default: widthOf } = await import('string-width');
  const shown = columns.map((column, index) => {
    const natural = Math.max(...[column.title, ...cells.map((row) => row[index] ?? '')].map(widthOf));
    const least = Math.min(natural, Math.max(column.least ?? natural, widthOf(column.title)));
    return { ...column, index, natural, width: natural, least };
  });
  fit(shown, width);
  const line = (row: readonly string[]): string =>
    shown
      .map((column) => padded(row[column.index] ?? '', column.width, widthOf))
      .join(GAP)
      .trimEnd();
  print(line(columns.map(({ title }) => title)));
  for (const row of cells) print(line(row));
  return {
    cut: shown.length < columns.length || shown.some(({ width: fitted, natural }) => fitted < natural),
  };
}

const GAP = '  ';

interface FittedColumn extends Column {
  readonly index: number;
  readonly natural: number;
  readonly least: number;
  width: number;
}

/** Leaves out what cannot be shown, then cuts the widest columns until everything fits. */
function fit(shown: FittedColumn[], width: number): void {
  const sum = (of: (column: FittedColumn) => number): number =>
    shown.reduce((total, column) => total + of(column), GAP.length * (shown.length - 1));
  while (sum(({ least }) => least) > width) {
    const [first] = shown
      .filter(({ leftOut }) => leftOut !== undefined)
      .sort((a, b) => (a.leftOut ?? 0) - (b.leftOut ?? 0));
    if (first === undefined) break;
    shown.splice(shown.indexOf(first), 1);
  }
  for (let over = sum((column) => column.width) - width; over > 0; over -= 1) {
    const [widest] = shown.filter((column) => column.width > column.least).sort((a, b) => b.width - a.width);
    if (widest === undefined) return;
    widest.width -= 1;
  }
}

function padded(text: string, width: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= width) return text + ' '.repeat(width - widthOf(text));
  let kept = '';
  for (const char of text) {
    if (widthOf(kept + char) > width - 1) break;
    kept += char;
  }
  return padded(`${kept}…`, width, widthOf);
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

/** A bar on standard error if that is a terminal, else nothing; `waiting` is said until the first update. */
export async function progressBar(
  label: string,
  {
    waiting = label,
    format = formatBytes,
    stream = process.stderr,
  }: {
    readonly waiting?: string;
    readonly format?: (value: number) => string;
    readonly stream?: NodeJS.WriteStream;
  } = {},
): Promise<Progress> {
  if (!stream.isTTY) return SILENT;
  const { SingleBar } = await import('cli-progress');
  const bar = new SingleBar({
    stream,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 30,
    barCompleteChar: '#',
    barIncompleteChar: '.',
    format: '{label} {bar} {done}',
  });
  bar.start(1, 0, { label: waiting, done: format(0) });
  return {
    update: (done, total) => {
      // Without a total the bar stays empty and only counts.
      bar.setTotal(Math.max(total ?? Number.MAX_SAFE_INTEGER, 1));
      bar.update(done, {
        label,
        done: total === null ? format(done) : `${format(done)} of ${format(total)}`,
      });
    },
    stop: () => bar.stop(),
  };
}
