/**
 * @typedef {{ median: number, min: number, max: number, runs: number }} Spread
 */

/** @param {number[]} values @returns {Spread} */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: median(sorted), min: sorted[0], max: sorted[sorted.length - 1], runs: sorted.length };
}

/**
 * Ratios of runs that stood next to each other in time: what slowed the machine down for a while slowed both.
 * @param {number[]} ours
 * @param {number[]} theirs
 */
export function pairedRatio(ours, theirs) {
  const pairs = Math.min(ours.length, theirs.length);
  return spread(Array.from({ length: pairs }, (_, round) => ours[round] / theirs[round]));
}

/** @param {number[]} values @param {number} share 0 to 1 */
export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** @param {number[]} sorted */
function median(sorted) {
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
