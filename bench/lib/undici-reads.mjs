/** Stands in for wrk where it is not installed, with the same closing line. Slower: it needs more of the machine. */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [url = '', connections = '16', seconds = '3'] = process.argv.slice(2);
const paths = readFileSync(process.env['BENCH_PATHS'] ?? '', 'utf8').split('\n');
const pool = new Pool(url, { connections: Number(connections), pipelining: 1 });
const started = performance.now();
const end = started + Number(seconds) * 1000;
let asked = 0;
let answered = 0;

await Promise.all(Array.from({ length: Number(connections) }, read));
console.log(`Requests/sec: ${(answered * 1000) / (performance.now() - started)}`);
await pool.close();

async function read() {
  while (performance.now() < end) {
    asked += 1;
    const answer = await pool.request({ method: 'GET', path: paths[asked % paths.length] });
    await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    answered += 1;
  }
}
