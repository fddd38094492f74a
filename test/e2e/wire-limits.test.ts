/** Limits that keep one client from costing all others theirs (issue item 10). */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';

import { problemOf } from '../support/http.ts';
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
