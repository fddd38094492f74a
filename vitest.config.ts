import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Campaigns take minutes to hours and have commands of their own.
    exclude: [...configDefaults.exclude, 'test/campaigns/**'],
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
