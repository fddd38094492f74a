/** CPU seconds and peak memory of a server and the processes it started, from /proc (Linux). */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

/** @param {number} pid @returns {number[]} the process and everything below it */
export function processTree(pid) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const entry of readdirSync('/proc')) {
    const fields = /^\d+$/.test(entry) ? statFields(Number(entry)) : null;
    if (fields === null) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const tree = [pid];
  for (let index = 0; index < tree.length; index += 1) tree.push(...(children.get(tree[index]) ?? []));
  return tree;
}

/**
 * @param {number} pid
 * @returns {{ total: number, kernel: number }} seconds so far, the process tree together
 */
export function cpuSeconds(pid) {
  const fields = processTree(pid).map((one) => statFields(one) ?? []);
  const user = sum(fields.map((one) => Number(one[11] ?? 0))) / TICKS_PER_SECOND;
  const kernel = sum(fields.map((one) => Number(one[12] ?? 0))) / TICKS_PER_SECOND;
  return { total: user + kernel, kernel };
}

/**
 * Lets the kernel count peaks from now on. Where it refuses, peaks stay those of the whole life of the process.
 * @param {number} pid
 */
export function resetPeak(pid) {
  for (const one of processTree(pid)) {
    try {
      writeFileSync(`/proc/${one}/clear_refs`, '5');
    } catch {
      return;
    }
  }
}

/** @param {number} pid @returns {number} bytes; the sum of the peaks, which need not have been at the same time */
export function peakBytes(pid) {
  return sum(processTree(pid).map((one) => statusKiB(one, 'VmHWM') * 1024));
}

/** @param {number} pid @returns {number} bytes resident now */
export function residentBytes(pid) {
  return sum(processTree(pid).map((one) => statusKiB(one, 'VmRSS') * 1024));
}

/**
 * The fields of /proc/PID/stat after the command name, which may itself contain blanks and brackets.
 * @param {number} pid
 */
function statFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** @param {number} pid @param {string} name */
function statusKiB(pid, name) {
  try {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(match?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}
