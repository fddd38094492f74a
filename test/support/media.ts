/** What stores lie on, for tests that hold on each: a directory, and a prefix on a real engine. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

import { sha256Hex } from '../../src/contract/digest.ts';
import { S3SnapshotStore } from '../../src/s3/s3-snapshot-store.ts';
import type { SnapshotStore } from '../../src/store/snapshot-store.ts';
import { EngineRoot, NO_ENGINE } from './engine.ts';
import { serve, startApp, type AppOptions } from './service.ts';
import { declarations, packagePath } from './stores.ts';

/** A service, and its store's files past the store's own code. */
export interface Served {
  readonly url: string;
  readonly store: SnapshotStore;
  readonly close: () => Promise<void>;
  /** Names in the room of snapshots. */
  published(): Promise<string[]>;
  /** Files of a published package. */
  files(id: string): Promise<string[]>;
  read(id: string, file: string): Promise<Buffer>;
  write(id: string, file: string, bytes: Uint8Array): Promise<void>;
  remove(id: string, file: string): Promise<void>;
  /** Lays out a package, valid or not, as if it had been published. */
  layOut(id: string, files: ReadonlyMap<string, Uint8Array>): Promise<void>;
}

export interface Medium {
  readonly name: string;
  /** Why it cannot be tried here, or null. */
  readonly missing: string | null;
  start(options?: AppOptions): Promise<Served>;
}

const directory: Medium = {
  name: 'a directory',
  missing: null,
  async start(options) {
    const { root, url, store, close } = await startApp(options);
    const path = (id: string, file: string): string => packagePath(root, id, file);
    const done = <T>(value: T): Promise<T> => Promise.resolve(value);
    return {
      url,
      store,
      close,
      published: () => done(fs.readdirSync(join(root, 'snapshots')).sort()),
      files: (id) => done(fs.readdirSync(packagePath(root, id)).sort()),
      read: (id, file) => done(fs.readFileSync(path(id, file))),
      write: (id, file, bytes) => {
        if (file.includes('/')) fs.mkdirSync(join(path(id, file), '..'), { recursive: true });
        fs.writeFileSync(path(id, file), bytes);
        return done(undefined);
      },
      remove: (id, file) => {
        fs.rmSync(path(id, file));
        return done(undefined);
      },
      layOut: (id, files) => {
        fs.mkdirSync(packagePath(root, id));
        for (const [file, bytes] of files) fs.writeFileSync(path(id, file), bytes);
        return done(undefined);
      },
    };
  },
};

const engine: Medium = {
  name: NO_ENGINE === null ? 'an S3 engine' : `an S3 engine (not here: ${NO_ENGINE})`,
  missing: NO_ENGINE,
  async start({ settings = {}, store: options = {} } = {}) {
    const lying = await EngineRoot.make();
    const store = await S3SnapshotStore.open(lying.root, {
      declarations,
      environment: lying.environment,
      ...options,
    });
    const { url, close } = await serve(store, { ...settings, root: lying.root });
    const at = async (id: string, file: string): Promise<string> =>
      `packages/${await lying.attemptOf(id)}/${file}`;
    return {
      url,
      store,
      close: async () => {
        lying.close();
        await close();
      },
      published: async () => (await lying.names('snapshots/')).map((name) => name.slice('snapshots/'.length)),
      files: async (id) => {
        const under = await at(id, '');
        return (await lying.names(under)).map((name) => name.slice(under.length));
      },
      read: async (id, file) => lying.read(await at(id, file)),
      write: async (id, file, bytes) => lying.write(await at(id, file), bytes),
      remove: async (id, file) => lying.remove(await at(id, file)),
      layOut: async (id, files) => {
        const attempt = randomBytes(16).toString('hex');
        for (const [file, bytes] of files) await lying.write(`packages/${attempt}/${file}`, bytes);
        const manifest_sha256 = sha256Hex(files.get('manifest.json') ?? new Uint8Array());
        const commit = JSON.stringify({ attempt, manifest_sha256, snapshot_id: id });
        await lying.write(`snapshots/${id}`, Buffer.from(commit));
      },
    };
  },
};

/** For `describe.each`, with `describe.skipIf(missing)` inside. */
export const MEDIA: readonly Medium[] = [directory, engine];

/** A service for one test, closed with it. */
export async function servedForTest(medium: Medium, options?: AppOptions): Promise<Served> {
  const served = await medium.start(options);
  onTestFinished(served.close);
  return served;
}
