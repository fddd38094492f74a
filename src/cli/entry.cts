#!/usr/bin/env node
/**
 * The file that is started. A module of the old kind, because Node reads one of these without its pool of threads: what
 * that pool is to be has to be said before its first use, and the modules of the program are read with it.
 */

/**
 * Syncs run on that pool, and a disk may take its time over each. Sixteen uploads have some sixty of them under way; a
 * thread that waits costs next to nothing. Whoever starts the service may say otherwise (docs/OPERATIONS.md).
 */
const POOL_THREADS = '48';

if (process.argv.includes('serve')) process.env['UV_THREADPOOL_SIZE'] ??= POOL_THREADS;

void import('./pipewhy-snapshots.js');
