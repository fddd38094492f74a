/** Runs around all tests: a place for the one engine that they share, which the first that needs it starts. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    engineDirectory: string;
  }
}

export function setup(project: TestProject): () => void {
  const directory = fs.mkdtempSync(join(tmpdir(), 'engine-'));
  project.provide('engineDirectory', directory);
  return () => {
    spawnSync(new URL('ceph.sh', import.meta.url).pathname, ['stop', directory], { stdio: 'ignore' });
    fs.rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  };
}
