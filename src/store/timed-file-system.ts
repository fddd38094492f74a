/** The same port, telling how long each sync took: the one figure that says how a disk is doing. */
import type { FileSystem } from './file-system.ts';

export type SyncKind = 'data' | 'file' | 'directory';

/** `observe` gets seconds, also of syncs that fail. */
export function timedFileSystem(
  fs: FileSystem,
  observe: (kind: SyncKind, seconds: number) => void,
): FileSystem {
  const timed = async (kind: SyncKind, run: () => Promise<void>): Promise<void> => {
    const started = performance.now();
    try {
      await run();
    } finally {
      observe(kind, (performance.now() - started) / 1000);
    }
  };
  return {
    ...fs,
    syncData: (file) => timed('data', () => fs.syncData(file)),
    sync: (file) => timed('file', () => fs.sync(file)),
    syncDirectory: (path) => timed('directory', () => fs.syncDirectory(path)),
  };
}
