/** Comparisons of random pairs of every dtype against numpy, by position and by key, where the machine's python3 has it. */
import { spawnSync } from 'node:child_process';
import { beforeEach, expect, test } from 'vitest';

import { DTYPE_NAMES, ownedArray, type Dtype } from '../../src/contract/dtypes.ts';
import { idOf, publishExample, temporaryStore } from '../support/stores.ts';

const ROUNDS = 6;
/** Fixed, so that a failure comes again; another one is given by the environment. */
const SEED = Number(process.env['COMPARISON_SEED'] ?? 20261201);

/** Pairs with what numpy says of them: arrays in base64, numbers in decimal. */
const ORACLE = `
import base64, json, sys
import numpy as np
seed, rounds, names = json.load(sys.stdin)
random = np.random.default_rng(seed)

def values(dtype, count):
    limits = np.iinfo(dtype)
    span = [limits.min, limits.max] if random.integers(2) else [max(limits.min, -3), 3]
    made = random.integers(span[0], span[1], count, dtype, endpoint=True)
    made[: count // 8] = random.choice(np.array([limits.min, limits.max], dtype), count // 8)
    return made

def sent(array):
    return {'dtype': str(array.dtype), 'data': base64.b64encode(array.astype(array.dtype.newbyteorder('<')).tobytes()).decode()}

def told(index, a, b, at, bt):
    """index: those of from that differ; at, bt: in the order in which examples are shown."""
    return {
        'differing': str(len(index)),
        'first': str(index.min()) if len(index) else None,
        'last': str(index.max()) if len(index) else None,
        'examples': [{'index': str(i), 'from': str(a[i]), 'to': str(b[j])} for i, j in list(zip(at, bt))[:10]],
    }

def by_position(a, b):
    common = min(len(a), len(b))
    both = np.flatnonzero(a[:common] != b[:common])
    return told(np.concatenate([both, np.arange(common, max(len(a), len(b)))]), a, b, both, both)

def changed(a):
    b = a.copy()
    count = int(random.choice([0, 1, max(1, len(b) // 50), len(b)]))
    if len(b): b[random.integers(0, len(b), count)] = values(a.dtype, count)
    grown = values(a.dtype, int(random.choice([0, 0, 1, 9])))
    return np.concatenate([b[: len(b) - int(random.choice([0, 0, min(len(b), 3)]))], grown])

def keys(dtype, count, ascending):
    limits = np.iinfo(dtype)
    wide = int(limits.max) - int(limits.min) > 2 ** 40
    pool = random.integers(limits.min, limits.max, count * 4, dtype, endpoint=True) if wide else (
        np.arange(min(int(limits.max) - int(limits.min) + 1, count * 4), dtype=np.int64) + int(limits.min)).astype(dtype)
    pool = random.permutation(np.unique(np.append(pool, np.array([limits.min, limits.max], dtype))))
    a = pool[: len(pool) // 2]
    b = np.concatenate([a[len(a) // 10 :], pool[len(pool) // 2 :][: len(a) // 7]])
    a, b = random.permutation(a), random.permutation(b)
    return (np.sort(a), np.sort(b)) if ascending else (a, b)

def rows(key, ka, kb, columns):
    shared, ia, ib = np.intersect1d(ka, kb, assume_unique=True, return_indices=True)
    differs = {name: a[ia] != b[ib] for name, (a, b) in columns.items()}
    any_ = np.logical_or.reduce(list(differs.values()), axis=0) if differs else np.zeros(len(shared), bool)
    only = [(k, 'removed', []) for k in np.setdiff1d(ka, kb)] + [(k, 'added', []) for k in np.setdiff1d(kb, ka)]
    some = [(shared[i], 'changed', sorted(n for n in differs if differs[n][i])) for i in np.flatnonzero(any_)]
    shown = sorted(only + some, key=lambda row: int(row[0]))[:10]
    document = {
        'key': key, 'added': str(len(np.setdiff1d(kb, ka))), 'removed': str(len(np.setdiff1d(ka, kb))),
        'changed': str(int(any_.sum())), 'same': str(int(len(shared) - any_.sum())),
        'examples': [{'key': str(k), 'kind': kind, 'arrays': names} for k, kind, names in shown],
    }
    arrays = {}
    for name, (a, b) in columns.items():
        at = np.flatnonzero(differs[name])
        arrays[name] = told(ia[at], a, b, ia[at], ib[at])
    return document, arrays

cases = []
for dtype in names:
    for round in range(rounds):
        a = values(dtype, int(random.choice([0, 1, 7, 1000, 140_000 if round == 0 else 3000])))
        b = changed(a)
        cases.append({'name': f'{dtype} by position, {len(a)} beside {len(b)}', 'key': None, 'from': {'a': sent(a)}, 'to': {'a': sent(b)},
            'arrays': {'a': by_position(a, b)}, 'rows': None})
        ascending = bool(round % 2)
        ka, kb = keys(dtype, int(random.choice([2, 50, 2000])), ascending)
        columns, alone = {}, (values('int16', 5), values('int16', 6))
        for number, column in enumerate(random.choice(names, 2)):
            whole = values(column, len(ka))
            place = dict(zip(ka.tolist(), range(len(ka))))
            other = np.array([whole[place[k]] if k in place else 0 for k in kb.tolist()], column)
            if len(other): other[random.integers(0, len(other), max(1, len(other) // 20))] = values(column, max(1, len(other) // 20))
            columns[f'c{number}'] = (whole, other)
        document, arrays = rows('k', ka, kb, columns)
        sides = [{'k': sent(key), 'alone': sent(alone[side]), **{n: sent(c[side]) for n, c in columns.items()}} for side, key in enumerate((ka, kb))]
        if len(ka) == 5 or len(kb) == 6: continue
        cases.append({'name': f'{dtype} by key, {"ascending" if ascending else "in any order"}, {len(ka)} beside {len(kb)}', 'key': 'k',
            'from': sides[0], 'to': sides[1], 'rows': document, 'arrays': {**arrays, 'alone': by_position(*alone)}})
json.dump(cases, sys.stdout)
`;

