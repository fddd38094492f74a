/** Probes and metrics. */
import type { Resource } from '../operation.ts';

export const operatingResources: readonly Resource[] = [
  {
    path: '/healthz',
    get: {
      id: 'isAlive',
      tag: 'operating',
      summary: 'Tell whether the process answers',
      description: 'Looks at nothing: whoever gets it knows that the process takes requests.',
      probe: true,
      successes: [
        {
          status: 200,
          description: 'It does',
          content: {
            mediaType: 'application/json',
            schema: 'Alive',
            examples: { alive: { value: { status: 'alive' } } },
          },
        },
      ],
      refusals: [],
    },
  },
  {
    path: '/readyz',
    get: {
      id: 'isReady',
      tag: 'operating',
      summary: 'Tell whether requests can be served',
      description:
        'The root can be written, the disk has room, and the service is not stopping. Reads no payload.',
      probe: true,
      successes: [
        {
          status: 200,
          description: 'They can',
          content: {
            mediaType: 'application/json',
            schema: 'Ready',
            examples: { ready: { value: { status: 'ready', read_only: false } } },
          },
        },
      ],
      refusals: ['unavailable'],
    },
  },
  {
    path: '/metrics',
    get: {
      id: 'getMetrics',
      tag: 'operating',
      summary: 'Read counters and gauges',
      description:
        'Requests, publications, bytes, proofs and the disk, in the text format that Prometheus scrapes.',
      successes: [
        {
          status: 200,
          description: "Prometheus' text format",
          content: { mediaType: 'text/plain; version=0.0.4; charset=utf-8', schema: { type: 'string' } },
        },
      ],
      refusals: [],
    },
  },
];
