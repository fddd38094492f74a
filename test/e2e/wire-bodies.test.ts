/** Bodies as no client would send them: cut, chopped, oddly framed, too long, two at once. */
import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { FileSystem } from '../../src/store/file-system.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { bodyOf, oddities } from '../http/multipart-support.ts';
import { jsonOf, problemOf } from '../support/http.ts';
import { appForTest, startApp, startServer, type RunningApp } from '../support/service.ts';
import { attemptsOf, idOf, metadataOf, packagePath, pattern, temporaryRoot } from '../support/stores.ts';
import { MULTIPART, publish } from '../support/uploads.ts';
import { chunked, descriptorsOf, eventually, exchange, head, sleep, Wire } from '../support/wire.ts';

const PAYLOAD = Buffer.from([...Array(40).keys(), 13, 10, 45, 45, 102, 114]);
const PARTS = { ids: PAYLOAD, none: Buffer.alloc(0) };

function documentOf(
  id: string,
  arrays: Record<string, unknown> = { ids: { dtype: 'uint8' }, none: { dtype: 'int16' } },
) {
  return JSON.stringify({ snapshot: metadataOf(id), arrays });
}

function uploadOf(id: string): Buffer {
  return bodyOf([
    { name: 'metadata', payload: documentOf(id) },
    ...Object.entries(PARTS).map(([name, payload]) => ({ name, payload })),
  ]);
}

function announced(length: number, more: readonly string[] = []): string {
  return head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`, `Content-Length: ${length}`, ...more]);
}

const CHUNKED = head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`, 'Transfer-Encoding: chunked']);

let running: RunningApp;
let next = 0;
let id: string;
beforeAll(async () => {
  running = await startApp();
});
afterAll(() => running.close());
beforeEach(() => {
  id = idOf((next += 1));
});

const isPublished = (): boolean => fs.existsSync(packagePath(running.root, id));

async function expectHealthy(url = running.url): Promise<void> {
  expect((await exchange(url, head('GET', '/incomplete')))?.status).toBe(200);
  expect((await exchange(url, head('GET', '/snapshots')))?.status).toBe(200);
}

describe('a body that is cut', () => {
  it.each(['announced', 'chunked'] as const)(
    'at any byte (%s) is never a snapshot, and is answered 400 where that is possible',
    async (framing) => {
      const framed = (own: string): Buffer =>
        framing === 'announced' ? uploadOf(own) : chunked(uploadOf(own), 61, 7, 300);
      const whole = framed(id);
      const published = fs.readdirSync(join(running.root, 'snapshots'));
      const start = framing === 'announced' ? announced(whole.length) : CHUNKED;
      // The last bytes of a chunked body end it: without its final CR LF it is cut as well.
      const cutAt = async (cut: number): Promise<void> => {
        const wire = await Wire.open(running.url);
        await wire.send(Buffer.concat([Buffer.from(start), framed(idOf(100_000 + cut)).subarray(0, cut)]));
        if (cut % 3 === 2) {
          wire.reset();
          return;
        }
        wire.socket.end();
        problemOf((await wire.answer())!, 'malformed_multipart');
        expect(await wire.closed()).toBe(true);
        wire.destroy();
      };
      // Chunks only wrap the same bytes, so there every fifth place will do.
      const places = [...whole.keys()].filter((cut) => framing === 'announced' || cut % 5 === 0);
      for (let at = 0; at < places.length; at += 16) {
        await Promise.all(places.slice(at, at + 16).map(cutAt));
      }
      await eventually('no upload is left running', () => running.app.transfers.uploads === 0);
      expect(fs.readdirSync(join(running.root, 'snapshots'))).toEqual(published);
      await expectHealthy();
      expect((await exchange(running.url, Buffer.concat([Buffer.from(start), whole])))?.status).toBe(201);
    },
  );

  it('keeps its attempt as evidence and names it', async () => {
    const body = uploadOf(id);
    const before = attemptsOf(running.root);
    const wire = await Wire.open(running.url);
    await wire.send(Buffer.concat([Buffer.from(announced(body.length)), body.subarray(0, body.length - 60)]));
    await eventually('an attempt is made', () => attemptsOf(running.root).length > before.length);
    wire.socket.end();
    const problem = problemOf((await wire.answer())!, 'malformed_multipart');
    expect(fs.existsSync(join(running.root, problem.attempt, 'intent.json'))).toBe(true);
    const listing = jsonOf((await exchange(running.url, head('GET', '/incomplete')))!);
    expect(listing.incomplete).toContainEqual(
      expect.objectContaining({ path: problem.attempt, snapshot_id: id, phase: 'STAGING' }),
    );
  });

  it('in its chunk framing is answered like one that is cut', async () => {
    const body = uploadOf(id);
    for (const broken of [
      'zz\r\nmore\r\n',
      '5\r\nmoretoomany\r\n',
      '\n\n\n',
      '-1\r\n',
      'fffffffffffffffff\r\n',
    ]) {
      const wire = await Wire.open(running.url);
      await wire.send(
        Buffer.concat([Buffer.from(CHUNKED), chunked(body, 100).subarray(0, 424), Buffer.from(broken)]),
      );
      const answer = await wire.answer();
      expect(answer?.status, JSON.stringify(broken)).toBe(400);
      expect(await wire.closed()).toBe(true);
      wire.destroy();
    }
    expect(isPublished()).toBe(false);
    await expectHealthy();
  });
});

