/** How much lies in staging: what an operator watches, without opening a file. */
import type { FileSystemReader } from './file-system.ts';
import { isMissing } from './io.ts';

export interface StagingMeasure {
  readonly count: number;
  /** Bytes of the regular files. */
  readonly byteLength: bigint;
}

export function measureStaging(fs: FileSystemReader, staging: string): StagingMeasure {
  const attempts = fs.listDirectory(staging);
  let byteLength = 0n;
  for (const attempt of attempts) {
    if (attempt.kind === 'directory') byteLength += filesIn(fs, `${staging}/${attempt.name}`);
  }
  return { count: attempts.length, byteLength };
}

/** An attempt may be renamed away while it is being measured; then it counts no more. */
function filesIn(fs: FileSystemReader, directory: string): bigint {
  try {
    return fs
      .listDirectory(directory)
      .filter((entry) => entry.kind === 'file')
      .reduce((sum, entry) => sum + fs.statEntry(`${directory}/${entry.name}`).size, 0n);
  } catch (error) {
    if (isMissing(error)) return 0n;
    throw error;
  }
}
