/** Limits that keep one client from costing all others theirs. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';

import { ask, problemOf } from '../support/http.ts';
import { appForTest, startServer } from '../support/service.ts';
import { idOf, metadataOf, temporaryRoot } from '../support/stores.ts';
import { EXAMPLE_ARRAYS, MULTIPART, post, publish } from '../support/uploads.ts';
import { eventually, head, Wire } from '../support/wire.ts';

const MIB = 1024 * 1024;

describe('uploads at once', () => {
  it('are bounded: 503 with Retry-After, and room again as soon as one ends, however it ends', async () => {
    const { url, app } = await appForTest({ settings: { maxUploads: 3 } });
    const lines = [`Content-Type: ${MULTIPART}`, 'Content-Length: 5000'];
    const wires = await Promise.all([0, 1, 2].map(() => Wire.open(url)));
    for (const wire of wires) await wire.send(head('POST', '/snapshots', lines));
    await eventually('three run', () => app.transfers.uploads === 3);
    for (let turn = 0; turn < 3; turn += 1) {
      const busy = await publish(url, idOf(1), EXAMPLE_ARRAYS);
      expect(problemOf(busy, 'unavailable').retry_after_seconds).toBeGreaterThan(0);
      expect(busy.headers['retry-after']).toMatch(/^[1-9]\d*$/u);
    }
    expect(app.transfers.uploads).toBe(3);
    wires[0]!.reset();
    await eventually('one has ended', () => app.transfers.uploads === 2);
    expect((await publish(url, idOf(1), EXAMPLE_ARRAYS)).status).toBe(201);
    wires[1]!.socket.end();
    expect((await wires[1]!.answer())?.status).toBe(400);
    await eventually('two have ended', () => app.transfers.uploads === 1);
    for (const wire of wires) wire.destroy();
    await eventually('all have ended', () => app.transfers.uploads === 0);
  });
});

describe('answers that nobody reads', () => {
  const scope = 's'.repeat(12 * MIB);

  it.each([
    ['a manifest', `/snapshots/${idOf(1)}`],
    ['an array', `/snapshots/${idOf(1)}/array-big.bin`],
    ['an archive', `/snapshots/${idOf(1)}/package.tar`],
    ['a page of a listing', '/snapshots?limit=5'],
  ] as const)(
    'hold a bounded amount together, then more are refused: %s',
    async (_what, path) => {
      const { url, app } = await appForTest({
        settings: { maxMetadataBytes: 16 * MIB, maxDownloadBytes: 13 * MIB },
      });
      const big = { dtype: 'uint8', bytes: Buffer.alloc(12 * MIB) };
      expect((await publish(url, idOf(1), { big }, { scope })).status).toBe(201);
      await eventually('nothing is held', () => app.transfers.downloadBytes === 0);
      const wires: Wire[] = [];
      for (let number = 0; number < 4; number += 1) {
        const wire = await Wire.open(url);
        wire.socket.pause();
        wires.push(wire);
        await wire.send(head('GET', path));
        await eventually('it is held or refused', () => app.transfers.downloads > 0);
      }
      const busy = await ask(url, path);
      const problem = problemOf(busy, 'unavailable');
      expect(problem.detail).toContain('Downloads hold');
      expect(busy.headers['retry-after']).toMatch(/^[1-9]\d*$/u);
      for (const name of [
        'etag',
        'repr-digest',
        'link',
        'content-disposition',
        'array-dtype',
        'accept-ranges',
      ]) {
        expect(busy.headers[name], name).toBeUndefined();
      }
      expect(app.transfers.downloadBytes).toBeLessThanOrEqual(13 * MIB);
      expect((await ask(url, '/healthz')).status).toBe(200);
      for (const wire of wires) wire.destroy();
      await eventually('all is given back', () => app.transfers.downloadBytes === 0);
      expect((await ask(url, path)).status).toBe(200);
    },
    30_000,
  );

  it('count also where each is small: arrays of one block, over and over', async () => {
    const { url, app } = await appForTest({ settings: { maxDownloadBytes: 3 * MIB } });
    await publish(url, idOf(1), { small: { dtype: 'uint8', bytes: Buffer.alloc(MIB) } });
    const path = `/snapshots/${idOf(1)}/array-small.bin`;
    const wires = await Promise.all([1, 2, 3].map(() => Wire.open(url)));
    for (const wire of wires) {
      wire.socket.pause();
      // More than the kernel takes for a connection that reads nothing.
      await wire.send(head('GET', path).repeat(60));
    }
    await eventually('as much is held as may be', () => app.transfers.downloadBytes === 3 * MIB, 10_000);
    problemOf(await ask(url, path), 'unavailable');
    for (const wire of wires) wire.destroy();
    await eventually('all is given back', () => app.transfers.downloadBytes === 0);
  });

  it('do not undo what was published: a publication is answered whatever they hold', async () => {
    const { url, app } = await appForTest({
      settings: { maxMetadataBytes: 16 * MIB, maxDownloadBytes: 13 * MIB },
    });
    expect((await publish(url, idOf(1), EXAMPLE_ARRAYS, { scope })).status).toBe(201);
    const wire = await Wire.open(url);
    wire.socket.pause();
    await wire.send(head('GET', `/snapshots/${idOf(1)}`));
    await eventually('one is held', () => app.transfers.downloads > 0);
    expect((await publish(url, idOf(2), EXAMPLE_ARRAYS, { scope })).status).toBe(201);
    wire.destroy();
  });

  it('are cut when they are taken more slowly than the least pace', async () => {
    const { url, logs } = await appForTest({
      settings: { maxMetadataBytes: 16 * MIB, idleSeconds: 2, minBytesPerSecond: 1024 * MIB },
    });
    expect((await publish(url, idOf(1), EXAMPLE_ARRAYS, { scope })).status).toBe(201);
    const wire = await Wire.open(url);
    wire.socket.pause();
    await wire.send(head('GET', `/snapshots/${idOf(1)}`));
    // Something is taken again and again, so that the connection is never idle.
    const reader = setInterval(() => wire.socket.read(64 * 1024), 200);
    await eventually(
      'it is cut',
      () => logs.some(({ reason }) => String(reason).startsWith('its reader took less than')),
      10_000,
    );
    clearInterval(reader);
    expect(logs.find(({ reason }) => reason !== undefined)).toMatchObject({ ended: 'cut by the service' });
    wire.destroy();
  }, 20_000);
});

describe('a large metadata document', () => {
  const filled = (start: string, piece: string, end: string): Buffer =>
    Buffer.from(start + piece.repeat((3.5 * MIB) / piece.length) + end);

  it.each([
    ['numbers', filled('[', '1,', '1]')],
    ['empty objects', filled('[', '{},', '{}]')],
    [
      'short names',
      Buffer.from(`{${Array.from({ length: 300_000 }, (_, at) => `"${at.toString(36)}":1`).join()}}`),
    ],
  ])(
    'of nothing but %s is refused by a limit of its own before it is held as a whole',
    async (_what, bytes) => {
      const { url } = await appForTest({ settings: { maxMetadataBytes: 4 * 1024 * 1024 } });
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const problem = problemOf(await post(url, bytes, []), 'limit_exceeded');
      delay.disable();
      expect(problem.limit).toBe('metadata_values');
      // Even here, where one thread does everything, other requests get their turn soon.
      expect(delay.max / 1e6).toBeLessThan(1_000);
    },
  );

  it('that is legal is published: as many failure reasons as fit, as many arrays as may be', async () => {
    const { url } = await startServer(temporaryRoot(), ['--reserve-bytes', '0', '--log-level', 'error']);
    const snapshot = metadataOf(idOf(1), {
      coverage: {
        status: 'PARTIAL',
        expected_records: null,
        returned_records: '1',
        failure_reasons: Array<string>(200_000).fill('r'),
      },
    });
    // `constructor` is a key that is easily lost on the way between threads.
    const arrays = Object.fromEntries(
      ['constructor', 'tostring', ...Array.from({ length: 1022 }, (_, at) => `a${at}`)].map((key) => [
        key,
        { dtype: 'int8' },
      ]),
    );
    const parts = Object.keys(arrays).map((key) => ({ name: `array-${key}.bin`, payload: Buffer.from('x') }));
    const answer = await post(url, Buffer.from(JSON.stringify({ snapshot, arrays })), parts);
    expect(answer.status).toBe(201);
    const missing = await post(
      url,
      Buffer.from(JSON.stringify({ snapshot: { ...snapshot, snapshot_id: idOf(2) }, arrays })),
      parts.slice(1),
    );
    expect(problemOf(missing, 'array_mismatch').errors).toMatchObject([{ path: 'arrays.constructor' }]);
  });

  it('that is wrong far away from the event loop is refused in the same words', async () => {
    const { url } = await startServer(temporaryRoot(), ['--log-level', 'error']);
    const padding = ' '.repeat(200_000);
    const small = { snapshot: metadataOf(idOf(1), { resolution: 'row', scope: '' }), arrays: {} };
    const near = problemOf(await post(url, Buffer.from(JSON.stringify(small)), []), 'contract_violation');
    const far = problemOf(
      await post(url, Buffer.from(padding + JSON.stringify(small)), []),
      'contract_violation',
    );
    expect({ ...far, instance: '' }).toEqual({ ...near, instance: '' });
    const broken = problemOf(await post(url, Buffer.from(`${padding}{"a":1,"a":2}`), []), 'malformed_json');
    expect(broken.column).toBe(200_008);
  });
});
