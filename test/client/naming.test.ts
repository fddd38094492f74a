/** One naming: what library and client give and throw is the same, so that code can move from one to the other. */
import { expect, onTestFinished, test } from 'vitest';

import * as client from '../../src/client/index.ts';
import type { ErrorCode } from '../../src/contract/errors.ts';
import * as library from '../../src/index.ts';
import { idOf, storeAt } from '../support/stores.ts';
import { clientOf, metadataOf, startService } from './running-service.ts';

const ID = idOf(1);

test('open() of client and library give the same members with the same values', async () => {
  const service = await startService();
  const remote = clientOf(service.url);
  const local = storeAt(service.root);
  onTestFinished(() => local.close());
  const arrays = { ids: BigUint64Array.of(1n, 2n), constructor: Int8Array.of(-1), empty: new Uint16Array(0) };
  await remote.publish(metadataOf(ID), arrays);

  const received = await remote.open(ID);
  const stored = await local.open(ID);
  expect(Object.keys(received).sort()).toEqual(Object.keys(stored).sort());
  expect({ ...received, manifestBytes: [...received.manifestBytes] }).toEqual({
    ...stored,
    manifestBytes: [...stored.manifestBytes],
  });
  expect(Object.keys(received.arrays)).toEqual(Object.keys(stored.arrays));
});

test('errors are of the same classes, and name and list the same things', async () => {
  const service = await startService();
  const remote = clientOf(service.url);
  const local = storeAt(service.root);
  onTestFinished(() => local.close());
  await remote.publish(metadataOf(ID), { ids: Uint8Array.of(1) });
  const thrown = async (call: Promise<unknown>): Promise<library.SnapshotError> =>
    call.then(
      () => expect.unreachable(),
      (error: unknown) => error as library.SnapshotError,
    );
  const cases = [
    [
      library.SnapshotExistsError,
      () => remote.publish(metadataOf(ID), { ids: Uint8Array.of(2) }),
      () => local.publish(metadataOf(ID), { ids: Uint8Array.of(2) }),
    ],
    [library.SnapshotNotFoundError, () => remote.open(idOf(9)), () => local.open(idOf(9))],
    [
      library.ContractViolationError,
      () => remote.publish(metadataOf(idOf(2), { scope: '' }), {}),
      () => local.publish(metadataOf(idOf(2), { scope: '' }), {}),
    ],
    [
      library.ParentNotCompleteError,
      () => remote.publish(metadataOf(idOf(2), { parent_id: idOf(8) }), {}),
      () => local.publish(metadataOf(idOf(2), { parent_id: idOf(8) }), {}),
    ],
    [
      library.ArrayMismatchError,
      () => remote.publish(metadataOf(idOf(2)), { ids: { dtype: 'int64', data: Buffer.alloc(9) } }),
      () => local.publish(metadataOf(idOf(2)), { ids: { dtype: 'int64', data: [Buffer.alloc(9)] } }),
    ],
  ] as const;
  for (const [Class, ofClient, ofLibrary] of cases) {
    const received = await thrown(ofClient());
    const refused = await thrown(ofLibrary());
    for (const error of [received, refused]) {
      expect(error).toBeInstanceOf(Class);
      expect(error).toBeInstanceOf(library.SnapshotError);
      expect(error.name).toBe(Class.name);
    }
    expect(received.errors.map(({ path }) => path)).toEqual(refused.errors.map(({ path }) => path));
    expect(received).toBeInstanceOf(client.SnapshotClientError);
    expect(refused).not.toBeInstanceOf(client.SnapshotClientError);
    expect(received).not.toBeInstanceOf(client.ConnectionError);
  }
});

test('every class of a refusal is exported by both under one name, and is that of one code', () => {
  const names = Object.keys(library).filter((name) => name.endsWith('Error') && name in client);
  expect(names).toContain('SnapshotExistsError');
  expect(names.length).toBeGreaterThan(14);
  const codes = new Set<ErrorCode>();
  for (const name of names) {
    const Class = library[name as 'SnapshotExistsError'];
    expect(client[name as 'SnapshotExistsError']).toBe(Class);
    if (name === 'SnapshotError') continue;
    const { code } = new Class('a', { snapshot_id: ID, location: '' });
    expect(codes).not.toContain(code);
    codes.add(code);
    // However it was made, an error is of the class of its code, and of no other.
    const plain = new library.SnapshotError(code, 'a', { snapshot_id: ID, location: '' });
    expect(plain).toBeInstanceOf(Class);
    expect(plain.name).toBe(name);
    expect(new library.SnapshotError('internal_error', 'a', {})).not.toBeInstanceOf(Class);
  }
});
