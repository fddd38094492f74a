/** JSON under its exact media type. */
import type { FastifyReply } from 'fastify';
import { inertJson } from './inert-text.ts';

/** Sends bytes: to JSON that is sent as text, Fastify adds a charset, a parameter that JSON does not have (RFC 8259, 11). */
export function sendJson(reply: FastifyReply, value: unknown, mediaType = 'application/json'): FastifyReply {
  return reply.header('content-type', mediaType).send(Buffer.from(inertJson(JSON.stringify(value))));
}
