/** The service as tests meet it: in this process, or as the command that users run. */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';

import { buildApp, type App } from '../../src/app.ts';
import { loadConfig, type SettingInputs } from '../../src/config.ts';
import { LocalSnapshotStore } from '../../src/store/local-snapshot-store.ts';
import type { SnapshotStore } from '../../src/store/snapshot-store.ts';
import type { StoreOptions } from '../../src/store/store-options.ts';
import type { Json } from './http.ts';
import { watchAnswers } from './conformance.ts';
import { declarations, makeRoot, removeRoot } from './stores.ts';

/** The built command. */
export const COMMAND = fileURLToPath(new URL('../../dist/src/cli/entry.cjs', import.meta.url));

export type LogLine = Readonly<Record<string, Json>>;

export interface RunningApp {
  readonly root: string;
  /** `http://127.0.0.1:<port>` and the base path; `http://localhost` where it listens on a socket. */
  readonly url: string;
  readonly app: App;
  readonly store: LocalSnapshotStore;
  /** Everything logged so far. */
  readonly logs: readonly LogLine[];
  /**
   * Stops listening; removes the root where `startApp` made it. Throws when any answer was not one that the OpenAPI
   * document describes.
   */
  readonly close: () => Promise<void>;
}

export interface AppOptions {
  /** An empty temporary one unless given. */
  readonly root?: string;
  readonly settings?: SettingInputs;
  readonly store?: Partial<StoreOptions>;
}

/** The service in this process, without threads, on a free port of 127.0.0.1. The caller closes it. */
export async function startApp(given: AppOptions = {}): Promise<RunningApp> {
  const { root = makeRoot(), settings = {}, store: options = {} } = given;
  const config = loadConfig({ root, port: 0, threads: 0, reserveBytes: 0, ...settings }, {});
  const store = new LocalSnapshotStore(root, {
    declarations,
    limits: {
      arrays: config.maxArrays,
      arrayBytes: config.maxArrayBytes,
      snapshotBytes: config.maxSnapshotBytes,
    },
    verify: config.verify,
    ...options,
  });
  const { url, app, logs, close } = await serve(store, config);
  const closeAll = async (): Promise<void> => {
    await close().finally(() => {
      if (given.root === undefined) removeRoot(root);
    });
  };
  return { root, url, app, store, logs, close: closeAll };
}

/** The service over any store, which is closed with it. */
export async function serve(
  store: SnapshotStore,
  settings: SettingInputs,
): Promise<Pick<RunningApp, 'url' | 'app' | 'logs' | 'close'>> {
  const config = loadConfig({ port: 0, ...settings }, {});
  await store.prepare();
  const { logs, logger } = memoryLog();
  const app = await buildApp(config, store, logger);
  const violations = watchAnswers(app.server.server, config.basePath);
  const listened = await app.server.listen(
    config.socket === undefined ? { host: config.host, port: config.port } : { path: config.socket },
  );
  const url = `${config.socket === undefined ? listened : 'http://localhost'}${config.basePath}`;
  const close = async (): Promise<void> => {
    app.server.server.closeAllConnections();
    await app.server.close();
    await store.close();
    if (violations.length > 0) {
      throw new Error(`Not as openapi/openapi.json says:\n${[...new Set(violations)].join('\n')}`);
    }
  };
  return { url, app, logs, close };
}

/** `startApp` for one test: closed, and its root removed, when the test is over. */
export async function appForTest(options: AppOptions = {}): Promise<RunningApp> {
  const running = await startApp(options);
  onTestFinished(running.close);
  return running;
}

function memoryLog() {
  const logs: LogLine[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString('utf8').trim().split('\n')) logs.push(JSON.parse(line));
      done();
    },
  });
  return { logs, logger: pino({ level: 'debug' }, sink) };
}

export interface CommandEnd {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  /** What was written so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Sends the signal and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<CommandEnd>;
}

/** Environment of a spawned command: nothing of this process's own settings. */
function environment(given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], ...given };
}

function launch(args: readonly string[], given: Readonly<Record<string, string>>, cwd: string | undefined) {
  if (!fs.existsSync(COMMAND)) throw new Error('The command is not built; run `npm run build` first.');
  // The file itself, as users run it: its first line chooses how node is started.
  const child = spawn(COMMAND, args, {
    env: environment(given),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => {
      resolve({ status, signal, ...output });
    });
  });
  return { child, output, ended };
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Runs the built command to its end. */
export function runCommand(
  args: readonly string[],
  { env = {}, cwd }: CommandOptions = {},
): Promise<CommandEnd> {
  const { child, ended } = launch(args, env, cwd);
  endWithTest(child, ended);
  return ended;
}

/** The built command's `serve` on a free port; killed at the end of the test if it still runs then. */
export async function startServer(
  root: string,
  flags: readonly string[] = [],
  options: CommandOptions = {},
): Promise<RunningServer> {
  const { child, output, ended } = launch(
    ['serve', '--root', root, '--port', '0', ...flags],
    options.env ?? {},
    options.cwd,
  );
  endWithTest(child, ended);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const match = /(\S+)\n/u.exec(output.stdout.slice(output.stdout.lastIndexOf(' ')));
      if (match?.[1] !== undefined) resolve(match[1]);
    });
    ended.then((end) => {
      reject(new Error(`The server ended at once: ${JSON.stringify(end)}`));
    }, reject);
  });
  return {
    url,
    pid: child.pid!,
    output,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

function endWithTest(child: ChildProcess, ended: Promise<CommandEnd>): void {
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended.catch(() => undefined);
  });
}
