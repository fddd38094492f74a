/** Preloaded into the server by `pressure.mjs`: ten times a second it notes the worst delay of the event loop and the memory. */
import fs from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const file = process.env['LOOP_LAG_FILE'];
if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  setInterval(() => {
    fs.appendFileSync(file, `${Math.round(delay.max / 1e6)} ${process.memoryUsage.rss()}\n`);
    delay.reset();
  }, 100).unref();
}
