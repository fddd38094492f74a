import { makeSource } from './large-source.mjs';

const LARGE_MEBIBYTES = 512;

/**
 * What the pieces of work share. The large source is made when the first of them asks for it.
 * @param {Omit<import('../workloads/index.mjs').Context, 'largeSource'>} parts
 * @returns {import('../workloads/index.mjs').Context}
 */
export function makeContext(parts) {
  /** @type {ReturnType<typeof makeSource> | undefined} */
  let source;
  return { ...parts, largeSource: () => (source ??= makeSource(parts.workspace, LARGE_MEBIBYTES)) };
}
