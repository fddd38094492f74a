/**
 * The work that is measured. Every piece prepares itself outside the measurement and then runs its participants in
 * turn, round after round.
 *
 * @typedef {{ amount: number, seconds: number, details?: Record<string, number> }} Result amount in the work's own unit
 * @typedef {{ name: string, pid: number | null, run: () => Promise<Result> }} Participant
 * @typedef {{ participants: Participant[], beforeRound?: () => Promise<void>, pageCacheBytes?: number,
 *   finish?: () => Promise<void> }} Prepared
 * @typedef {{ workspace: import('../lib/workspace.mjs').Workspace, quick: boolean, profiling: boolean,
 *   servers: import('../servers/index.mjs').Server[], serverOptions: import('../servers/index.mjs').StartOptions,
 *   largeSource: () => Promise<import('../lib/large-source.mjs').RenewableSource> }} Context
 * @typedef {{ name: string, title: string, unit: string, rounds: { full: number, quick: number },
 *   prepare: (context: Context) => Promise<Prepared> }} Work
 */
import { downloadLarge } from './download-large.mjs';
import { listLarge, listSmall } from './listing.mjs';
import { processes } from './processes.mjs';
import { publishLarge } from './publish-large.mjs';
import { publishSmallAlone, publishSmallTogether } from './publish-small.mjs';
import { readManifest } from './read-manifest.mjs';
import { slowDiskWork } from './slow-disk.mjs';
import { uploadTogether } from './upload-together.mjs';

/** @type {readonly Work[]} */
export const WORK = [
  publishLarge,
  publishSmallAlone,
  publishSmallTogether,
  slowDiskWork,
  processes,
  downloadLarge,
  readManifest,
  listSmall,
  listLarge,
  uploadTogether,
];
