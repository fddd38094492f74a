/** A package as one tar archive (POSIX ustar), of a length known before its first byte. */
import { Header } from 'tar';
import type { PackagedFile } from '../store/snapshot-store.ts';

export const TAR_MEDIA_TYPE = 'application/x-tar';

const RECORD = 512;
const END = Buffer.alloc(2 * RECORD);

function padding(byteLength: number): number {
  return (RECORD - (byteLength % RECORD)) % RECORD;
}

/** Bytes of the archive that `tarBlocks` makes of these files. */
export function tarLength(files: readonly PackagedFile[]): number {
  return files.reduce((sum, { byteLength }) => sum + RECORD + byteLength + padding(byteLength), END.length);
}

/** The same bytes every time: no owner, no clock; `mtime`, in epoch seconds, is the snapshot's own. */
export async function* tarBlocks(
  directory: string,
  files: readonly PackagedFile[],
  mtimeSeconds: number,
): AsyncGenerator<Uint8Array, void, void> {
  for (const file of files) {
    yield header(`${directory}/${file.name}`, file.byteLength, mtimeSeconds);
    yield* file.blocks();
    const rest = padding(file.byteLength);
    if (rest > 0) yield Buffer.alloc(rest);
  }
  yield END;
}

/** Sizes past 8 GiB and times past 2242 have no octal form; they go into the same block in base-256, as GNU tar has it. */
function header(path: string, size: number, mtimeSeconds: number): Buffer {
  const block = Buffer.alloc(RECORD);
  const mtime = new Date(mtimeSeconds * 1000);
  new Header({ path, size, mtime, mode: 0o644, type: 'File', uid: 0, gid: 0 }).encode(block);
  if (new Header(block).path !== path) {
    throw new TypeError(`Expected a path that fits a tar header, found ${path}.`);
  }
  return block;
}
