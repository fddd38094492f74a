/**
 * A keep-alive HTTP/1.1 connection that costs the machine as little as possible, because the client shares its cores
 * with the server it measures: requests are ready-made bytes, answers are read by their Content-Length.
 */
import { connect } from 'node:net';

/**
 * @typedef {{ status: number, head: string, body: Buffer }} Answer
 * @typedef {{ send: (request: Buffer) => Promise<Answer>, close: () => void }} Connection
 */

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** @param {number} port on the loopback interface @returns {Promise<Connection>} */
export async function openConnection(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise((done, fail) => socket.once('connect', done).once('error', fail));

  /** @type {{ done: (answer: Answer) => void, fail: (error: Error) => void } | null} */
  let waiting = null;
  let received = Buffer.alloc(0);

  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    try {
      const taken = parseAnswer(received);
      if (taken === null) return;
      received = received.subarray(taken.length);
      const { done } = waiting ?? unexpected();
      waiting = null;
      done(taken.answer);
    } catch (error) {
      socket.destroy(/** @type {Error} */ (error));
    }
  });
  const lost = (/** @type {Error | undefined} */ error) => {
    waiting?.fail(error ?? new Error('the server closed the connection before it answered'));
    waiting = null;
  };
  socket.on('error', lost).on('close', () => lost(undefined));

  return {
    send: (request) =>
      new Promise((done, fail) => {
        waiting = { done, fail };
        socket.write(request);
      }),
    close: () => void socket.destroy(),
  };
}

/**
 * @param {Buffer} bytes
 * @returns {{ answer: Answer, length: number } | null} null while the answer is not complete
 */
function parseAnswer(bytes) {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1) return null;
  const head = bytes.toString('latin1', 0, end);
  const status = Number(head.slice(9, 12));
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (length === undefined && status !== 204) throw new Error(`an answer without Content-Length: ${head}`);
  const bodyStart = end + END_OF_HEAD.length;
  const bodyEnd = bodyStart + Number(length ?? 0);
  if (bytes.length < bodyEnd) return null;
  return { answer: { status, head, body: bytes.subarray(bodyStart, bodyEnd) }, length: bodyEnd };
}

/** @returns {never} */
function unexpected() {
  throw new Error('the server sent something that nobody asked for');
}

/**
 * @param {Answer} answer
 * @param {number} status
 * @returns {Answer}
 */
export function expectStatus(answer, status) {
  if (answer.status === status) return answer;
  throw new Error(`expected status ${status}, got ${answer.head}\n${answer.body.toString('utf8')}`);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Record<string, string>} headers
 * @param {Buffer} [body]
 * @returns {Buffer} a complete request
 */
export function request(method, path, headers, body = Buffer.alloc(0)) {
  const fields = { Host: '127.0.0.1', ...headers, 'Content-Length': String(body.length) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}
