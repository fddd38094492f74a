/** The command. It loads everything else only when it can say in one line why that fails. */

import fs from 'node:fs';

// Before anything is loaded: Node would open its inspector at this signal, to everyone on this machine.
process.on('SIGUSR1', () => undefined);

const REASONS: Readonly<Record<string, string>> = {
  EMFILE: 'this process may open too few files; raise the limit (ulimit -n, LimitNOFILE=) to 1024 or more',
  ENFILE: 'too many files are open on this machine; close some, or raise fs.file-max',
  ENOMEM: 'there is too little memory; raise the limit',
  ERR_WORKER_INIT_FAILED:
    'no threads can be started; raise the limit of processes (ulimit -u, TasksMax=) or of memory, or give --threads 0',
  ERR_WORKER_OUT_OF_MEMORY: 'there is too little memory for threads; raise the limit, or give --threads 0',
  ERR_MODULE_NOT_FOUND: 'a file of the program or of what it needs is missing; install it again',
  MODULE_NOT_FOUND: 'a file of the program or of what it needs is missing; install it again',
};

/** So few that Node says of a file it could not open that it is not there. */
const FEW_FILES = 256;

function mayOpenFewFiles(): boolean {
  try {
    const limit = /^Max open files +(\d+)/mu.exec(fs.readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit !== undefined && Number(limit) < FEW_FILES;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EMFILE';
  }
}

/** Nothing for an error that is neither the system's nor the installation's: that one is a fault of the program. */
function refusalOf(error: unknown): string | undefined {
  const { syscall, path, ...found } = error as NodeJS.ErrnoException;
  const code = found.code?.endsWith('MODULE_NOT_FOUND') === true && mayOpenFewFiles() ? 'EMFILE' : found.code;
  if (code === undefined || (REASONS[code] === undefined && syscall === undefined)) return undefined;
  const reason = REASONS[code];
  if (reason !== undefined) return `cannot start: ${reason} (${code})`;
  const what = path ?? (error as Error).message;
  return `cannot start: ${what} cannot be used (${code}); give this user access to it, or install again`;
}

try {
  const { run } = await import('./run.ts');
  await run(refusalOf);
} catch (error) {
  const refusal = refusalOf(error);
  if (refusal === undefined) throw error;
  process.stderr.write(`pipewhy-snapshots: ${refusal}\n`);
  process.exit(1);
}
