/** Two functions that examples/README.md has for its readers. */
const mutator = (name) => ({ path: 'dist/generated/readme/functions.ts', name, extension: '.js' });

export default {
  snapshots: {
    input: { target: '../../openapi/openapi.json' },
    output: {
      target: 'dist/generated/orval.ts',
      client: 'fetch',
      override: { mutator: mutator('send'), formData: mutator('form') },
    },
  },
};
