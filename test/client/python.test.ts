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
    const child = spawn('python3', ['-B', '-W', 'default::ResourceWarning', '-m', 'unittest'], {
      cwd: FOLDER,
      env: { ...process.env, SNAPSHOTS_URL: url, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 50_000,
    });
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const status = await new Promise((resolve) => child.on('close', resolve));
    expect(text).not.toContain('ResourceWarning');
    expect(text).toMatch(/\nOK\s*$/u);
    expect(status).toBe(0);
  },
);

test('the Python client is written in the Python of 3.9, and imports only what comes with it, and numpy', (context) => {
  if (!succeeds('import sys\nsys.exit(sys.version_info < (3, 10))')) {
    const note = 'The words of the Python client were not looked at: python3 from 3.10 on is not there.';
    console.warn(note);
    context.skip(note);
  }
  const look = `import ast, pathlib, sys
tree = ast.parse(pathlib.Path("pipewhy_snapshots.py").read_text(), feature_version=(3, 9))
for node in ast.walk(tree):
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    names += [node.module] if isinstance(node, ast.ImportFrom) else []
    for name in names:
        if name.split(".")[0] not in sys.stdlib_module_names | {"numpy"}: sys.exit(name)
`;
  const { status, stderr } = spawnSync('python3', ['-c', look], { cwd: FOLDER, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
