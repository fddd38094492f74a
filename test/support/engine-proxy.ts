/** Stands between a store and its engine, and cuts, delays, refuses, drops or changes what passes from a chosen request on. */
import http from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export const ENGINE_FAULTS = [
  'cut before it arrives',
  'answer dropped',
  'no answer',
  '503 SlowDown',
  'a bit of the answer flipped',
  'a bit of the request flipped',
  'answer truncated',
] as const;
export type EngineFault = (typeof ENGINE_FAULTS)[number];

export interface ArmedFault {
  readonly fault: EngineFault;
  /** Which request meets it, from 1 on. */
  readonly at: number;
  /** Whether all after it do too. */
  readonly stays: boolean;
}

/** Changes an answer of the engine on its way. */
export type Rewrite = (request: http.IncomingMessage, status: number) => number;

export class EngineProxy {
  readonly url: string;
  readonly #server: http.Server;
  readonly #target: URL;
  #armed: ArmedFault | null = null;
  #rewrite: Rewrite = (_, status) => status;
  #seen = 0;

  private constructor(server: http.Server, target: string) {
    this.#server = server;
    this.#target = new URL(target);
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      this.#pass(request, response).catch(() => {
        request.socket.destroy();
      });
    });
  }

  static async before(target: string): Promise<EngineProxy> {
    const server = http.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new EngineProxy(server, target);
  }

  /** Counts requests anew. */
  arm(armed: ArmedFault | null): void {
    this.#armed = armed;
    this.#seen = 0;
  }

  rewrite(rewrite: Rewrite): void {
    this.#rewrite = rewrite;
  }

  /** Since it was armed. */
  get requests(): number {
    return this.#seen;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    this.#seen += 1;
    const armed = this.#armed;
    const isHit = armed !== null && (armed.stays ? this.#seen >= armed.at : this.#seen === armed.at);
    const fault = isHit ? armed.fault : null;
    const { socket } = request;
    if (fault === 'cut before it arrives') {
      socket.resetAndDestroy();
      return;
    }
    const body = await bytesOf(request);
    if (fault === 'no answer') return;
    if (fault === '503 SlowDown') {
      response.writeHead(503, { 'content-type': 'application/xml' });
      response.end('<?xml version="1.0"?><Error><Code>SlowDown</Code></Error>');
      return;
    }
    const sent = fault === 'a bit of the request flipped' ? flipped(body) : body;
    const { status, headers, bytes } = await this.#forward(request, sent);
    if (fault === 'answer dropped') {
      socket.resetAndDestroy();
      return;
    }
    const answered = fault === 'a bit of the answer flipped' ? flipped(bytes) : bytes;
    const told = this.#rewrite(request, status);
    if (told !== status) {
      response.writeHead(told, { etag: '"0"', 'content-length': '0' }).end();
      return;
    }
    response.writeHead(status, headers);
    if (fault !== 'answer truncated') {
      response.end(answered);
      return;
    }
    response.write(answered.subarray(0, Math.floor(answered.length / 2)), () => socket.destroy());
  }

  async #forward(request: http.IncomingMessage, body: Buffer) {
    const { method, url: path, headers: given } = request;
    const outgoing = http.request({
      host: this.#target.hostname,
      port: this.#target.port,
      method,
      path,
      // Also Host: it is signed.
      headers: { ...given, connection: 'close' },
    });
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [http.IncomingMessage];
    const bytes = await bytesOf(incoming);
    const { 'transfer-encoding': _chunked, connection: _connection, ...headers } = incoming.headers;
    const length = method === 'HEAD' ? {} : { 'content-length': String(bytes.length) };
    return { status: incoming.statusCode ?? 0, headers: { ...headers, ...length }, bytes };
  }
}

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) copy[Math.floor(copy.length / 2)]! ^= 1;
  return copy;
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
