// Writes docs/page.png: the store in light and a difference in dark, from a real store and the built service; run by `npm run picture`.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { runnerImport } from 'vite';
import { LocalSnapshotStore } from '../../dist/src/index.js';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const WINDOW = { width: 1040, height: 700 };

const root = mkdtempSync(join(tmpdir(), 'snapshots-'));
const { module: demo } = await runnerImport(at('test/support/demo-store.ts'));
const { module: example } = await runnerImport(at('test/support/example.ts'));
const store = new LocalSnapshotStore(root, { declarations: example.declarations });
const { line } = await demo.fillDemo(store, root);
await store.close();

const service = spawn(
  process.execPath,
  [at('dist/src/cli/entry.cjs'), 'serve', '--root', root, '--port', '0'],
  {
    stdio: ['ignore', 'pipe', 'ignore'],
  },
);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const url = await new Promise((resolve) => {
    service.stdout.on('data', (text) => resolve(/(http\S+)/u.exec(String(text))?.[1]));
  });
  const pictures = [];
  for (const [hash, colorScheme] of [
    ['#/', 'light'],
    [`#/snapshots/${line[4]}/compare/${line[5]}?key=ids`, 'dark'],
  ]) {
    const page = await browser.newPage({ viewport: WINDOW, colorScheme, locale: 'en-GB', timezoneId: 'UTC' });
    await page.goto(`${url}/${hash}`);
    await page.waitForLoadState('networkidle');
    await page.locator('.loading').waitFor({ state: 'detached' });
    pictures.push((await page.screenshot()).toString('base64'));
  }
  const sheet = await browser.newPage({ viewport: { width: 2 * WINDOW.width, height: WINDOW.height } });
  await sheet.setContent(
    `<body style="margin:0;display:flex">${pictures.map((png) => `<img src="data:image/png;base64,${png}">`).join('')}`,
  );
  await sheet.locator('img').last().waitFor();
  await sheet.screenshot({ path: at('docs/page.png') });
} finally {
  await browser.close();
  service.kill();
  rmSync(root, { recursive: true, force: true });
}
