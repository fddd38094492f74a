/** Stands between client and service and drops, delays, cuts or changes what passes, request by request. */
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sends the request on, whole, and gives the service's whole answer; the client still waits. */
  forward(changes?: Partial<Forwarded>): Promise<Received>;
  /** Gives an answer to the client as if it were the service's. */
  answer(received: Received): void;
  /** Ends the connection with a reset, without an answer. */
  reset(): void;
}

interface Forwarded {
  readonly body: Buffer;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export type Fault = (exchange: Exchange) => Promise<void> | void;

export interface FaultyProxy {
  readonly url: string;
  /** `GET /snapshots/…`, in the order they came. */
  readonly requests: readonly string[];
  /** The Range header of each of them. */
  readonly ranges: readonly (string | null)[];
  /** The If-Range header of each of them. */
  readonly conditions: readonly (string | null)[];
}

/** The n-th request meets the n-th fault; requests after the last one pass untouched. */
export async function faultyProxy(target: string, faults: readonly Fault[]): Promise<FaultyProxy> {
  const requests: string[] = [];
  const ranges: (string | null)[] = [];
  const conditions: (string | null)[] = [];
  const server = http.createServer((request, response) => {
    const fault = faults[requests.length] ?? passOn;
    requests.push(`${request.method} ${request.url}`);
    ranges.push(request.headers.range ?? null);
    conditions.push(request.headersDistinct['if-range']?.[0] ?? null);
    const { socket } = request;
    const exchange: Exchange = {
      request,
      response,
      forward: (changes = {}) => forward(target, request, changes),
      answer: (received) => {
        response.writeHead(received.status, withoutUndefined(received.headers));
        response.end(received.body);
      },
      // `request.socket` is gone once the request was left in the middle.
      reset: () => socket.resetAndDestroy(),
    };
    // A fault that fails is a fault of the test: the client sees a reset, and the error is printed.
    Promise.resolve(fault(exchange)).catch((error: unknown) => {
      console.error(error);
      socket.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, ranges, conditions };
}

export const passOn: Fault = async (exchange) => exchange.answer(await exchange.forward());

/** The service does everything, and its answer never arrives. */
export const loseAnswer: Fault = async (exchange) => {
  await exchange.forward();
  exchange.reset();
};

/** The connection breaks after so many bytes of the request; the service never hears of it. */
export const resetAfterBytes =
  (count: number): Fault =>
  async ({ request, reset }) => {
    let seen = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      seen += chunk.length;
      if (seen >= count) break;
    }
    reset();
  };

/** The answer's head and its first bytes arrive, then the connection breaks. */
export const cutAnswer =
  (count: number): Fault =>
  async (exchange) => {
    const { status, headers, body } = await exchange.forward();
    exchange.response.writeHead(status, withoutUndefined(headers));
    exchange.response.write(body.subarray(0, count), () => setTimeout(exchange.reset, 20));
  };

/** The answer arrives changed. */
export const changeAnswer =
  (change: (received: Received) => Partial<Received>): Fault =>
  async (exchange) => {
    const received = await exchange.forward();
    exchange.answer({ ...received, ...change(received) });
  };

export const flipByte = (body: Buffer, at = body.length >> 1): Buffer => {
  const copy = Buffer.from(body);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
};

export const problem =
  (status: number, code: string, members: object = {}, headers: Record<string, string> = {}): Fault =>
  async ({ request, answer }) => {
    for await (const _ of request);
    const document = { type: `/problems/${code}`, title: code, status, detail: `${code}.`, code, ...members };
    const body = Buffer.from(JSON.stringify(document));
    answer({ status, headers: { 'content-type': 'application/problem+json', ...headers }, body });
  };

async function forward(
  target: string,
  request: IncomingMessage,
  { body }: Partial<Forwarded>,
): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const payload = body ?? Buffer.concat(chunks);
  const { host: _host, connection: _connection, 'transfer-encoding': _coding, ...headers } = request.headers;
  if (payload.length > 0) headers['content-length'] = String(payload.length);
  return new Promise((resolve, reject) => {
    const upstream = http.request(target + (request.url ?? ''), { method: request.method ?? 'GET', headers });
    upstream.on('error', reject);
    upstream.on('response', (answer) => {
      const received: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => received.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const { connection: _c, 'keep-alive': _k, ...rest } = answer.headers;
        resolve({
          status: answer.statusCode ?? 0,
          headers: rest as Record<string, string>,
          body: Buffer.concat(received),
        });
      });
    });
    upstream.end(payload);
  });
}

function withoutUndefined(headers: Received['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
