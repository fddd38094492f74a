/** Who sends or takes too slowly loses the connection, and who is merely slow does not. */
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';

import { Connections, type Exchange, type ExchangeEnd } from '../../src/http/connections.ts';
import { watchPace, type UploadPace } from '../../src/http/request-body.ts';
import { eventually, head, sleep, Wire } from '../support/wire.ts';

const opened: { close: () => void }[] = [];
afterEach(() => {
  for (const { close } of opened.splice(0)) close();
});

/** A server that does with each request what it is told, and keeps how each ended. */
async function serve(handle: (exchange: Exchange) => void) {
  const ends: ExchangeEnd[] = [];
  const connections = new Connections((request, response) => {
    const exchange = connections.exchangeOf(request, response);
    exchange.whenOver((end) => ends.push(end));
    handle(exchange);
  }, 60);
  await new Promise<void>((resolve) => connections.server.listen(0, '127.0.0.1', resolve));
  opened.push({
    close: () => {
      connections.server.closeAllConnections();
      connections.server.close();
    },
  });
  const { port } = connections.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, ends, connections };
}

const CHUNKED = head('POST', '/', ['Transfer-Encoding: chunked']);
const byte = '1\r\na\r\n';

describe('an upload', () => {
  const pace: UploadPace = { idleMs: 400, minBytesPerSecond: 1000, windowMs: 200 };

  it('that drips is ended, although something arrives all the time', async () => {
    let reason: unknown;
    const { url } = await serve((exchange) => {
      exchange.request.resume();
      watchPace(exchange, pace);
      exchange.signal.addEventListener('abort', () => (reason ??= exchange.signal.reason));
    });
    const wire = await Wire.open(url);
    await wire.send(CHUNKED);
    for (let sent = 0; sent < 100 && reason === undefined; sent += 1) {
      await wire.send(byte);
      await sleep(20);
    }
    expect(reason).toMatchObject({ code: 'upload_stalled', message: expect.stringContaining('fewer than') });
    wire.destroy();
  });

  it('that is steady above the least pace goes on, window after window', async () => {
    let aborted = false;
    const { url } = await serve((exchange) => {
      exchange.request.resume();
      watchPace(exchange, pace);
      exchange.signal.addEventListener('abort', () => (aborted = true));
    });
    const wire = await Wire.open(url);
    await wire.send(CHUNKED);
    const piece = `400\r\n${'a'.repeat(1024)}\r\n`;
    for (let sent = 0; sent < 60; sent += 1) {
      await wire.send(piece);
      await sleep(20);
    }
    expect(aborted).toBe(false);
    wire.destroy();
  });

  it('whose sender is asked to wait is not judged', async () => {
    let aborted = false;
    const { url } = await serve((exchange) => {
      exchange.request.pause();
      watchPace(exchange, pace);
      exchange.signal.addEventListener('abort', () => (aborted = true));
    });
    const wire = await Wire.open(url);
    await wire.send(`${CHUNKED}${byte}`);
    await sleep(1_000);
    expect(aborted).toBe(false);
    wire.destroy();
  });
});

describe('what a request holds', () => {
  it('ends with its socket, also where its answer was not begun', async () => {
    const reasons: unknown[] = [];
    const { url, ends, connections } = await serve((exchange) => {
      exchange.signal.addEventListener('abort', () => reasons.push(exchange.signal.reason));
    });
    const wire = await Wire.open(url);
    await wire.send(head('GET', '/').repeat(5));
    await eventually('it is served', () => connections.size === 1);
    wire.destroy();
    await eventually('it has ended', () => ends.length === 1 && connections.size === 0);
    expect(ends[0]).toMatchObject({ status: null, ended: 'client left' });
    expect(reasons).toHaveLength(1);
  });

  it('is told apart: answered, left by the client, cut by the service and why', async () => {
    const { url, ends } = await serve((exchange) => {
      if (exchange.request.url === '/cut') exchange.cut('its reader took nothing for 1 seconds');
      else if (exchange.request.url === '/answered') exchange.response.end('x');
    });
    for (const path of ['/answered', '/cut', '/left']) {
      const wire = await Wire.open(url);
      await wire.send(head('GET', path));
      await sleep(50);
      wire.destroy();
    }
    await eventually('all have ended', () => ends.length === 3);
    expect(ends.map(({ ended, reason }) => [ended, reason])).toEqual([
      ['answered', undefined],
      ['cut by the service', 'its reader took nothing for 1 seconds'],
      ['client left', undefined],
    ]);
  });

  it('of an upload that its sender cut is not called answered', async () => {
    const { url, ends } = await serve((exchange) => {
      exchange.signal.addEventListener('abort', () => {
        exchange.response.statusCode = 400;
        exchange.response.end('cut');
      });
      exchange.request.on('error', () => undefined).resume();
      const { connection } = exchange;
      connection?.socket.once('end', () => {
        exchange.breakBody();
      });
    });
    const wire = await Wire.open(url);
    await wire.send(`${head('POST', '/', ['Content-Length: 10'])}abc`);
    await sleep(50);
    wire.socket.end();
    await eventually('it has ended', () => ends.length === 1);
    expect(ends[0]?.ended).toBe('client left');
    wire.destroy();
  });
});