describe('a body that is oddly framed', () => {
  it.each(oddities)('by %s publishes nothing', async (_what, odd) => {
    const document = documentOf(id, { ids: { dtype: 'uint8' } });
    const body = Buffer.from(odd.replace('\r\n\r\n{}\r\n', `\r\n\r\n${document}\r\n`), 'latin1');
    const answer = await exchange(running.url, Buffer.concat([Buffer.from(announced(body.length)), body]));
    problemOf(answer!, 'malformed_multipart');
    expect(isPublished()).toBe(false);
  });

  it('but allowed, or sent in chunks of any size, is stored to the byte', async () => {
    for (let size = 1; size <= 17; size += 1) {
      const own = idOf((next += 1));
      const request = Buffer.concat([Buffer.from(CHUNKED), chunked(uploadOf(own), size)]);
      expect((await exchange(running.url, request))?.status, `chunks of ${size}`).toBe(201);
      for (const [key, bytes] of Object.entries(PARTS)) {
        expect(fs.readFileSync(packagePath(running.root, own, `array-${key}.bin`))).toEqual(bytes);
      }
    }
    const extended = chunked(uploadOf(id), 50).toString('latin1').replaceAll('32\r\n', '32;name=value\r\n');
    const trailed = extended.replace(/0\r\n\r\n$/u, '0\r\nTrailer-Field: ignored\r\n\r\n');
    expect((await exchange(running.url, Buffer.from(CHUNKED + trailed, 'latin1')))?.status).toBe(201);
    expect(fs.readFileSync(packagePath(running.root, id, 'array-ids.bin'))).toEqual(PAYLOAD);
  });

  it('by being empty is refused, announced or chunked, and without any framing', async () => {
    for (const request of [
      announced(0),
      `${CHUNKED}0\r\n\r\n`,
      head('POST', '/snapshots', [`Content-Type: ${MULTIPART}`]),
    ]) {
      problemOf((await exchange(running.url, request))!, 'malformed_multipart');
    }
  });
});

describe('limits', () => {
  const settings = { maxMetadataBytes: 1000, maxArrays: 3, maxArrayBytes: 100, maxSnapshotBytes: 250 };
  interface Upload {
    readonly metadata: string;
    readonly arrays: readonly number[];
  }
  const padded = (length: number): string => documentOf(id, {}).padEnd(length, ' ');
  const arraysOf = (...lengths: number[]): Upload => ({
    metadata: documentOf(id, Object.fromEntries(lengths.map((_, at) => [`a${at}`, { dtype: 'uint8' }]))),
    arrays: lengths,
  });

  it.each<readonly [string, (step: number) => Upload]>([
    ['metadata_bytes', (step) => ({ metadata: padded(1000 + step), arrays: [] })],
    ['arrays', (step) => arraysOf(...Array<number>(3 + step).fill(1))],
    ['array_bytes', (step) => arraysOf(100 + step)],
    ['snapshot_bytes', (step) => arraysOf(100, 100, 50 + step)],
  ])('%s holds to the byte, announced and chunked', async (limit, make) => {
    const { url, root } = await appForTest({ settings });
    for (const step of [-1, 0, 1]) {
      for (const framing of ['announced', 'chunked'] as const) {
        id = idOf((next += 1));
        const { metadata, arrays } = make(step);
        const parts = arrays.map((length, at) => ({ name: `a${at}`, payload: Buffer.alloc(length, 1) }));
        const body = bodyOf([{ name: 'metadata', payload: metadata }, ...parts]);
        const request =
          framing === 'announced'
            ? Buffer.concat([Buffer.from(announced(body.length)), body])
            : Buffer.concat([Buffer.from(CHUNKED), chunked(body, 33)]);
        const answer = await exchange(url, request);
        expect(answer?.status, `${limit} ${step} ${framing}`).toBe(step === 1 ? 413 : 201);
        if (step === 1) expect(problemOf(answer!, 'limit_exceeded').limit).toBe(limit);
        expect(fs.existsSync(packagePath(root, id))).toBe(step !== 1);
      }
    }
  });

  it('are told by the announced length alone, before the body', async () => {
    const { url } = await appForTest({ settings });
    const wire = await Wire.open(url);
    await wire.send(announced(10_000_000, ['Expect: 100-continue']));
    expect(problemOf((await wire.answer())!, 'limit_exceeded').limit).toBe('snapshot_bytes');
    wire.destroy();
  });
});

