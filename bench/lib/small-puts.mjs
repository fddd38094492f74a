import { fileURLToPath } from 'node:url';

const CLIENT = fileURLToPath(new URL('small-client.mjs', import.meta.url));

/**
 * Runs the client process once.
 * @param {import('./workspace.mjs').Workspace} workspace
 * @param {import('./small-client.mjs').Order} order
 * @returns {Promise<import('./small-client.mjs').Outcome>}
 */
export async function smallPuts(workspace, { target, clients, count }) {
  const child = workspace.spawn(process.execPath, [CLIENT], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { name, module, port, dir } = target;
  child.send({ target: { name, module, port, dir }, clients, count });
  await nextMessage(child);
  child.send('go');
  const outcome = await nextMessage(child);
  return /** @type {import('./small-client.mjs').Outcome} */ (outcome);
}

/** @param {import('node:child_process').ChildProcess} child */
function nextMessage(child) {
  return new Promise((done, fail) => {
    const failed = () => fail(new Error('the client process failed'));
    child.once('exit', failed);
    child.once('message', (message) => {
      child.off('exit', failed);
      done(message);
    });
  });
}