interface Case {
  readonly name: string;
  readonly key: string | null;
  readonly from: Readonly<Record<string, { readonly dtype: Dtype; readonly data: string }>>;
  readonly to: Case['from'];
  readonly arrays: Readonly<Record<string, object>>;
  readonly rows: object | null;
}

function casesOfNumpy(): readonly Case[] {
  const input = JSON.stringify([SEED, ROUNDS, DTYPE_NAMES]);
  const { status, stdout, stderr } = spawnSync('python3', ['-c', ORACLE], {
    input,
    maxBuffer: 1024 ** 3,
    encoding: 'utf8',
  });
  if (status === 0) return JSON.parse(stdout) as readonly Case[];
  throw new Error(stderr);
}

const hasNumpy = spawnSync('python3', ['-c', 'import numpy']).status === 0;
const cases = hasNumpy ? casesOfNumpy() : [];

beforeEach((context) => {
  context.skip(!hasNumpy, 'python3 has no numpy here');
});

function typed(side: Case['from']) {
  return Object.fromEntries(
    Object.entries(side).map(([key, { dtype, data }]) => {
      const bytes = new Uint8Array(Buffer.from(data, 'base64'));
      return [key, ownedArray(dtype, bytes)];
    }),
  );
}

test('every dtype, by position and by key, is compared as numpy does it', async () => {
  const { store } = temporaryStore();
  expect(cases.length).toBeGreaterThan(DTYPE_NAMES.length * ROUNDS * 1.5);
  for (const [at, one] of cases.entries()) {
    const [from, to] = [idOf(2 * at + 1), idOf(2 * at + 2)];
    await publishExample(store, from, typed(one.from));
    await publishExample(store, to, typed(one.to));
    const { arrays, rows, equal } = await store.compareSnapshots(
      from,
      to,
      one.key === null ? {} : { key: one.key },
    );
    const shown = `${one.name}; COMPARISON_SEED=${SEED}`;
    for (const [key, expected] of Object.entries(one.arrays)) {
      expect(arrays[key], `${shown}: ${key}`).toMatchObject(expected);
    }
    expect(rows ?? null, shown).toEqual(one.rows);
    expect(equal, shown).toBe(Object.values(arrays).every(({ status }) => status === 'equal'));
  }
});
