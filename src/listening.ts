/** Where the service listens: a port, a unix socket, or a socket that systemd hands over (sd_listen_fds). */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { asksForToken, ConfigError, environmentName, flagName, type Config } from './config.ts';
import { isLoopback } from './http/hosts.ts';

/** What the address of a unix socket holds. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** The first descriptor that systemd passes. */
const FIRST_PASSED = 3;

const PORT_HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there; choose another with --port, or 0 for any',
  EADDRNOTAVAIL: 'that is no address of this machine; choose another with --host',
  ENOTFOUND: 'no machine has that name; choose another with --host',
  EACCES: 'this user may not use that port; choose one above 1023 with --port',
};

const SOCKET_HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something is there already; choose another with --socket',
  ENOTDIR: 'its folder is a file; choose another with --socket',
  EACCES: 'this user may not write in its folder; choose another with --socket',
};

/** The system says ENOENT and more, which Node shows as EACCES: so the folder itself is looked at. */
function socketHint(socket: string, code: string): string | undefined {
  try {
    fs.statSync(path.dirname(socket));
  } catch (error) {
    const problem = (error as NodeJS.ErrnoException).code;
    if (problem === 'ENOENT') return 'its folder does not exist; make it, or choose another with --socket';
    if (problem === 'EACCES')
      return 'this user may not reach its folder; give access to every folder above it, or choose another with --socket';
  }
  return SOCKET_HINTS[code];
}

/** A longer path is cut by the system: the service would listen somewhere else. Throws `ConfigError`. */
function checkLength(socket: string): void {
  if (Buffer.byteLength(socket) <= MAX_SOCKET_PATH_BYTES) return;
  throw new ConfigError(
    `cannot listen on ${socket}: it is longer than the ${MAX_SOCKET_PATH_BYTES} bytes that the path of a socket may have; ` +
      'choose a shorter one with --socket',
  );
}

/** Starts listening and gives the address for people: `http://…` or `unix:…`. Throws `ConfigError`. */
export async function listen(
  server: net.Server,
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  try {
    if (isSocketPassed(environment)) {
      refuseSeveralSockets(environment);
      return await listenOnPassed(server, config);
    }
    if (config.socket === undefined) {
      const { host, port } = config;
      await listenOn(server, { host, port });
      return urlOf(server, config);
    }
    checkLength(config.socket);
    await forgetDeadSocket(config.socket);
    await listenOn(server, { path: config.socket });
    return `unix:${config.socket}`;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const where = config.socket ?? `${config.host}:${config.port}`;
    const hint = config.socket === undefined ? PORT_HINTS[code] : socketHint(config.socket, code);
    throw new ConfigError(`cannot listen on ${where} (${code})${hint === undefined ? '' : `: ${hint}`}`);
  }
}

function isSocketPassed(environment: Readonly<Record<string, string | undefined>>): boolean {
  return environment['LISTEN_PID'] === String(process.pid) && Number(environment['LISTEN_FDS']) >= 1;
}

/** Whoever connects to a socket that nobody serves would wait for ever. */
function refuseSeveralSockets({ LISTEN_FDS: passed }: Readonly<Record<string, string | undefined>>): void {
  if (Number(passed) === 1) return;
  throw new ConfigError(
    `${passed} sockets were passed (LISTEN_FDS), and one is served: leave one ListenStream= in the socket unit`,
  );
}

/**
 * Not by way of the framework, which cannot take a passed socket, makes a second server for the second address of
 * `localhost`, and writes a line of its own before anybody knows whether the start succeeds.
 */
async function listenOn(server: net.Server, where: net.ListenOptions & { fd?: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function listenOnPassed(server: net.Server, config: Config): Promise<string> {
  await listenOn(server, { fd: FIRST_PASSED });
  const address = server.address();
  if (address === null || typeof address === 'string') return `unix:${address ?? 'passed socket'}`;
  if (!isLoopback(address.address) && !asksForToken(config) && !config.allowAnonymous) {
    throw new ConfigError(
      `the passed socket ${address.address} can be reached from other machines: set ${environmentName('token')}, or ` +
        flagName('allowAnonymous'),
    );
  }
  return urlOf(server, config);
}

function urlOf(server: net.Server, { basePath, tlsCert }: Config): string {
  const { address, port } = server.address() as net.AddressInfo;
  const scheme = tlsCert === undefined ? 'http' : 'https';
  return `${scheme}://${net.isIPv6(address) ? `[${address}]` : address}:${port}${basePath}`;
}

/** A socket file stays behind when a process is killed: nobody answers there, so the next one may take its place. */
async function forgetDeadSocket(socket: string): Promise<void> {
  if (!fs.lstatSync(socket, { throwIfNoEntry: false })?.isSocket()) return;
  const dead = await new Promise<boolean>((resolve) => {
    const probe = net.connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(false);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ECONNREFUSED');
    });
  });
  if (dead) fs.unlinkSync(socket);
}
