/** Stopping: nothing new, what runs may end, and then attempts stay as evidence. */
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';

import { jsonOf, problemOf } from '../support/http.ts';
import { startServer, type RunningServer } from '../support/service.ts';
import { attemptsOf, idOf, packagePath, pattern, temporaryRoot } from '../support/stores.ts';
import { halfAnUpload } from '../support/half-upload.ts';
import { publish } from '../support/uploads.ts';
import { eventually, head, sleep, Wire } from '../support/wire.ts';

const MIB = 1024 * 1024;
const ID = idOf(1);

function start(root: string, ...flags: string[]): Promise<RunningServer> {
  return startServer(root, ['--reserve-bytes', '0', ...flags]);
}

async function refusesConnections(url: string): Promise<boolean> {
  try {
    const wire = await Wire.open(url);
    const gone = await wire.closed(200);
    wire.destroy();
    return gone;
  } catch {
    return true;
  }
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('ends an idle service at once with status 0, however many connections are parked', async () => {
    const { url, stop } = await start(temporaryRoot());
    const parked = [];
    for (let number = 0; number < 20; number += 1) {
      const wire = await Wire.open(url);
      parked.push(wire);
      if (number % 3 === 1) await wire.send('GET /snapsh');
      if (number % 3 === 2) {
        await wire.send(head('GET', '/healthz'));
        expect((await wire.answer())?.status).toBe(200);
      }
    }
    const started = Date.now();
    const end = await stop(signal);
    expect(end).toMatchObject({ status: 0, signal: null });
    expect(Date.now() - started).toBeLessThan(3_000);
    for (const wire of parked) {
      expect(await wire.closed()).toBe(true);
      wire.destroy();
    }
  });

  it('lets running uploads and downloads end and be answered, refuses new ones, and exits with 0', async () => {
    const root = temporaryRoot();
    const { url, stop } = await start(root);
    const bytes = Buffer.from(pattern(24 * MIB));
    expect((await publish(url, ID, { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    const kept = await Wire.open(url);
    await kept.send(head('GET', '/healthz') + head('GET', '/snapshots').slice(0, 20));
    expect((await kept.answer())?.status).toBe(200);
    const download = await Wire.open(url);
    await download.send(head('GET', `/snapshots/${ID}/array-big.bin`));
    await eventually('the download begins', () => download.receivedLength > 0);
    download.socket.pause();
    const upload = await halfAnUpload(root, url, idOf(2));
    const second = await halfAnUpload(root, url, idOf(3));

    const ended = stop(signal);
    await sleep(300);
    expect(await refusesConnections(url)).toBe(true);
    // The next request of a connection that has an upload running comes behind it, and is refused.
    await upload.wire.send(Buffer.concat([upload.rest, Buffer.from(head('GET', '/snapshots'))]));
    const answer = await upload.wire.answer();
    expect(answer?.status).toBe(201);
    await second.wire.send(second.rest);
    expect((await second.wire.answer())?.status).toBe(201);
    download.socket.resume();
    expect((await download.answer(10_000))?.body.equals(bytes)).toBe(true);
    expect(await ended).toMatchObject({ status: 0, signal: null });
    for (const id of [idOf(2), idOf(3)])
      expect(fs.existsSync(packagePath(root, id, 'complete.sha256'))).toBe(true);
    expect(attemptsOf(root)).toEqual([]);
    for (const wire of [kept, download, upload.wire, second.wire]) wire.destroy();
  });

  it('cuts after the grace what has not ended: attempts stay, and the status is 1', async () => {
    const root = temporaryRoot();
    const { url, stop, output } = await start(root, '--grace-seconds', '1');
    const upload = await halfAnUpload(root, url, ID);
    const started = Date.now();
    const end = await stop(signal);
    expect(Date.now() - started).toBeGreaterThan(900);
    expect(Date.now() - started).toBeLessThan(6_000);
    expect(end).toMatchObject({ status: 1, signal: null });
    expect(output.stderr).toContain('the grace is over');
    expect(await upload.wire.closed()).toBe(true);
    expect((await upload.wire.answer())?.status).not.toBe(201);
    expect(attemptsOf(root)).toHaveLength(1);
    expect(fs.existsSync(packagePath(root, ID))).toBe(false);
    const next = await start(root);
    const wire = await Wire.open(next.url);
    await wire.send(head('GET', '/incomplete'));
    expect(jsonOf((await wire.answer())!).incomplete).toMatchObject([{ snapshot_id: ID, phase: 'STAGING' }]);
    wire.destroy();
  });

  it('a second time ends at once with status 1', async () => {
    const root = temporaryRoot();
    const { url, pid, stop, output } = await start(root);
    const upload = await halfAnUpload(root, url, ID);
    const ended = stop(signal);
    await eventually('it is told', () => output.stderr.includes(': stopping'));
    // A terminal and npm send the same one twice: that is one wish.
    process.kill(pid, signal);
    await sleep(500);
    expect(output.stderr).not.toContain('stopping at once');
    const started = Date.now();
    process.kill(pid, signal === 'SIGTERM' ? 'SIGINT' : 'SIGTERM');
    expect(await ended).toMatchObject({ status: 1, signal: null });
    expect(Date.now() - started).toBeLessThan(2_000);
    expect(output.stderr).toContain('stopping at once');
    expect(attemptsOf(root)).toHaveLength(1);
    upload.wire.destroy();
  });
});

it('a stopping service tells its probes apart: alive, but not ready', async () => {
  const root = temporaryRoot();
  const { url, stop } = await start(root);
  const upload = await halfAnUpload(root, url, ID);
  const ended = stop();
  await sleep(300);
  // Behind the upload on its own connection: there is no other way in any more.
  await upload.wire.send(
    Buffer.concat([upload.rest, Buffer.from(head('GET', '/readyz') + head('GET', '/snapshots'))]),
  );
  expect((await upload.wire.answer())?.status).toBe(201);
  const ready = await upload.wire.answer();
  if (ready !== undefined) problemOf(ready, 'unavailable');
  expect(await upload.wire.closed()).toBe(true);
  expect((await ended).status).toBe(0);
  upload.wire.destroy();
});
