/** GET /problems and /problems/:code: what the `type` of a problem document leads to. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { SnapshotError } from '../src/contract/errors.ts';
import { HTML_MEDIA_TYPE, PAGE_POLICY, problemIndex, problemPage } from '../src/http/problem-pages.ts';
import { z } from 'zod';
import { operation, PAGE } from '../src/http/openapi/operation.ts';
import { isErrorCode } from '../src/contract/problems.ts';
import type { ServiceContext } from '../src/http/service-context.ts';

const indexSchema = operation({
  tags: ['documentation'],
  operationId: 'listProblems',
  summary: 'Read about all problem codes',
  description: 'One line for each, with its status.',
  successes: [PAGE],
  refusals: [],
});

const pageSchema = operation({
  tags: ['documentation'],
  operationId: 'getProblem',
  summary: 'Read about a problem code',
  description: 'The type of every problem document leads here.',
  params: z.object({
    code: z.string().meta({
      description: 'The code of a problem document',
      pattern: '^[a-z_]+$',
      examples: ['snapshot_exists'],
    }),
  }),
  successes: [PAGE],
  refusals: ['not_found'],
});

export function problemRoutes(app: FastifyInstance, { config }: ServiceContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/problems',
    schema: indexSchema,
    handler: (_request, reply) => sendPage(reply, problemIndex(config.basePath)),
  });
  app.route<{ Params: { code: string } }>({
    method: ['GET', 'HEAD'],
    url: '/problems/:code',
    schema: pageSchema,
    handler: (request, reply) => {
      const { code } = request.params;
      if (isErrorCode(code)) return sendPage(reply, problemPage(code, config.basePath));
      throw new SnapshotError(
        'not_found',
        `No problem has the code ${JSON.stringify(code.slice(0, 80))}; ${config.basePath}/problems lists them.`,
        {},
      );
    },
  });
}

function sendPage(reply: FastifyReply, page: Buffer): FastifyReply {
  return reply
    .header('content-security-policy', PAGE_POLICY)
    .header('content-type', HTML_MEDIA_TYPE)
    .send(page);
}
