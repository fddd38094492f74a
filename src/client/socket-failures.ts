/** Why a unix socket cannot be reached, in words that say what to do. */
import { statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

/** What the address of a unix socket holds; a longer path is cut, and then means another file. */
export const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** Null for failures that have nothing to do with the file, such as a reset connection. */
export function socketFailure(path: string, code: string): string | null {
  switch (code) {
    case 'ENOENT':
      return stateOf(dirname(path)) === 'ENOENT'
        ? 'the folder of this socket does not exist; check the path'
        : 'there is no such socket; check the path, and that the service was started with --socket';
    case 'ENOTDIR':
      return 'what should be the folder of this socket is a file; check the path';
    case 'EACCES':
      return typeof stateOf(path) === 'string'
        ? 'this user may not look into the folder of this socket; ask for access to it'
        : 'this user may not write to this socket; ask for access to it';
    case 'ECONNREFUSED': {
      const found = stateOf(path);
      return typeof found !== 'string' && !found.isSocket()
        ? 'this is no socket; check the path'
        : 'nothing listens on this socket; start the service';
    }
    default:
      return null;
  }
}

function stateOf(path: string): Stats | string {
  try {
    return statSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
