import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { IN_FLIGHT, type IncompleteAttempt } from '../../src/contract/listings.ts';
import type { FileSystem } from '../../src/store/file-system.ts';
import { nodeFileSystem } from '../../src/store/node-file-system.ts';
import { FaultFileSystem, systemError } from '../support/fault-file-system.ts';
import { DAMAGES, INTRUDERS, makeFifo } from '../support/package-damage.ts';
import {
  idOf,
  packagePath,
  publishExample,
  refusalOf,
  storeAt,
  temporaryStore,
  treeOf,
  type TestStore,
} from '../support/stores.ts';

const ID = idOf(1);
const NAME = 'a'.repeat(32);
const INTENT = `{"snapshot_id":"${ID}"}`;

/** A complete package in staging, as a publication leaves it that ended before its rename. */
async function stagedPackage(name = NAME): Promise<TestStore & { readonly attempt: string }> {
  const { root, store } = temporaryStore();
  await publishExample(store, ID);
  const attempt = join(root, 'staging', name);
  fs.renameSync(packagePath(root, ID), attempt);
  return { root, store, attempt };
}

async function inspected({ root }: { root: string }): Promise<IncompleteAttempt> {
  const fileSystem = new FaultFileSystem(root);
  const { incomplete, next } = await storeAt(root, { fileSystem }).inspectIncomplete();
  expect(next).toBeNull();
  expect(incomplete).toHaveLength(1);
  expect(fileSystem.open.size).toBe(0);
  const [attempt] = incomplete;
  expect(attempt!.diagnostic).not.toBe('');
  expect(attempt!.diagnostic).not.toContain(root);
  return attempt!;
}

describe('VALIDATED: a complete package that was not renamed', () => {
  test('with its id, its size and the time of its last change', async () => {
    const staged = await stagedPackage();
    const time = new Date('2030-01-02T03:04:05.000Z');
    fs.utimesSync(join(staged.attempt, 'array-ids.bin'), time, time);
    const sizes = fs.readdirSync(staged.attempt).map((file) => fs.statSync(join(staged.attempt, file)).size);
    expect(await inspected(staged)).toEqual({
      path: `staging/${NAME}`,
      snapshot_id: ID,
      phase: 'VALIDATED',
      diagnostic: expect.stringContaining('not published') as string,
      byte_length: String(sizes.reduce((sum, size) => sum + size)),
      modified_at: '2030-01-02T03:04:05.000Z',
    });
  });

  test('is never read as a snapshot', async () => {
    const { store } = await stagedPackage(ID);
    await refusalOf(store.readManifest(ID), 'snapshot_not_found');
    expect((await store.listSnapshots()).snapshots).toEqual([]);
  });
});

describe('STAGING: an intent without a marker', () => {
  test('with nothing else', async () => {
    const { root, store } = temporaryStore();
    await store.prepare();
    fs.mkdirSync(join(root, 'staging', NAME));
    fs.writeFileSync(join(root, 'staging', NAME, 'intent.json'), INTENT);
    expect(await inspected({ root })).toMatchObject({ phase: 'STAGING', snapshot_id: ID, byte_length: '50' });
  });

  test('with payloads and a manifest', async () => {
    const staged = await stagedPackage();
    fs.rmSync(join(staged.attempt, 'complete.sha256'));
    expect(await inspected(staged)).toMatchObject({ phase: 'STAGING', snapshot_id: ID });
  });
});

