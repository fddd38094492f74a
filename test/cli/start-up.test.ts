/** What the command loads: nothing that its sub-command does not use, counted in files. */
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startApp } from '../support/service.ts';
import { temporaryRoot } from '../support/stores.ts';
import { run } from './command.ts';

/** Files loaded by one run: how many of each package, and of the project itself under ''. */
async function loadedBy(words: readonly string[]): Promise<Record<string, number>> {
  const folder = temporaryRoot();
  const { code } = await run(words, { env: { NODE_V8_COVERAGE: folder } });
  expect(code, words.join(' ')).toBe(0);
  const counts: Record<string, number> = {};
  for (const name of fs.readdirSync(folder)) {
    const { result } = JSON.parse(fs.readFileSync(`${folder}/${name}`, 'utf8'));
    for (const { url } of result) {
      if (!url.startsWith('file:')) continue;
      const owner = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/u.exec(fileURLToPath(url))?.[1] ?? '';
      counts[owner] = (counts[owner] ?? 0) + 1;
    }
  }
  return counts;
}

test.each([
  [['--version']],
  [['--help']],
  [['ls', '--help']],
  [['publish', '--help']],
  [['complete', 'pipewhy-snapshots verify ']],
])('to answer %j: the parser of the line and little else', async (words) => {
  const { '': own, ...packages } = await loadedBy(words);
  expect(Object.keys(packages)).toEqual(['commander']);
  expect(own).toBeLessThan(35);
});

test('to print the completion: what knows the words of all flags, and no client', async () => {
  expect(Object.keys(await loadedBy(['completion', 'bash'])).sort()).toEqual(['', 'commander', 'zod']);
});

test('to ask a service: of its HTTP client only what a request needs, and nothing of the server', async () => {
  const { url, close } = await startApp();
  try {
    for (const words of [['ls'], ['contexts'], ['incomplete']]) {
      const { '': own, undici, ...packages } = await loadedBy([...words, '--url', url]);
      expect(Object.keys(packages).sort()).toEqual(['commander', 'structured-headers']);
      expect(undici).toBeLessThan(40);
      expect(own).toBeLessThan(60);
    }
  } finally {
    await close();
  }
});
