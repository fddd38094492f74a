/** Runs the built command as its users do. */
import { spawn } from 'node:child_process';
import { COMMAND } from '../support/service.ts';

export { COMMAND };

export interface Finished {
  readonly code: number | null;
  readonly stdout: Buffer;
  /** Standard output and error as text. */
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  /** Instead of the command: what `args` are for. */
  readonly program?: string;
}

export function run(
  args: readonly string[],
  { env = {}, cwd, input, program }: RunOptions = {},
): Promise<Finished> {
  const {
    SNAPSHOTS_URL: _u,
    SNAPSHOTS_TOKEN: _t,
    SNAPSHOTS_CONTEXTS: _c,
    SNAPSHOTS_SOCKET: _s,
    ...inherited
  } = process.env;
  return new Promise((resolve, reject) => {
    const [file, words] = program === undefined ? [process.execPath, [COMMAND, ...args]] : [program, args];
    const child = spawn(file, words, {
      env: { ...inherited, NO_COLOR: '1', ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const bytes = Buffer.concat(stdout);
      resolve({ code, stdout: bytes, out: bytes.toString(), err: Buffer.concat(stderr).toString() });
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