describe('INVALID: what no running publication leaves', () => {
  test('an attempt of which nothing but the directory was made', async () => {
    const { root, store } = temporaryStore();
    await store.prepare();
    fs.mkdirSync(join(root, 'staging', NAME));
    expect(await inspected({ root })).toMatchObject({
      phase: 'INVALID',
      snapshot_id: null,
      byte_length: '0',
      diagnostic: expect.stringContaining('intent.json is missing') as string,
    });
  });

  test.each([
    '',
    '{}',
    '[]',
    'null',
    '{"snapshot_id":1}',
    '{"snapshot_id":"A"}',
    `{"snapshot_id": "${ID}"}`,
    `{"snapshot_id":"${ID}"}\n`,
    `{"snapshot_id":"${ID}","x":1}`,
    `{"snapshot_id":"${ID}","snapshot_id":"${ID}"}`,
    `\ufeff${INTENT}`,
    'x'.repeat(1000),
  ])('an intent that reads %j', async (text) => {
    const staged = await stagedPackage();
    fs.writeFileSync(join(staged.attempt, 'intent.json'), text);
    expect(await inspected(staged)).toMatchObject({ phase: 'INVALID', snapshot_id: null });
  });

  const harmless = new Set(['complete.sha256 missing', 'complete.sha256 renamed to a hidden file']);
  const files = ['array-ids.bin', 'manifest.json', 'complete.sha256'];
  const damages = files
    .flatMap((file) => Object.keys(DAMAGES).map((name) => [file, name] as const))
    // Without a marker an attempt is one that is still being written.
    .filter(
      ([file, name]) => !harmless.has(`${file} ${name}`) && `${file} ${name}` !== 'complete.sha256 renamed',
    );

  test.each(damages)('%s: %s', async (file, name) => {
    const staged = await stagedPackage();
    DAMAGES[name]!(join(staged.attempt, file));
    fs.rmSync(join(staged.root, 'aside'), { force: true });
    expect(await inspected(staged)).toMatchObject({ phase: 'INVALID', snapshot_id: ID });
  });

  test.each(Object.keys(INTRUDERS).filter((name) => name !== 'a name of broken UTF-8'))(
    'a complete package with %s',
    async (name) => {
      const staged = await stagedPackage();
      INTRUDERS[name]!(staged.attempt);
      expect(await inspected(staged)).toMatchObject({ phase: 'INVALID', snapshot_id: ID });
    },
  );

  const foreign: [string, (path: string) => void][] = [
    ['a file', (path) => fs.writeFileSync(path, 'abc')],
    ['a link to an attempt', (path) => fs.symlinkSync('..', path)],
    ['a FIFO', makeFifo],
  ];

  test.each(foreign)('%s in place of an attempt', async (_, make) => {
    const { root, store } = temporaryStore();
    await store.prepare();
    make(join(root, 'staging', NAME));
    const { phase, diagnostic } = await inspected({ root });
    expect(phase).toBe('INVALID');
    expect(diagnostic).toMatch(/must be a directory/u);
  });

  test.each(['notes', 'a'.repeat(31), 'A'.repeat(32), '.tmp'])(
    'a package under the name %j',
    async (name) => {
      expect(await inspected(await stagedPackage(name))).toMatchObject({
        phase: 'INVALID',
        path: `staging/${name}`,
        diagnostic: expect.stringContaining('name') as string,
      });
    },
  );
});

describe('UNAVAILABLE: what cannot be read', () => {
  /** A file system on which `method` fails for paths that end in `ending`. */
  function unreadable(method: 'openForReading' | 'listDirectory' | 'statEntry', ending: string): FileSystem {
    const fail = (path: string) => {
      if (path.endsWith(ending)) throw systemError('EACCES', { method, path, outcome: 'failed' });
      return nodeFileSystem[method](path) as never;
    };
    return { ...nodeFileSystem, [method]: fail };
  }

  test.each([
    ['listDirectory', NAME, null],
    ['statEntry', NAME, null],
    ['statEntry', 'array-ids.bin', null],
    ['openForReading', 'intent.json', null],
    ['openForReading', 'manifest.json', ID],
    ['openForReading', 'array-ids.bin', ID],
  ] as const)('%s of %s', async (method, ending, id) => {
    const { root } = await stagedPackage();
    const store = storeAt(root, { fileSystem: unreadable(method, ending) });
    const { incomplete } = await store.inspectIncomplete();
    expect(incomplete).toMatchObject([{ path: `staging/${NAME}`, phase: 'UNAVAILABLE', snapshot_id: id }]);
    expect(incomplete[0]!.diagnostic).toContain('EACCES');
  });

  test('an entry whose name is no text stays in sight', async () => {
    const { root, store } = temporaryStore();
    await store.prepare();
    fs.mkdirSync(Buffer.concat([Buffer.from(join(root, 'staging/')), Buffer.from([0x61, 0xff])]));
    expect(await inspected({ root })).toMatchObject({ phase: 'UNAVAILABLE', path: 'staging/a\ufffd' });
  });

  test('a file in it whose name is no text', async () => {
    const staged = await stagedPackage();
    INTRUDERS['a name of broken UTF-8']!(staged.attempt);
    expect(await inspected(staged)).toMatchObject({ phase: 'UNAVAILABLE' });
  });
});

