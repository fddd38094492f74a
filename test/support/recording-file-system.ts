/**
 * Records what a store does to its disk: every operation that changes something or makes it durable, in the order in
 * which they began, each with the moments of its begin and end, so that overlapping ones can be told from ordered ones.
 */
import type { Descriptor, FileSystem } from '../../src/store/file-system.ts';

type Change =
  | { readonly kind: 'mkdir'; readonly path: string }
  | { readonly kind: 'create'; readonly path: string; readonly file: number }
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly file: number;
      readonly position: number;
      bytes: Uint8Array;
    }
  | { readonly kind: 'sync'; readonly path: string; readonly file: number }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'syncDirectory'; readonly path: string };

export type Operation = Change & {
  /** Moments of one clock that ticks at every begin, end and note. `end` is Infinity while it is under way. */
  readonly begin: number;
  end: number;
  /** False once it has failed: then it changed nothing. */
  succeeded: boolean;
};

/** Something that was told to somebody at a moment, and must hold after any later cut. */
export interface Note<T> {
  readonly at: number;
  readonly value: T;
}

export class History<T = never> {
  readonly operations: Operation[] = [];
  readonly notes: Note<T>[] = [];
  #now = 0;

  /** The next moment; all later events come after it. */
  tick(): number {
    this.#now += 1;
    return this.#now;
  }

  note(value: T): void {
    this.notes.push({ at: this.tick(), value });
  }

  async during<R>(change: Change, work: () => Promise<R>): Promise<R> {
    const operation = this.#begin(change);
    try {
      return this.#succeeded(operation, await work());
    } catch (error) {
      operation.succeeded = false;
      throw error;
    } finally {
      operation.end = this.tick();
    }
  }

  duringSync<R>(change: Change, work: () => R): R {
    const operation = this.#begin(change);
    try {
      return this.#succeeded(operation, work());
    } catch (error) {
      operation.succeeded = false;
      throw error;
    } finally {
      operation.end = this.tick();
    }
  }

  #begin(change: Change): Operation {
    const operation: Operation = { ...change, begin: this.tick(), end: Infinity, succeeded: true };
    this.operations.push(operation);
    return operation;
  }

  #succeeded<R>(operation: Operation, result: R): R {
    // A short write changed only what it says it wrote.
    if (operation.kind === 'write') operation.bytes = operation.bytes.subarray(0, Number(result));
    return result;
  }
}

let lastFile = 0;

/** `inner` with its changes written into `history`. Several ports may share one history: processes over one disk. */
export function recordingFileSystem<T>(inner: FileSystem, history: History<T>): FileSystem {
  const files = new Map<Descriptor, { readonly file: number; readonly path: string }>();
  const fileOf = (descriptor: Descriptor): { readonly file: number; readonly path: string } => {
    const known = files.get(descriptor);
    if (known === undefined) throw new Error(`Descriptor ${descriptor} was not made by this port.`);
    return known;
  };
  return {
    ...inner,
    makeDirectory: (path) => history.during({ kind: 'mkdir', path }, () => inner.makeDirectory(path)),
    createFile: async (path) => {
      lastFile += 1;
      const file = lastFile;
      const descriptor = await history.during({ kind: 'create', path, file }, () => inner.createFile(path));
      files.set(descriptor, { file, path });
      return descriptor;
    },
    write: (descriptor, bytes, position) =>
      history.during({ kind: 'write', ...fileOf(descriptor), position, bytes: bytes.slice() }, () =>
        inner.write(descriptor, bytes, position),
      ),
    writeSync: (descriptor, bytes, position) =>
      history.duringSync({ kind: 'write', ...fileOf(descriptor), position, bytes: bytes.slice() }, () =>
        inner.writeSync(descriptor, bytes, position),
      ),
    syncData: (descriptor) =>
      history.during({ kind: 'sync', ...fileOf(descriptor) }, () => inner.syncData(descriptor)),
    sync: (descriptor) =>
      history.during({ kind: 'sync', ...fileOf(descriptor) }, () => inner.sync(descriptor)),
    rename: (path, to) => history.during({ kind: 'rename', path, to }, () => inner.rename(path, to)),
    syncDirectory: (path) => history.during({ kind: 'syncDirectory', path }, () => inner.syncDirectory(path)),
  };
}

/** A port whose n-th sync (from 1, of files and directories together) does nothing and says that all went well. */
export function withoutSync(inner: FileSystem, n: number, onDropped: (path: string) => void): FileSystem {
  let syncs = 0;
  const paths = new Map<Descriptor, string>();
  const unlessDropped = (path: string, sync: () => Promise<void>): Promise<void> => {
    syncs += 1;
    if (syncs !== n) return sync();
    onDropped(path);
    return Promise.resolve();
  };
  return {
    ...inner,
    createFile: async (path) => {
      const descriptor = await inner.createFile(path);
      paths.set(descriptor, path);
      return descriptor;
    },
    syncData: (descriptor) => unlessDropped(paths.get(descriptor) ?? '', () => inner.syncData(descriptor)),
    sync: (descriptor) => unlessDropped(paths.get(descriptor) ?? '', () => inner.sync(descriptor)),
    syncDirectory: (path) => unlessDropped(path, () => inner.syncDirectory(path)),
  };
}
