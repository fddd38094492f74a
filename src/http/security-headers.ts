/** Headers that keep a browser from making anything of an answer but what it is. */
import type { FastifyInstance, FastifyReply } from 'fastify';

export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

export function registerSecurityHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', (_request, reply, done) => {
    addSecurityHeaders(reply);
    done();
  });
}

export function addSecurityHeaders(reply: FastifyReply): void {
  void reply.headers(SECURITY_HEADERS);
}
