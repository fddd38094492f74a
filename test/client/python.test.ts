/** The Python client, tried by its own tests against one running service, with numpy and as if it were not there. */
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { startService } from './running-service.ts';

const FOLDER = fileURLToPath(new URL('../../clients/python/', import.meta.url));
const succeeds = (code: string): boolean => spawnSync('python3', ['-c', code]).status === 0;

test.for([
  ['with numpy', 'import numpy', {}],
  ['without numpy', '', { PIPEWHY_WITHOUT_NUMPY: '1' }],
] as const)(
  'the Python client publishes, reads and refuses as it says, %s',
  async ([, needed, env], context) => {
    if (!succeeds(`import sys\n${needed}\nsys.exit(sys.version_info < (3, 9))`)) {
      const note = `The Python client was not tried: python3 from 3.9 on, ${needed || 'alone'}, is not there.`;
      console.warn(note);
      context.skip(note);
    }
    const { url } = await startService();
    const child = spawn('python3', ['-B', '-m', 'unittest'], {
      cwd: FOLDER,
      env: { ...process.env, SNAPSHOTS_URL: url, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 50_000,
    });
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const status = await new Promise((resolve) => child.on('close', resolve));
    expect(text).toMatch(/\nOK\s*$/u);
    expect(status).toBe(0);
  },
);
