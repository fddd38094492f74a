/** Tables in Markdown, so that they can be pasted as they are. */
import { MEMORY_TARGET, TARGETS } from '../targets.mjs';
import { LIMITS } from './machine-limits.mjs';
import { pairedRatio, spread } from './statistics.mjs';

const OWN_NAME = 'pipewhy';

/**
 * @typedef {{ name: string, title: string, unit: string, series: import('./rounds.mjs').Series[] }} Measured
 * @typedef {{ limits: number[][], measured: Measured[] }} Run
 */

/** @param {Run} run @returns {string} */
export function render({ limits, measured }) {
  return [
    section('The machine itself', ['limit', 'median (min to max)'], limitRows(limits)),
    section(
      'Speed',
      ['work', 'server', 'unit', 'median (min to max)', 'ours / this (min to max)'],
      measured.flatMap(speedRows),
    ),
    section(
      'Beside it',
      ['work', 'server', 'CPU seconds a run', 'in the kernel', 'done per CPU second', 'peak resident MB'],
      measured.flatMap(costRows),
    ),
    section('Targets', ['work', 'against', 'at least', 'aim', 'measured', ''], targetRows(measured)),
  ]
    .filter((text) => text !== '')
    .join('\n');
}

/** @param {number[][]} limits one row of figures per measurement */
function limitRows(limits) {
  if (limits.length === 0) return [];
  return LIMITS.map(({ name, unit }, index) => [name, `${range(limits.map((row) => row[index]))} ${unit}`]);
}

/** @param {Measured} measured */
function speedRows({ name, title, unit, series }) {
  const ours = series.find((one) => one.name === OWN_NAME);
  return series.flatMap((one, index) => {
    const ratio = ours === undefined || one === ours ? '' : ratioText(ours.values, one.values);
    const row = [index === 0 ? title : '', one.name, unit, range(one.values), ratio];
    if (!name.startsWith('publish-small') || one === ours) return [row];
    const asThree = one.values.map((value) => value / 3);
    const three = ['', `${one.name}, three puts`, unit, range(asThree)];
    return [row, [...three, ours === undefined ? '' : ratioText(ours.values, asThree)]];
  });
}

/** @param {Measured} measured */
function costRows({ title, unit, series }) {
  return series
    .filter(({ peakBytes }) => peakBytes.length > 0)
    .map(({ name, amounts, cpuSeconds, kernelSeconds, peakBytes }, index) => [
      index === 0 ? title : '',
      name,
      decimals(spread(cpuSeconds).median),
      decimals(spread(kernelSeconds).median),
      `${grouped(spread(amounts.map((amount, round) => amount / cpuSeconds[round])).median)} ${unit.replace('/s', '')}`.trim(),
      String(Math.round(spread(peakBytes).max / 1e6)),
    ]);
}

/** @param {Measured[]} measured */
function targetRows(measured) {
  const rows = TARGETS.flatMap(({ work, ours, against, least, aim }) => {
    const series = measured.find(({ name }) => name === work)?.series;
    const own = series?.find(({ name }) => name === ours)?.values;
    const other = series?.find(({ name }) => name === against)?.values;
    if (own === undefined || other === undefined) return [];
    const { median } = pairedRatio(own, other);
    const label = ours === OWN_NAME ? work : `${work} (${ours})`;
    const verdict = median >= aim ? 'aim reached' : median >= (least ?? Infinity) ? 'reached' : 'missed';
    return [[label, against, least === null ? '' : `${least}x`, `${aim}x`, `${decimals(median)}x`, verdict]];
  });
  const peaks = measured.flatMap(({ name: work, series }) =>
    (work === 'processes' ? [] : series)
      .filter(({ name }) => name.startsWith(OWN_NAME))
      .flatMap(({ peakBytes }) => peakBytes),
  );
  if (peaks.length === 0) return rows;
  const peak = Math.max(...peaks);
  const verdict =
    peak <= MEMORY_TARGET.aim ? 'aim reached' : peak <= MEMORY_TARGET.least ? 'reached' : 'missed';
  const megabytes = (/** @type {number} */ bytes) => `${Math.round(bytes / 1e6)} MB`;
  const { least, aim } = MEMORY_TARGET;
  return [
    ...rows,
    ['peak memory, one process', '', megabytes(least), megabytes(aim), megabytes(peak), verdict],
  ];
}

/** @param {number[]} ours @param {number[]} theirs */
function ratioText(ours, theirs) {
  const { median, min, max } = pairedRatio(ours, theirs);
  return `${decimals(median)}x (${decimals(min)} to ${decimals(max)})`;
}

/** @param {number[]} values */
function range(values) {
  const { median, min, max } = spread(values);
  return `${grouped(median)} (${grouped(min)} to ${grouped(max)})`;
}

/** @param {number} value */
function grouped(value) {
  return Math.round(value).toLocaleString('en');
}

/** @param {number} value */
function decimals(value) {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

/** @param {string} title @param {string[]} head @param {string[][]} rows */
function section(title, head, rows) {
  if (rows.length === 0) return '';
  const widths = head.map((cell, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)));
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [`## ${title}`, '', line(head), rule, ...rows.map(line), ''].join('\n');
}
