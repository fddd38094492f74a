/**
 * Takes one sync, read-back or check out of the store's code at a time and expects the tests named beside it to fail: what
 * they would not notice is not guarded. Works on a copy; nothing here is changed.
 *
 *     node test/campaigns/removed-guards.mjs [--only <text of a guard>]
 *
 * Exits 1 where a removal goes unnoticed or cannot be made any more.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { finish, flagsOf, summary } from './support.mjs';

const { only } = flagsOf({ only: '' });
const project = fileURLToPath(new URL('../..', import.meta.url));

const FAULTS = ['test/store/payload-sizes.test.ts', '-t', '1048577 bytes|131073 bytes'];
const POWER = ['test/store/power-cut.test.ts', '-t', 'one writer, two arrays|one payload of 1048577'];
const STREAM = ['test/store/streaming-reads.test.ts'];
const CORRUPT = ['test/store/corruption.test.ts', 'test/store/package-vectors.test.ts'];
const SHARED = ['test/store/shared-work.test.ts'];
const MEMORY = ['test/store/proof-memory.test.ts'];

/** What is removed, in which file, the text and what stands there instead, the tests that must notice. */
const GUARDS = [
  ['fsync of a small file', 'io', 'fs.sync(file)))', 'Promise.resolve()))', POWER],
  ['fsync of a large payload', 'payload-writer', 'await this.#context.fs.sync(file);', '', POWER],
  ['fsync of the attempt', 'publication', 'await fs.syncDirectory(this.#directory);', '', POWER],
  ['fsync of snapshots/', 'publication', 'directorySyncs.sync(layout.snapshots)', 'Promise.resolve()', POWER],
  ['fsync of staging/', 'publication', '[directorySyncs.sync(layout.staging)]', '[]', POWER],
  ['comparison of the read-back', 'payload-proof', '!read.equals(expected)', 'false', FAULTS],
  ['carrying on a short write', 'io', 'written += count;', 'written = bytes.length;', FAULTS],
  ['carrying on a short read', 'io', 'filled += count;\n  }', 'filled += count;\n    break;\n  }', FAULTS],
  ['checksum of a payload', 'package-checks', 'if (actual === claim.sha256) return;', 'return;', CORRUPT],
  ['length of a payload', 'package-checks', 'if (size !== expected)', 'if (false as boolean)', CORRUPT],
  ['state of a streamed block', 'payload-proof', '!sameStamp(fs.statOpen(file), stamp)', 'false', STREAM],
  ['code of a streamed block', 'payload-proof', 'mac !== null && !hasMac(bytes, mac)', 'false', STREAM],
  ['marker', 'package-checks', 'if (marker !== null) checkMarker(marker, manifestSha256);', '', CORRUPT],
  ['inventory', 'package-checks', "checkInventory(manifest, present, marker === null ? 'staged' : 'complete');", '', CORRUPT],
  ['intent', 'verification', 'if (hasIntent) checkIntent(readIntent(fs, request), request.snapshotId);', '', CORRUPT],
  ['identity', 'package-checks', 'checkIdentity(manifest, snapshotId);', '', CORRUPT],
  ['end of what nobody waits for', 'payload-proof', 'this.#signal?.throwIfAborted();', '', SHARED],
  ['sharing of proofs', 'proofs', 'this.#underWay.get(key) ??', 'null ??', SHARED],
  ['abort before the rename', 'publication', 'this.#signal?.throwIfAborted();', '', SHARED],
  ['age by a clock that goes forward', 'proof-memory', 'monotonic: performance.now()', 'monotonic: Date.now()', MEMORY],
]; // prettier-ignore

const copy = mkdtempSync(join(tmpdir(), 'guards-'));
const unnoticed = [];
let tried = 0;
try {
  for (const name of [
    'src',
    'routes',
    'test',
    'examples',
    'openapi',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
  ])
    cpSync(join(project, name), join(copy, name), { recursive: true });
  for (const name of ['node_modules', 'dist']) symlinkSync(join(project, name), join(copy, name));
  for (const [guard, module, text, instead, tests] of GUARDS) {
    if (!guard.includes(only)) continue;
    const file = join(copy, 'src/store', `${module}.ts`);
    const whole = readFileSync(file, 'utf8');
    if (!whole.includes(text)) {
      unnoticed.push(`${guard}: its text is not in ${module}.ts any more; mend this table`);
      continue;
    }
    tried += 1;
    writeFileSync(file, whole.replaceAll(text, instead));
    const vitest = join(project, 'node_modules/vitest/vitest.mjs');
    const { status } = spawnSync(process.execPath, [vitest, 'run', '--bail', '1', ...tests], { cwd: copy });
    writeFileSync(file, whole);
    if (status === 0) unnoticed.push(`${guard}: nothing noticed that it is gone`);
    else console.error(`  ${guard}: noticed`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
summary('one guard taken out', `${tried} guards, each noticed unless counted here`, unnoticed);
finish();
