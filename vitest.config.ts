import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Campaigns take minutes to hours and have commands of their own.
    exclude: [...configDefaults.exclude, 'test/campaigns/**'],
    globalSetup: ['test/support/engine-setup.ts'],
    // Of the engine that the tests start; whoever runs them has no say in it.
    env: { AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'SK', AWS_EC2_METADATA_DISABLED: 'true' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // No test leaves anything in a module: the files of a worker share what they load.
    isolate: false,
    // One more than there are cores: some tests wait for limits of time to pass.
    maxWorkers: availableParallelism() + 1,
    coverage: { provider: 'v8', include: ['src/**', 'routes/**'] },
  },
});
