/** Settings: flags over environment over defaults, and every unusable one named at once. */
import { expect, test } from 'vitest';

import { ConfigError, environmentName, flagName, loadConfig, SETTING_NAMES } from '../../src/config.ts';

function refusalOf(flags: Record<string, unknown>, environment: Record<string, string> = {}): string {
  try {
    loadConfig(flags, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('Expected a refusal, found none.');
}

test('the defaults are those of the contract', () => {
  expect(loadConfig({}, {})).toMatchObject({
    root: './data',
    host: '127.0.0.1',
    port: 8750,
    verify: 'always',
  });
  expect(loadConfig({}, {}).token).toEqual([]);
});

test('a flag overrides the environment, which overrides the default; an empty variable is none', () => {
  const environment = { SNAPSHOTS_ROOT: '/from/environment', SNAPSHOTS_PORT: '1234', SNAPSHOTS_HOST: '' };
  const config = loadConfig({ port: '0' }, environment);
  expect(config).toMatchObject({ root: '/from/environment', port: 0, host: '127.0.0.1' });
});

test('an unusable variable does not matter where a flag overrides it', () => {
  expect(loadConfig({ port: '1' }, { SNAPSHOTS_PORT: 'x' }).port).toBe(1);
});

test('settings cannot be changed once they are read', () => {
  expect(Object.isFrozen(loadConfig({}, {}))).toBe(true);
});

test('the variables of the contract are the names of the settings', () => {
  const variables = SETTING_NAMES.map(environmentName);
  expect(variables).toEqual(
    expect.arrayContaining(
      ['ROOT', 'HOST', 'PORT', 'CONTEXTS', 'TOKEN', 'ALLOWED_HOSTS'].map((name) => `SNAPSHOTS_${name}`),
    ),
  );
  expect(flagName('maxArrayBytes')).toBe('--max-array-bytes');
});

test.each([
  ['port', '65536'],
  ['port', '-1'],
  ['port', 'x'],
  ['port', '1.5'],
  ['port', '1e3'],
  ['port', ' 80'],
  ['port', '٣'],
  ['verify', 'never'],
  ['maxArrayBytes', '1GB'],
  ['maxArrayBytes', '-1'],
  ['maxArrayBytes', '99999999999999999999'],
  ['maxArrays', '0'],
  ['logLevel', 'loud'],
  ['basePath', 'no-slash'],
  ['basePath', '/a b'],
  ['threads', 'many'],
  ['token', ''],
] as const)('%s %j is refused by the name it was given under', (setting, value) => {
  expect(refusalOf({ [setting]: value })).toMatch(new RegExp(`^${flagName(setting)}: expected .*`, 'u'));
  if (value === '') return;
  const variable = environmentName(setting);
  expect(refusalOf({}, { [variable]: value })).toMatch(new RegExp(`^${variable}: expected .*`, 'u'));
});

test('only an unusable flag is wrong use of the command', () => {
  const refusal = (flags: object, environment: Record<string, string>) => {
    try {
      loadConfig(flags, environment);
    } catch (error) {
      return error;
    }
    return null;
  };
  expect(refusal({ port: 'x' }, { SNAPSHOTS_VERIFY: 'y' })).toMatchObject({ usage: true });
  expect(refusal({ port: '1' }, { SNAPSHOTS_VERIFY: 'y' })).toMatchObject({ usage: false });
  expect(refusal({ host: '0.0.0.0' }, {})).toMatchObject({ usage: false });
});

test('an empty value and a size beyond counting are told as such', () => {
  expect(refusalOf({ token: '' })).toBe('--token: expected a value, found an empty value');
  expect(refusalOf({ maxArrayBytes: '9000TiB' })).toBe(
    '--max-array-bytes: expected at most 8191TiB, found "9000TiB"',
  );
});

test('every unusable setting is named at once', () => {
  const message = refusalOf({ port: 'x' }, { SNAPSHOTS_VERIFY: 'y', SNAPSHOTS_THREADS: 'z' });
  for (const name of ['--port', 'SNAPSHOTS_VERIFY', 'SNAPSHOTS_THREADS']) expect(message).toContain(name);
  expect(message).not.toContain('\n');
});

test.each([
  ['512', 512],
  ['512B', 512],
  ['1KiB', 1024],
  ['2 MiB', 2 * 1024 ** 2],
  ['3GiB', 3 * 1024 ** 3],
  ['4TiB', 4 * 1024 ** 4],
])('a size of %s is %i bytes', (text, bytes) => {
  expect(loadConfig({ maxArrayBytes: text }, {}).maxArrayBytes).toBe(bytes);
});

test.each(['0.0.0.0', '::', '192.0.2.1', 'example.org', '127.0.0.1.example.org'])(
  '%s, which strangers can reach, needs a token or a word that it does not',
  (host) => {
    expect(refusalOf({ host })).toContain('SNAPSHOTS_TOKEN');
    expect(loadConfig({ host, token: 'secret' }, {}).host).toBe(host);
    expect(loadConfig({ host, allowAnonymous: true }, {}).host).toBe(host);
  },
);

test.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]', 'localhost.', '::ffff:127.0.0.1'])(
  '%s needs no token',
  (host) => {
    expect(loadConfig({ host }, {}).host).toBe(host.replace(/^\[|\]$/gu, ''));
  },
);

test.each(['two words', 'a\nb', 'caf\u00e9', 'tab\t', ' led', 'bell\u0007', '\n', 'two\n\n'])(
  'the token %j, which no client can send, is refused without being shown',
  (token) => {
    for (const setting of ['token', 'readToken'] as const) {
      for (const given of [token, ['good', token]]) {
        const refusal = refusalOf({ [setting]: given });
        expect(refusal).toMatch(/^--(read-)?token: expected [^\n]*$/u);
        expect(refusal).not.toContain(token);
      }
    }
  },
);

test('the line end of a secret is no part of it', () => {
  expect(loadConfig({}, { SNAPSHOTS_TOKEN: 'secret\n', SNAPSHOTS_READ_TOKEN: 'other\r\n' })).toMatchObject({
    token: ['secret'],
    readToken: ['other'],
  });
});

test('an address in brackets is that address, and a certificate comes with its key', () => {
  expect(loadConfig({ host: '[::1]' }, {}).host).toBe('::1');
  expect(refusalOf({ tlsCert: 'cert.pem' })).toContain('--tls-key');
  expect(refusalOf({}, { SNAPSHOTS_TLS_KEY: 'key.pem' })).toContain('--tls-cert');
});

test('what Kubernetes puts into SNAPSHOTS_PORT is told as such', () => {
  expect(refusalOf({}, { SNAPSHOTS_PORT: 'tcp://10.0.0.1:8750' })).toContain('enableServiceLinks: false');
  expect(refusalOf({ port: 'tcp://10.0.0.1:8750' })).not.toContain('Kubernetes');
});

test('a token is never repeated in a message', () => {
  expect(refusalOf({ host: '0.0.0.0', port: 'x' }, { SNAPSHOTS_TOKEN: 'secret-word' })).not.toContain(
    'secret-word',
  );
});
