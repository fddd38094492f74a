/** Time: steady is never too slow, silence is never waited for, and a lost answer can be found. */
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import type { FileSystem } from '../../src/store/file-system.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { bodyOf } from '../http/multipart-support.ts';
import { ask, jsonOf, problemOf } from '../support/http.ts';
import { appForTest, startServer } from '../support/service.ts';
import { attemptsOf, idOf, metadataOf, packagePath, pattern, temporaryRoot } from '../support/stores.ts';
import { bytesOf, EXAMPLE_ARRAYS, MULTIPART, publish } from '../support/uploads.ts';
import { descriptorsOf, eventually, exchange, head, sleep, Wire } from '../support/wire.ts';

const MIB = 1024 * 1024;
const ID = idOf(1);
const ONE_SECOND = { idleSeconds: 1 };

function uploadOf(id: string, payload: Uint8Array = Buffer.from([1, 2, 3])): Buffer {
  const metadata = JSON.stringify({ snapshot: metadataOf(id), arrays: { ids: { dtype: 'uint8' } } });
  return bodyOf([
    { name: 'metadata', payload: metadata },
    { name: 'ids', payload: Buffer.from(payload) },
  ]);
}

function announced(length: number, more: readonly string[] = []): string {
  return head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`, `Content-Length: ${length}`, ...more]);
}

describe('an upload', () => {
  it('that trickles for several idle limits is published', async () => {
    const { url, root } = await appForTest({ settings: ONE_SECOND });
    const body = uploadOf(ID);
    const wire = await Wire.open(url);
    await wire.send(announced(body.length));
    const pieces = 12;
    for (let piece = 0; piece < pieces; piece += 1) {
      const size = Math.ceil(body.length / pieces);
      await wire.send(body.subarray(piece * size, (piece + 1) * size));
      await sleep(400);
    }
    expect((await wire.answer())?.status).toBe(201);
    expect(fs.readFileSync(packagePath(root, ID, 'array-ids.bin'))).toEqual(Buffer.from([1, 2, 3]));
    wire.destroy();
  });

  it.each([
    ['before its body', 0],
    ['in its metadata', 300],
    ['in its payload', -40],
    ['before its last byte', -1],
  ])('that stalls %s ends in 408 with its attempt kept', async (_what, at) => {
    const { url, root } = await appForTest({ settings: ONE_SECOND });
    const body = uploadOf(ID);
    const wire = await Wire.open(url);
    await wire.send(
      Buffer.concat([Buffer.from(announced(body.length)), body.subarray(0, at < 0 ? body.length + at : at)]),
    );
    const started = Date.now();
    const problem = problemOf((await wire.answer(6_000))!, 'upload_stalled');
    expect(Date.now() - started).toBeGreaterThan(900);
    expect(await wire.closed()).toBe(true);
    wire.destroy();
    if (at >= 0) {
      expect(attemptsOf(root)).toEqual([]);
    } else {
      expect(`staging/${attemptsOf(root).join()}`).toBe(problem.attempt);
      expect(fs.existsSync(join(root, problem.attempt, 'intent.json'))).toBe(true);
    }
    expect(fs.existsSync(packagePath(root, ID))).toBe(false);
    expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
  });

  it('that only waits for its disk is not taken for stalled', async () => {
    const { url } = await appForTest({
      settings: ONE_SECOND,
      store: {
        fileSystem: {
          ...nodeFileSystem,
          sync: async (...given: Parameters<FileSystem['sync']>) => {
            await sleep(2_500);
            return nodeFileSystem.sync(...given);
          },
        },
      },
    });
    expect((await publish(url, ID, EXAMPLE_ARRAYS)).status).toBe(201);
  });
});

describe('a connection', () => {
  it('that says nothing, or dribbles its headers, is closed in bounded time', async () => {
    const { url } = await appForTest({ settings: ONE_SECOND });
    const silent = await Wire.open(url);
    const dribbling = await Wire.open(url);
    const lines = head('GET', '/snapshots', ['X-Padding: '.padEnd(400, 'x')]);
    const started = Date.now();
    for (const character of lines) {
      if (dribbling.ended || Date.now() - started > 8_000) break;
      await dribbling.send(character);
      await sleep(50);
    }
    problemOf((await dribbling.answer())!, 'upload_stalled');
    expect(await dribbling.closed()).toBe(true);
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(await silent.closed()).toBe(true);
    silent.destroy();
    dribbling.destroy();
  });

  it('of two hundred that are parked in every state does not hurt the others', async () => {
    const { url, app } = await appForTest();
    const bytes = Buffer.from(pattern(6 * MIB));
    expect((await publish(url, ID, { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    const parked: Wire[] = [];
    for (let number = 0; number < 200; number += 1) {
      const wire = await Wire.open(url);
      parked.push(wire);
      const kind = number % 5;
      if (kind === 1) await wire.send('GET /snap');
      // Uploads hold one of the 64 places each; here they are 40.
      if (kind === 2) await wire.send(announced(10_000));
      if (kind === 3) {
        wire.socket.pause();
        await wire.send(head('GET', `/snapshots/${ID}/array-big.bin`));
      }
      if (kind === 4) await exchangeOn(wire);
    }
    await eventually('the uploads are in', () => app.transfers.uploads === 40);
    const started = Date.now();
    for (let number = 0; number < 20; number += 1) {
      expect((await publish(url, idOf(100 + number), EXAMPLE_ARRAYS)).status).toBe(201);
      expect((await ask(url, `/snapshots/${ID}/array-big.bin`)).body.equals(bytes)).toBe(true);
    }
    expect(Date.now() - started).toBeLessThan(20_000);
    for (const wire of parked) wire.destroy();
  });
});

async function exchangeOn(wire: Wire): Promise<void> {
  await wire.send(head('GET', '/healthz'));
  expect((await wire.answer())?.status).toBe(200);
}

describe('a download', () => {
  it('that is read slowly goes on for longer than the idle limit, to its last byte', async () => {
    const { url } = await appForTest({ settings: ONE_SECOND });
    const bytes = Buffer.from(pattern(48 * MIB));
    expect((await publish(url, ID, { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    const wire = await Wire.open(url);
    wire.socket.pause();
    await wire.send(head('GET', `/snapshots/${ID}/array-big.bin`));
    for (let turn = 0; turn < 9; turn += 1) {
      await sleep(400);
      wire.socket.resume();
      const before = wire.receivedLength;
      while (wire.receivedLength < before + MIB && !wire.ended) await sleep(1);
      wire.socket.pause();
    }
    expect(wire.receivedLength).toBeLessThan(bytes.length);
    wire.socket.resume();
    expect((await wire.answer(10_000))?.body.equals(bytes)).toBe(true);
    wire.destroy();
  });

  it('that nobody reads is cut after the idle limit, and its descriptors are released', async () => {
    const root = temporaryRoot();
    const { url, pid } = await startServer(root, ['--idle-seconds', '1', '--log-level', 'error']);
    const bytes = Buffer.from(pattern(24 * MIB));
    expect((await publish(url, ID, { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    await ask(url, `/snapshots/${ID}/array-big.bin`);
    await sleep(200);
    const before = descriptorsOf(pid);
    const wires = await Promise.all(
      [`array-big.bin`, 'array-big.npy', 'package.tar'].flatMap((file) =>
        [0, 1].map(async () => {
          const wire = await Wire.open(url);
          wire.socket.pause();
          await wire.send(head('GET', `/snapshots/${ID}/${file}`));
          return wire;
        }),
      ),
    );
    await sleep(200);
    expect(descriptorsOf(pid)).toBeGreaterThan(before);
    await eventually('every descriptor is closed', () => descriptorsOf(pid) <= before, 8_000);
    for (const wire of wires) {
      wire.socket.resume();
      await wire.closed();
      expect(wire.received.length).toBeLessThan(bytes.length);
      wire.destroy();
    }
  });

  it('of a listing that nobody reads is cut as well', async () => {
    const { url, root, app } = await appForTest({ settings: ONE_SECOND });
    for (let number = 0; number < 1500; number += 1) {
      fs.mkdirSync(join(root, 'staging', `${'x'.repeat(200)}-${number}`));
    }
    const wires = await Promise.all(
      [...Array(8).keys()].map(async () => {
        const wire = await Wire.open(url);
        wire.socket.pause();
        // Asked for often, so that the answers outgrow every buffer of the kernel.
        await wire.send(head('GET', '/incomplete').repeat(12));
        return wire;
      }),
    );
    await sleep(1_000);
    await eventually('every connection is closed', () => app.connections.size === 0, 12_000);
    for (const wire of wires) wire.destroy();
  });
});

describe('keep-alive', () => {
  it('that runs out just when a publish is sent gives one answer or none, and one snapshot or none', async () => {
    const { url, app, root } = await appForTest();
    app.server.server.keepAliveTimeout = 50;
    // Node waits a second longer than it says.
    const expiry = 1_050;
    let published = 0;
    const race = async (number: number): Promise<void> => {
      const id = idOf(1000 + number);
      const body = uploadOf(id);
      const wire = await Wire.open(url);
      await exchangeOn(wire);
      await sleep(expiry - 12 + number);
      await wire.send(Buffer.concat([Buffer.from(announced(body.length)), body]));
      const answer = await wire.answer();
      const exists = fs.existsSync(packagePath(root, id));
      if (answer === undefined) {
        // Without an answer nobody knows; publishing again tells.
        const again = await exchange(url, Buffer.concat([Buffer.from(announced(body.length)), body]));
        expect([201, 409]).toContain(again?.status);
      } else {
        expect(answer.status).toBe(201);
        expect(exists).toBe(true);
        expect(wire.received.length, 'one answer').toBe(0);
        published += 1;
      }
      wire.destroy();
    };
    await Promise.all([...Array(24).keys()].map(race));
    expect(published).toBeGreaterThan(0);
  });

  it('is longer than that of the usual clients, so that they close first', async () => {
    const { app } = await appForTest();
    expect(app.server.server.keepAliveTimeout).toBeGreaterThan(65_000);
  });
});

describe('a lost answer', () => {
  it('is recovered by publishing again: the refusal names the digest of the very manifest', async () => {
    const { url, root } = await appForTest();
    const body = uploadOf(ID);
    const wire = await Wire.open(url);
    await wire.send(Buffer.concat([Buffer.from(announced(body.length)), body]));
    await eventually('it is published', () => fs.existsSync(packagePath(root, ID)));
    wire.reset();
    const publishAgain = () => exchange(url, Buffer.concat([Buffer.from(announced(body.length)), body]));
    let again = await publishAgain();
    // The rename comes before the last syncs: until they end, the first publication is still under way.
    while (again !== undefined && jsonOf(again).code === 'publication_in_progress')
      again = await publishAgain();
    const problem = problemOf(again!, 'snapshot_exists');
    const manifest = await ask(url, `/snapshots/${ID}`);
    expect(`"${problem.manifest_sha256}"`).toBe(manifest.headers.etag);
    expect(jsonOf(manifest).arrays.ids.count).toBe('3');
    expect(problem.location).toBe(`/snapshots/${ID}`);
    expect((await ask(url, problem.location)).status).toBe(200);
    expect(
      bytesOf(Buffer.from([1, 2, 3])).equals((await ask(url, `${problem.location}/array-ids.bin`)).body),
    ).toBe(true);
  });
});
