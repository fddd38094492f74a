/**
 * A file system that fails on demand: counts the operations that pass through the port, fails the k-th or makes it
 * short, keeps a log of all of them and knows which descriptors are open. The real work is done by another port.
 */
import { constants } from 'node:os';
import { relative } from 'node:path';

import type { Descriptor, FileSystem, FreeRoom } from '../../src/store/file-system.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';

export type Method = keyof FileSystem;

export const FAULT_ERRORS = ['EIO', 'ENOSPC', 'EDQUOT', 'EACCES', 'EMFILE'] as const;
export type FaultError = (typeof FAULT_ERRORS)[number];

/**
 * What a fault does: an error; a write or read that moves half of the bytes or none; a write that claims success and
 * stores a wrong bit or nothing at all.
 */
export type FaultKind = FaultError | 'half' | 'none' | 'flip' | 'lost';
export const FAULT_KINDS: readonly FaultKind[] = [...FAULT_ERRORS, 'half', 'none', 'flip', 'lost'];

const ERRORS: ReadonlySet<string> = new Set(FAULT_ERRORS);

export function isError(kind: FaultKind): kind is FaultError {
  return ERRORS.has(kind);
}

export interface Fault {
  /** Which of the counted operations fails, from 1. */
  readonly at: number;
  readonly kind: FaultKind;
  /** Counts and fails operations of this method only. */
  readonly method?: Method;
  /** The operation takes place and is reported as failed. */
  readonly late?: boolean;
}

/** One passage through the port. */
export interface Operation {
  readonly method: Method;
  /** Relative to the root; of an open file the path it was opened by. */
  readonly path: string;
  readonly to?: string;
  readonly descriptor?: Descriptor;
  /** Of reads and writes. */
  readonly position?: number;
  /** The bytes that a write moved. */
  written?: Uint8Array;
  outcome: 'running' | 'done' | 'failed';
}

/** Called before each operation takes place; an asynchronous operation waits for it. */
export type Hook = (operation: Operation) => Promise<void> | void;

type Work<T> = (kind: FaultKind | null) => T;

const SYNCS: ReadonlySet<Method> = new Set<Method>(['syncData', 'sync', 'syncDirectory']);
const CHANGES: ReadonlySet<Method> = new Set<Method>([
  'makeDirectory',
  'createFile',
  'write',
  'writeSync',
  'syncData',
  'sync',
  'rename',
  'syncDirectory',
]);
const TRANSFERS: ReadonlySet<Method> = new Set<Method>(['write', 'writeSync', 'readSync']);
const CLOSES: ReadonlySet<Method> = new Set<Method>(['close', 'closeSync']);

export function isSync({ method }: Operation): boolean {
  return SYNCS.has(method);
}

/** Whether an operation changes the disk, or makes a change durable. */
export function isChange({ method }: Operation): boolean {
  return CHANGES.has(method);
}

export class FaultFileSystem implements FileSystem {
  readonly log: Operation[] = [];
  /** Open descriptors and the paths they were opened by. */
  readonly open = new Map<Descriptor, string>();
  /** The operation that was struck. */
  struck: Operation | null = null;
  /** The error that it was given. */
  injected: Error | null = null;
  hook: Hook | null = null;
  /** Keeps a copy of what is written in the log. */
  keepWritten = false;
  /** Leaves out the real fsyncs, which take most of the time and change nothing that a running system can see. */
  skipSyncs = false;
  readonly #root: string;
  readonly #inner: FileSystem;
  #fault: Fault | null = null;
  #counted = 0;

  constructor(root: string, inner: FileSystem = nodeFileSystem) {
    this.#root = root;
    this.#inner = inner;
  }

  /** From now on counts operations and fails the chosen one, once. */
  arm(fault: Fault): void {
    this.#fault = fault;
    this.#counted = 0;
    this.struck = null;
    this.injected = null;
  }

  disarm(): void {
    this.#fault = null;
  }

  /** How many operations of these methods have begun, or of all. */
  count(...methods: Method[]): number {
    return this.log.filter(({ method }) => methods.length === 0 || methods.includes(method)).length;
  }

