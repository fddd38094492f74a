/** The one Node server under the framework: its time limits, and nothing answered behind the guards' backs. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { holdExpectations } from './request-body.ts';

const MAX_HEADER_SECONDS = 60;
/** Longer than what clients and proxies usually keep, so that they close first and no request meets a closing end. */
const KEEP_ALIVE_MS = 72_000;

/** Seconds in which the headers of a request must be there. */
export function headerSecondsOf(idleSeconds: number): number {
  return Math.min(idleSeconds, MAX_HEADER_SECONDS);
}

export function makeHttpServer(listener: RequestListener, idleSeconds: number): Server {
  const headersTimeout = headerSecondsOf(idleSeconds) * 1000;
  const server = createServer(
    {
      headersTimeout,
      connectionsCheckingInterval: Math.min(headersTimeout / 2, 15_000),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Uploads and downloads take as long as they take; their idle time is bounded where they run.
      requestTimeout: 0,
      // A missing Host is refused by the guard, like every other wrong one.
      requireHostHeader: false,
    },
    listener,
  );
  holdExpectations(server);
  return server;
}
