import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Campaigns take minutes to hours and have commands of their own.
    exclude: [...configDefaults.exclude, 'test/campaigns/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // No test leaves anything in a module: the files of a worker share what they load.
    isolate: false,
    // All cores: a worker mostly waits for a process, a socket or a disk.
    maxWorkers: '100%',
    coverage: { provider: 'v8', include: ['src/**', 'routes/**'] },
  },
});