  makeDirectory(path: string): Promise<void> {
    return this.#run(this.#begin('makeDirectory', path), () => this.#inner.makeDirectory(path));
  }

  async createFile(path: string): Promise<Descriptor> {
    const operation = this.#begin('createFile', path);
    const file = await this.#run(operation, () => this.#inner.createFile(path));
    this.open.set(file, operation.path);
    return file;
  }

  async write(file: Descriptor, bytes: Uint8Array, position: number): Promise<number> {
    const operation = this.#begin('write', file, { position });
    return this.#run(operation, async (kind) => {
      const stored = storedInstead(kind, bytes);
      const count = stored === null ? claimed(kind, bytes) : await this.#inner.write(file, stored, position);
      if (this.keepWritten) operation.written = bytes.slice(0, count);
      return count;
    });
  }

  writeSync(file: Descriptor, bytes: Uint8Array, position: number): number {
    const operation = this.#begin('writeSync', file, { position });
    return this.#runSync(operation, (kind) => {
      const stored = storedInstead(kind, bytes);
      const count = stored === null ? claimed(kind, bytes) : this.#inner.writeSync(file, stored, position);
      if (this.keepWritten) operation.written = bytes.slice(0, count);
      return count;
    });
  }

  syncData(file: Descriptor): Promise<void> {
    return this.#run(this.#begin('syncData', file), () => this.#synced(this.#inner.syncData, file));
  }

  sync(file: Descriptor): Promise<void> {
    return this.#run(this.#begin('sync', file), () => this.#synced(this.#inner.sync, file));
  }

  close(file: Descriptor): Promise<void> {
    return this.#run(this.#begin('close', file), () => {
      this.#forget(file);
      return this.#inner.close(file);
    });
  }

  rename(from: string, to: string): Promise<void> {
    const operation = this.#begin('rename', from, { to: this.#shown(to) });
    return this.#run(operation, () => this.#inner.rename(from, to));
  }

  syncDirectory(path: string): Promise<void> {
    return this.#run(this.#begin('syncDirectory', path), () => this.#synced(this.#inner.syncDirectory, path));
  }

  checkWritable(path: string): Promise<void> {
    return this.#run(this.#begin('checkWritable', path), () => this.#inner.checkWritable(path));
  }

  async *listNames(path: string): AsyncGenerator<readonly string[], void, void> {
    yield await this.#run(this.#begin('listNames', path), async () => {
      const names: string[] = [];
      for await (const piece of this.#inner.listNames(path)) names.push(...piece);
      return names;
    });
  }

  freeRoom(path: string): Promise<FreeRoom> {
    return this.#run(this.#begin('freeRoom', path), () => this.#inner.freeRoom(path));
  }

  statEntry(path: string) {
    return this.#runSync(this.#begin('statEntry', path), () => this.#inner.statEntry(path));
  }

  listDirectory(path: string) {
    return this.#runSync(this.#begin('listDirectory', path), () => this.#inner.listDirectory(path));
  }

  openForReading(path: string): Descriptor {
    const operation = this.#begin('openForReading', path);
    const file = this.#runSync(operation, () => this.#inner.openForReading(path));
    this.open.set(file, operation.path);
    return file;
  }

  statOpen(file: Descriptor) {
    return this.#runSync(this.#begin('statOpen', file), () => this.#inner.statOpen(file));
  }

  readSync(file: Descriptor, buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.#runSync(this.#begin('readSync', file, { position }), (kind) => {
      if (kind === 'none') return 0;
      const wanted = kind === 'half' ? Math.ceil(length / 2) : length;
      return this.#inner.readSync(file, buffer, offset, wanted, position);
    });
  }

  closeSync(file: Descriptor): void {
    this.#runSync(this.#begin('closeSync', file), () => {
      this.#forget(file);
      this.#inner.closeSync(file);
    });
  }

  #begin(method: Method, target: string | Descriptor, more: Partial<Operation> = {}): Operation {
    const operation: Operation =
      typeof target === 'string'
        ? { method, path: this.#shown(target), outcome: 'running', ...more }
        : {
            method,
            path: this.open.get(target) ?? '(not open)',
            descriptor: target,
            outcome: 'running',
            ...more,
          };
    this.log.push(operation);
    return operation;
  }

  async #synced<T>(sync: (target: T) => Promise<void>, target: T): Promise<void> {
    if (!this.skipSyncs) await sync(target);
  }

  #shown(path: string): string {
    return relative(this.#root, path);
  }

  #forget(file: Descriptor): void {
    if (!this.open.delete(file)) throw new Error(`Descriptor ${file} is closed, but it is not open.`);
  }

  /** The fault that strikes this operation, if one does. */
  #strike(operation: Operation): Fault | null {
    const fault = this.#fault;
    if (fault === null || this.struck !== null) return null;
    if (fault.method !== undefined && fault.method !== operation.method) return null;
    if (!canHappen(fault.kind, operation.method)) return null;
    this.#counted += 1;
    if (this.#counted !== fault.at) return null;
    this.struck = operation;
    return fault;
  }

  async #run<T>(operation: Operation, work: Work<Promise<T>>): Promise<T> {
    const fault = this.#strike(operation);
    if (this.hook !== null) await this.hook(operation);
    try {
      const error = this.#injection(fault, operation);
      if (error !== null && !takesPlace(fault, operation)) throw error;
      const result = await work(fault?.kind ?? null);
      if (error !== null) throw error;
      operation.outcome = 'done';
      return result;
    } catch (error) {
      operation.outcome = 'failed';
      throw error;
    }
  }

  #runSync<T>(operation: Operation, work: Work<T>): T {
    const fault = this.#strike(operation);
    this.hook?.(operation)?.catch(() => undefined);
    try {
      const error = this.#injection(fault, operation);
      if (error !== null && !takesPlace(fault, operation)) throw error;
      const result = work(fault?.kind ?? null);
      if (error !== null) throw error;
      operation.outcome = 'done';
      return result;
    } catch (error) {
      operation.outcome = 'failed';
      throw error;
    }
  }

  #injection(fault: Fault | null, operation: Operation): Error | null {
    if (fault === null || !isError(fault.kind)) return null;
    this.injected = systemError(fault.kind, operation);
    return this.injected;
  }
}

