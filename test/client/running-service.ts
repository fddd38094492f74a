/** The real service, in this process, on a loopback port or a unix socket of its own. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

import { SnapshotClient } from '../../src/client/index.ts';
import type { ClientOptions, PublishMetadata } from '../../src/client/index.ts';
import type { SettingInputs } from '../../src/config.ts';
import { appForTest } from '../support/service.ts';
import { metadataOf as plainMetadataOf } from '../support/stores.ts';

export interface RunningService {
  readonly url: string;
  readonly root: string;
}

export function temporaryDirectory(): string {
  const directory = fs.mkdtempSync(join(tmpdir(), 'snapshots-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Every answer is held against the OpenAPI document, whatever a proxy makes of it for the client. */
export async function startService(settings: SettingInputs = {}): Promise<RunningService> {
  const root = join(temporaryDirectory(), 'root');
  const { url } = await appForTest({ root, settings });
  return { url, root };
}

export function metadataOf(id: string, changes: Record<string, unknown> = {}): PublishMetadata {
  return plainMetadataOf(id, changes) as PublishMetadata;
}

/** Tries again at once, so that tests do not wait. */
export const IMPATIENT = { attempts: 3, minDelayMs: 1, maxDelayMs: 2 };

export function clientOf(options: string | ClientOptions): SnapshotClient {
  const given = typeof options === 'string' ? { baseUrl: options } : options;
  const client = new SnapshotClient({ retry: IMPATIENT, ...given });
  onTestFinished(() => client.close());
  return client;
}

/** Flips one bit in the middle of a stored file. */
export function corrupt(path: string): void {
  const bytes = fs.readFileSync(path);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  fs.chmodSync(path, 0o644);
  fs.writeFileSync(path, bytes);
}
