import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Campaigns take minutes to hours and have commands of their own.
    exclude: [...configDefaults.exclude, 'test/campaigns/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: { provider: 'v8', include: ['src/**', 'routes/**'] },
  },
});