/** Linux gives a descriptor back even where close reports an error. */
function takesPlace(fault: Fault | null, { method }: Operation): boolean {
  return fault?.late === true || CLOSES.has(method);
}

const SYSCALLS: Partial<Record<Method, string>> = {
  makeDirectory: 'mkdir',
  createFile: 'open',
  openForReading: 'open',
  syncData: 'fdatasync',
  sync: 'fsync',
  syncDirectory: 'fsync',
  closeSync: 'close',
  readSync: 'read',
  writeSync: 'write',
  freeRoom: 'statfs',
  statEntry: 'lstat',
  statOpen: 'fstat',
  listDirectory: 'scandir',
  listNames: 'scandir',
  checkWritable: 'access',
};

/** An error as Node's fs throws it. */
export function systemError(
  code: FaultError,
  { method, path, descriptor }: Operation,
): NodeJS.ErrnoException {
  const syscall = SYSCALLS[method] ?? method;
  const where = descriptor === undefined ? ` '${path}'` : '';
  return Object.assign(new Error(`${code}: injected failure, ${syscall}${where}`), {
    code,
    syscall,
    errno: -constants.errno[code],
    ...(descriptor === undefined ? { path } : {}),
  });
}

function canHappen(kind: FaultKind, method: Method): boolean {
  if (kind === 'flip' || kind === 'lost') return method === 'write' || method === 'writeSync';
  return isError(kind) || TRANSFERS.has(method);
}

/** What a faulty write stores in place of `bytes`; null where nothing reaches the disk. */
function storedInstead(kind: FaultKind | null, bytes: Uint8Array): Uint8Array | null {
  if (kind === 'none' || kind === 'lost') return null;
  if (kind === 'half') return half(bytes);
  return kind === 'flip' ? flipped(bytes) : bytes;
}

/** How much a write that stored nothing says it wrote. */
function claimed(kind: FaultKind | null, bytes: Uint8Array): number {
  return kind === 'lost' ? bytes.length : 0;
}

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  const at = Math.floor(copy.length / 2);
  copy[at] = (copy[at] ?? 0) ^ 4;
  return copy;
}

function half(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}