describe('inspection in general', () => {
  test('changes nothing, not even a time', async () => {
    const { root, store, attempt } = await stagedPackage();
    for (const [at, name] of Object.keys(DAMAGES).entries()) {
      const copy = join(root, 'staging', at.toString(16).padStart(32, '0'));
      fs.cpSync(attempt, copy, { recursive: true });
      DAMAGES[name]!(join(copy, 'array-ids.bin'));
      fs.rmSync(join(root, 'aside'), { force: true });
    }
    fs.mkdirSync(join(root, 'staging', 'empty'));
    fs.writeFileSync(join(root, 'staging', 'file'), 'x');
    await publishExample(store, ID);
    const before = treeOf(root);
    const { incomplete } = await store.inspectIncomplete();
    await store.listSnapshots();
    expect(incomplete).toHaveLength(Object.keys(DAMAGES).length + 3);
    expect(treeOf(root)).toEqual(before);
  });

  test('a root where nothing was ever published has no attempts, and is not made', async () => {
    const { root } = temporaryStore();
    const store = storeAt(join(root, 'new'));
    expect(await store.inspectIncomplete()).toEqual({ incomplete: [], next: null });
    expect(fs.existsSync(join(root, 'new'))).toBe(false);
  });

  test('pages follow each other without a gap, whatever the number of attempts', async () => {
    const { root, store } = temporaryStore();
    await store.prepare();
    const names = Array.from({ length: 70 }, (_, at) => idOf(at * 7919));
    for (const name of names) fs.mkdirSync(join(root, 'staging', name));
    const seen: string[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await store.inspectIncomplete({ limit: 33, ...(after !== undefined && { after }) });
      expect(page.incomplete.length).toBeLessThanOrEqual(33);
      seen.push(...page.incomplete.map(({ path }) => path.slice('staging/'.length)));
      after = page.next;
    }
    expect(seen).toEqual([...names].sort());
  });

  test('an attempt that a publication renames away meanwhile is left out, others are not', async () => {
    const { root } = await stagedPackage();
    fs.cpSync(join(root, 'staging', NAME), join(root, 'staging', 'b'.repeat(32)), { recursive: true });
    const fileSystem = new FaultFileSystem(root);
    let gone = false;
    fileSystem.hook = ({ path, method }) => {
      if (gone || method !== 'openForReading' || !path.endsWith('manifest.json')) return;
      gone = true;
      fs.renameSync(join(root, 'staging', NAME), packagePath(root, ID));
    };
    const { incomplete } = await storeAt(root, { fileSystem }).inspectIncomplete();
    expect(incomplete).toMatchObject([{ path: `staging/${'b'.repeat(32)}`, phase: 'VALIDATED' }]);
  });

  test.each([99_999_999_999_999n, -5_000_000n])('a file that claims to be of second %i', async (seconds) => {
    const { root } = await stagedPackage();
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      statEntry: (path) => ({ ...nodeFileSystem.statEntry(path), mtimeNs: seconds * 1_000_000_000n }),
    };
    const { incomplete } = await storeAt(root, { fileSystem }).inspectIncomplete();
    expect(incomplete).toMatchObject([{ phase: 'VALIDATED' }]);
    expect(incomplete[0]!.modified_at).toBe(seconds > 0n ? null : '1969-11-04T03:06:40.000Z');
  });
});

test('an attempt that a publication of this process is at work on says so, and one that ended does not', async () => {
  const { store } = temporaryStore();
  const diagnostics = async (): Promise<string[]> =>
    (await store.inspectIncomplete()).incomplete.map(({ diagnostic }) => diagnostic);
  let meanwhile: string[] = [];
  async function* broken(): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(8);
    meanwhile = await diagnostics();
    throw new Error('The source broke.');
  }
  await refusalOf(publishExample(store, ID, { ids: { dtype: 'int64', data: broken() } }));
  expect(meanwhile).toEqual([expect.stringMatching(new RegExp(`${IN_FLIGHT}$`, 'u'))]);
  expect(await diagnostics()).toEqual([expect.not.stringContaining(IN_FLIGHT)]);
});