describe('two publishes on one connection', () => {
  it('over a slow disk are both published and answered in their order', async () => {
    const slow = (): Promise<void> => sleep(15);
    const { url, root } = await appForTest({
      store: {
        fileSystem: {
          ...nodeFileSystem,
          write: async (...given: Parameters<FileSystem['write']>) => (
            await slow(),
            nodeFileSystem.write(...given)
          ),
          sync: async (...given: Parameters<FileSystem['sync']>) => (
            await slow(),
            nodeFileSystem.sync(...given)
          ),
          rename: async (...given: Parameters<FileSystem['rename']>) => (
            await slow(),
            nodeFileSystem.rename(...given)
          ),
        },
      },
    });
    const ids = [idOf(901), idOf(902), idOf(903)];
    const requests = ids.map((own) => {
      const body = uploadOf(own);
      return Buffer.concat([Buffer.from(announced(body.length)), body]);
    });
    const wire = await Wire.open(url);
    await wire.send(Buffer.concat(requests));
    for (const own of ids) {
      const answer = await wire.answer();
      expect(answer?.status).toBe(201);
      expect(jsonOf(answer!).snapshot.snapshot_id).toBe(own);
      expect(fs.readFileSync(packagePath(root, own, 'array-ids.bin'))).toEqual(PAYLOAD);
    }
    wire.destroy();
  });

  it('of which the first is refused midway are not mixed up', async () => {
    const other = idOf((next += 1));
    const bad = bodyOf([
      { name: 'metadata', payload: documentOf(id, { ids: { dtype: 'int64' } }) },
      { name: 'x', payload: pattern(300_000) as Buffer },
    ]);
    const good = uploadOf(other);
    const wire = await Wire.open(running.url);
    await wire.send(
      Buffer.concat([Buffer.from(announced(bad.length)), bad, Buffer.from(announced(good.length)), good]),
    );
    problemOf((await wire.answer())!, 'array_mismatch');
    const second = await wire.answer();
    expect(second?.status).toBe(201);
    expect(jsonOf(second!).snapshot.snapshot_id).toBe(other);
    expect(isPublished()).toBe(false);
    wire.destroy();
  });
});

describe('clients that go away', () => {
  it('while sending or receiving leave no descriptor behind', async () => {
    const { url, pid, stop } = await startServer(temporaryRoot(), [
      '--log-level',
      'error',
      '--reserve-bytes',
      '0',
    ]);
    const bytes = Buffer.from(pattern(6 * 1024 * 1024));
    expect((await publish(url, idOf(1), { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    const body = bodyOf([
      { name: 'metadata', payload: documentOf(idOf(2), { big: { dtype: 'uint8' } }) },
      { name: 'big', payload: bytes },
    ]);
    const round = async (turn: number): Promise<void> => {
      const upload = await Wire.open(url);
      await upload.send(
        Buffer.concat([Buffer.from(announced(body.length)), body.subarray(0, 2_000 + turn * 90_000)]),
      );
      const download = await Wire.open(url);
      await download.send(head('GET', `/snapshots/${idOf(1)}/array-big.bin`));
      await eventually('the download begins', () => download.receivedLength > 1000);
      for (const wire of [upload, download]) {
        if (turn % 2 === 0) wire.reset();
        else wire.destroy();
      }
    };
    await round(1);
    await sleep(300);
    const before = descriptorsOf(pid);
    for (let turn = 0; turn < 40; turn += 4)
      await Promise.all([0, 1, 2, 3].map((more) => round(turn + more)));
    await eventually('every descriptor is closed', () => descriptorsOf(pid) <= before);
    await expectHealthy(url);
    expect((await publish(url, idOf(3), { big: { dtype: 'uint8', bytes } })).status).toBe(201);
    expect((await stop()).status).toBe(0);
  });
});
