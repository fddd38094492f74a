/** Numbers, sizes and times as people read them, beside their exact form. 64-bit numbers are decimal strings or BigInt. */

const grouped = new Intl.NumberFormat('en');

/** `1,234,567`, exact at any length. */
export function count(value: bigint | number | string): string {
  return grouped.format(BigInt(value));
}

/** `1 array`, `2 arrays`. */
export function counted(value: bigint | number | string, one: string, many = `${one}s`): string {
  return `${count(value)} ${BigInt(value) === 1n ? one : many}`;
}

const UNITS = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];

/** `4.2 MB`; below 1000 bytes exact. */
export function size(bytes: bigint | number | string): string {
  const exact = BigInt(bytes);
  if (exact < 1000n) return counted(exact, 'byte');
  let scaled = Number(exact);
  let unit = -1;
  while (scaled >= 999.5 && unit < UNITS.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  return `${scaled < 9.95 ? scaled.toFixed(1) : scaled.toFixed(0)} ${UNITS[unit] ?? ''}`;
}

const SECOND = 1_000_000_000n;

/** Of epoch nanoseconds, to the millisecond: what a `Date` holds. */
export function dateOf(ns: string | bigint): Date {
  return new Date(Number(BigInt(ns) / 1_000_000n));
}

/** `2026-11-01T00:00:00.000000001Z`. */
export function exactTime(ns: string | bigint): string {
  const value = BigInt(ns);
  const seconds = dateOf((value / SECOND) * SECOND)
    .toISOString()
    .slice(0, -5);
  return `${seconds}.${String(value % SECOND).padStart(9, '0')}Z`;
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const localDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export function localTime(date: Date): string {
  return local.format(date);
}

export function localDate(date: Date): string {
  return localDay.format(date);
}

/** `1.25 s`, `3 min 20 s`, of nanoseconds; a negative one, where clocks were set back, keeps its sign. */
export function duration(ns: bigint): string {
  if (ns < 0n) return `−${duration(-ns)}`;
  if (ns < 1_000n) return `${ns} ns`;
  if (ns < 1_000_000n) return `${significant(Number(ns) / 1e3)} µs`;
  if (ns < SECOND) return `${significant(Number(ns) / 1e6)} ms`;
  if (ns < 60n * SECOND) return `${significant(Number(ns) / 1e9)} s`;
  return coarse(Number(ns / SECOND));
}

function significant(value: number): string {
  return String(Number(value.toPrecision(3)));
}

const STEPS = [
  [86_400 * 365, 'y'],
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

function coarse(seconds: number): string {
  const at = STEPS.findIndex(([length]) => seconds >= length);
  const parts = STEPS.slice(at, at + 2).map(([length, unit], index, { [index - 1]: larger }) => {
    const rest = larger === undefined ? seconds : seconds % larger[0];
    return [Math.floor(rest / length), unit] as const;
  });
  return parts
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${count(value)} ${unit}`)
    .join(' ');
}

/** `3 min 20 s ago`. */
export function ago(date: Date, now = Date.now()): string {
  const seconds = Math.floor((now - date.getTime()) / 1000);
  if (seconds < 0) return 'in the future';
  return seconds < 2 ? 'just now' : `${coarse(seconds)} ago`;
}

/** Thousandths of `whole`, rounded down, without loss on the way; 1000 of nothing is all of it. */
export function permille(part: bigint, whole: bigint): number {
  return whole === 0n ? 1000 : Number((part * 1000n) / whole);
}
