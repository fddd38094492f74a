/** Bundles the page of the service, `src/page`, into files of fixed names that the service keeps in memory. */
import { defineConfig } from 'vite';

export default defineConfig({
  root: 'src/page',
  base: './',
  publicDir: false,
  build: {
    outDir: '../../dist/page',
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page lets no data: URL in, and old browsers are no aim.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: { entryFileNames: 'page/app.js', assetFileNames: 'page/[name][extname]' },
    },
  },
});
