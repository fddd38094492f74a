/** A process of its own that drives many small publications over a fixed number of keep-alive connections. */
import { adapterOf } from '../servers/index.mjs';
import { openConnection } from './connection.mjs';
import { percentile } from './statistics.mjs';

/**
 * @typedef {{ target: import('../servers/index.mjs').Target, clients: number, count: number }} Order
 * @typedef {{ seconds: number, p50: number, p99: number }} Outcome latencies in milliseconds
 */

const [order] = /** @type {[Order]} */ (await nextMessage());
const jobs = Array.from({ length: order.count }, () => adapterOf(order.target.module).smallPut());
const connections = await Promise.all(
  Array.from({ length: order.clients }, () => openConnection(order.target.port)),
);
process.send?.('ready');
await nextMessage();

/** @type {number[]} */
const latencies = [];
const started = performance.now();
await Promise.all(connections.map(drain));
const seconds = (performance.now() - started) / 1000;

for (const connection of connections) connection.close();
/** @type {Outcome} */
const outcome = { seconds, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
process.send?.(outcome, () => process.disconnect());

/** @param {import('./connection.mjs').Connection} connection */
async function drain(connection) {
  for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
    const begun = performance.now();
    await job(connection);
    latencies.push(performance.now() - begun);
  }
}

/** @returns {Promise<unknown[]>} */
function nextMessage() {
  return new Promise((done) => process.once('message', (message) => done([message])));
}
