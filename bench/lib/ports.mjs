import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const START_LIMIT_MS = 15_000;

/** @returns {Promise<number>} a loopback port that was free a moment ago, for servers that cannot choose one */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}

/**
 * @param {number} port
 * @param {import('node:child_process').ChildProcess} child
 */
export async function untilListening(port, child) {
  const limit = performance.now() + START_LIMIT_MS;
  while (performance.now() < limit) {
    if (child.exitCode !== null) break;
    const socket = connect({ port, host: '127.0.0.1' });
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await sleep(50);
  }
  throw new Error(`${child.spawnfile} does not listen on port ${port}`);
}
