/** What there is beside snapshots: attempts and declarations. */
import { DECLARATIONS, INCOMPLETE } from '../examples.ts';
import type { Resource } from '../operation.ts';

export const storeResources: readonly Resource[] = [
  {
    path: '/incomplete',
    get: {
      id: 'listIncomplete',
      tag: 'store',
      summary: 'List attempts that are no snapshots',
      description:
        'Running publications and what failed ones left, judged and never changed. A VALIDATED attempt is no snapshot.',
      parameters: ['Limit', 'AfterAttempt'],
      successes: [
        {
          status: 200,
          description: 'A page of attempts',
          headers: ['Link'],
          content: {
            mediaType: 'application/json',
            schema: 'IncompleteListing',
            examples: { one: { value: INCOMPLETE } },
          },
        },
      ],
      refusals: ['storage_integrity'],
    },
  },
  {
    path: '/contexts',
    get: {
      id: 'getContexts',
      tag: 'store',
      summary: 'Read the fingerprint declarations in force',
      description: 'A publication names one of these contexts, with every field as it is declared here.',
      successes: [
        {
          status: 200,
          description: 'The declarations',
          content: {
            mediaType: 'application/json',
            schema: 'Declarations',
            examples: { shipped: { value: DECLARATIONS } },
          },
        },
      ],
      refusals: [],
    },
  },
];
