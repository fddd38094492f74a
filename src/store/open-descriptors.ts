/**
 * Which descriptors a thread of the engine has open, in memory that outlives it: when it dies, the service's thread closes
 * them, as descriptors belong to the process and nobody else would.
 */
import type { Descriptor, FileSystem, FileSystemReader } from './file-system.ts';

/** Descriptors beyond are not noted; the usual limit of a process is 1,024, a generous one 65,536. */
const NOTED = 256 * 1024;

export class OpenDescriptors {
  readonly shared: SharedArrayBuffer;
  readonly #open: Uint8Array;

  constructor(shared = new SharedArrayBuffer(NOTED)) {
    this.shared = shared;
    this.#open = new Uint8Array(shared);
  }

  /** The port for the thread itself. */
  noting(fs: FileSystem): FileSystem {
    return {
      ...fs,
      openForReading: (path) => {
        const file = fs.openForReading(path);
        if (file < NOTED) this.#open[file] = 1;
        return file;
      },
      closeSync: (file) => {
        // Before the close: afterwards the number may already be another thread's.
        this.handedOver(file);
        fs.closeSync(file);
      },
    };
  }

  /** From now on another thread closes it. */
  handedOver(file: Descriptor): void {
    if (file < NOTED) this.#open[file] = 0;
  }

  /** For a thread that has ended. Returns how many it had left open. */
  closeAll(fs: Pick<FileSystemReader, 'closeSync'>): number {
    let closed = 0;
    for (let file = this.#open.indexOf(1); file !== -1; file = this.#open.indexOf(1, file + 1)) {
      this.#open[file] = 0;
      try {
        fs.closeSync(file);
        closed += 1;
      } catch {
        // Nothing was written through it, and nobody waits for it.
      }
    }
    return closed;
  }
}
