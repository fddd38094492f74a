/** A real S3 engine for tests: Debian's Ceph, started once for a whole run, and looked at past the store's own code. */
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as sdk from '@aws-sdk/client-s3';
import { inject } from 'vitest';

const NEEDED = ['radosgw', 'radosgw-admin', 'ceph-mon', 'ceph-osd', 'ceph', 'monmaptool', 'curl'];
const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0);

/** Why there is no engine here, or null. */
export const NO_ENGINE =
  missing.length === 0
    ? null
    : `no ${missing.join(', ')}: apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-common`;

const BUCKET = 'snapshots';
const START_MS = 90_000;

let endpoint: Promise<string> | null = null;

/** Starts the engine, or waits for who starts it. Its keys are in the environment of all tests. */
function engineEndpoint(): Promise<string> {
  endpoint ??= startOnce(inject('engineDirectory'));
  return endpoint;
}

async function startOnce(directory: string): Promise<string> {
  const told = join(directory, 'endpoint');
  try {
    fs.mkdirSync(join(directory, 'starting'));
  } catch {
    const until = Date.now() + START_MS;
    while (Date.now() < until) {
      if (fs.existsSync(told)) return fs.readFileSync(told, 'utf8');
      await wait(100);
    }
    throw new Error('The engine did not start.');
  }
  const script = new URL('ceph.sh', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(script, ['start', directory, String(await freePort())]);
  const url = stdout.trim();
  await clientOf(url).send(new sdk.CreateBucketCommand({ Bucket: BUCKET }));
  fs.writeFileSync(`${told}.new`, url);
  fs.renameSync(`${told}.new`, told);
  return url;
}

/** One whose successor is free too, as far as can be told. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function clientOf(url: string): sdk.S3Client {
  return new sdk.S3Client({ endpoint: url, region: 'us-east-1', forcePathStyle: true });
}

/** A prefix of its own in the bucket of all tests, and every access to it that a store has not. */
export class EngineRoot {
  readonly endpoint: string;
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly #prefix = `t-${randomBytes(6).toString('hex')}`;
  readonly #client: sdk.S3Client;

  private constructor(url: string) {
    this.endpoint = url;
    this.root = `s3://${BUCKET}/${this.#prefix}`;
    this.environment = { AWS_ENDPOINT_URL_S3: url };
    this.#client = clientOf(url);
  }

  static async make(): Promise<EngineRoot> {
    return new EngineRoot(await engineEndpoint());
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: BUCKET, Key: `${this.#prefix}/${name}` };
  }

  async names(under = ''): Promise<string[]> {
    const names: string[] = [];
    let token: string | undefined;
    do {
      const page = await this.#client.send(
        new sdk.ListObjectsV2Command({
          Bucket: BUCKET,
          Prefix: `${this.#prefix}/${under}`,
          ...(token === undefined ? {} : { ContinuationToken: token }),
        }),
      );
      for (const { Key = '' } of page.Contents ?? []) names.push(Key.slice(this.#prefix.length + 1));
      token = page.NextContinuationToken;
    } while (token !== undefined);
    return names;
  }

  async read(name: string): Promise<Buffer> {
    const { Body: body } = await this.#client.send(new sdk.GetObjectCommand(this.#at(name)));
    return Buffer.from(await body!.transformToByteArray());
  }

  /** Overwrites whatever lies there. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#client.send(new sdk.PutObjectCommand({ ...this.#at(name), Body: bytes }));
  }

  async remove(name: string): Promise<void> {
    await this.#client.send(new sdk.DeleteObjectCommand(this.#at(name)));
  }

  /** The attempt that a snapshot's commit names. */
  async attemptOf(id: string): Promise<string> {
    return (JSON.parse((await this.read(`snapshots/${id}`)).toString()) as { attempt: string }).attempt;
  }

  close(): void {
    this.#client.destroy();
  }
}
