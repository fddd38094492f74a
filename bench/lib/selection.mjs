import { WORK } from '../workloads/index.mjs';

/** @param {string | undefined} names separated by commas; without them everything */
export function selectWork(names) {
  return select(WORK, names, ({ name }) => name, '--only');
}

/**
 * @template T
 * @param {readonly T[]} all
 * @param {string | undefined} names
 * @param {(one: T) => string} nameOf
 * @param {string} flag
 * @returns {readonly T[]}
 */
export function select(all, names, nameOf, flag) {
  if (names === undefined) return all;
  const known = all.map(nameOf);
  const wanted = names.split(',');
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`${flag}: ${unknown.join(', ')} is unknown; choose from ${known.join(', ')}`);
  }
  return all.filter((one) => wanted.includes(nameOf(one)));
}
