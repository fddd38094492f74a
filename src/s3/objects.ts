/**
 * The engine as the store uses it: objects under one prefix of one bucket, each written once and never overwritten or
 * deleted. The only file that knows the S3 client, which is loaded when a store on an engine is opened and not before.
 *
 * Every call ends within the idle limit: connections, attempts and answers are timed, a body is watched between its pieces,
 * and the caller's signal ends any of them. What the engine cannot do for the moment is `unavailable`.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type * as Sdk from '@aws-sdk/client-s3';
import type {
  GetObjectCommandOutput,
  ListObjectsV2CommandOutput,
  PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  attemptsOf,
  EngineSilent,
  isSurelyRefused,
  nameOf,
  ObjectMissing,
  refusalOf,
  saysTaken,
  statusOf,
  UnknownWrite,
} from './engine-errors.ts';

/** What is counted and timed. */
export type EngineOperation =
  'get' | 'head' | 'put' | 'list' | 'create upload' | 'upload part' | 'complete upload';

export interface EngineAnswer {
  readonly operation: EngineOperation;
  /** Of the last attempt; null where no answer came. */
  readonly status: number | null;
  /** Attempts beyond the first. */
  readonly retries: number;
  readonly seconds: number;
}

export interface ObjectsOptions {
  /** No call waits longer than this for the engine, in milliseconds. */
  readonly idleMs: number;
  readonly observe?: ((answer: EngineAnswer) => void) | undefined;
}

/** Where the objects of one store lie. */
export interface Bucket {
  readonly bucket: string;
  /** Nothing, or segments that each end in a slash. */
  readonly prefix: string;
}

/** What identifies one state of one object. */
export interface ObjectStamp {
  readonly etag: string;
  readonly size: number;
}

export interface ListedObject extends ObjectStamp {
  /** Without the prefix it was listed under. */
  readonly name: string;
  /** Milliseconds since the epoch; null where the engine does not say. */
  readonly modifiedMs: number | null;
}

export interface ListedPage {
  readonly objects: readonly ListedObject[];
  /** Names of what lies deeper, each with its slash, where a listing stops at slashes. */
  readonly deeper: readonly string[];
}

const ATTEMPTS = 3;
const CONNECT_MS = 5_000;
const SOCKETS = 256;
/** A body that breaks off is asked for again from where it ended, so many times without a byte more. */
const RESUMES = 3;
const RESUME_AFTER_MS = 50;

/** Connects to nothing yet. Region, credentials and endpoint are those that every S3 tool reads. */
export async function openObjects(
  where: Bucket,
  options: ObjectsOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Objects> {
  // That later versions of the client want a later Node is for whoever changes the pinned one, not for the service's log.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const endpoint = environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'];
  const region = environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'];
  const quiet = () => undefined;
  const client = new sdk.S3Client({
    // Of an engine of one's own the region means nothing, and the client asks for one all the same.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: region ?? 'us-east-1' }),
    maxAttempts: ATTEMPTS,
    // Bodies are signed by their SHA-256, which every engine checks; what it stored is read back in any case.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    logger: { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
    requestHandler: {
      connectionTimeout: Math.min(CONNECT_MS, options.idleMs / 2),
      requestTimeout: attemptMs(options),
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: SOCKETS },
    },
  });
  return new Objects(sdk, client, where, options);
}

/** So that all attempts of one call fit into the idle limit. */
function attemptMs({ idleMs }: ObjectsOptions): number {
  return Math.ceil(idleMs / ATTEMPTS);
}

export class Objects {
  readonly #sdk: typeof Sdk;
  readonly #client: S3Client;
  readonly #where: Bucket;
  readonly #options: ObjectsOptions;

  constructor(sdk: typeof Sdk, client: S3Client, where: Bucket, options: ObjectsOptions) {
    this.#sdk = sdk;
    this.#client = client;
    this.#where = where;
    this.#options = options;
  }

  /**
   * Writes an object unless one has its name already; `exists` may also be the answer to an own attempt before. Throws
   * `UnknownWrite` where it may have been written, `unavailable` or `insufficient_storage` where it was not.
   */
  async put(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<'written' | 'exists'> {
    const { PutObjectCommand } = this.#sdk;
    const input: PutObjectCommandInput = { ...this.#at(name), Body: bytes, IfNoneMatch: '*' };
    try {
      await this.#send('put', signal, (abortSignal) =>
        this.#client.send(new PutObjectCommand(input), { abortSignal }),
      );
      return 'written';
    } catch (error) {
      if (saysTaken(error)) return 'exists';
      const refusal = this.#refusal(error, signal);
      throw isSurelyRefused(error) || signal?.aborted === true ? refusal : new UnknownWrite(refusal);
    }
  }

  /** All of a small object, or the first `most + 1` bytes of a longer one; null where there is none. */
  async read(
    name: string,
    most: number,
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: Buffer; readonly stamp: ObjectStamp } | null> {
    const chunks: Buffer[] = [];
    let length = 0;
    const reader = new ObjectStream(this, name, { signal });
    try {
      for await (const chunk of reader.chunks()) {
        // A copy: what is kept must not keep the memory of a whole read alive.
        chunks.push(Buffer.from(chunk));
        length += chunk.length;
        if (length > most) break;
      }
    } catch (error) {
      if (error instanceof ObjectMissing && error.reason === 'absent') return null;
      throw error;
    }
    const bytes = Buffer.concat(chunks).subarray(0, most + 1);
    return { bytes, stamp: reader.stamp };
  }

  /**
   * The bytes `start` up to but not including `end` of an object in one state, in pieces as they come. A body that breaks off
   * is asked for again. Throws `ObjectMissing`, or `unavailable`.
   */
  stream(
    name: string,
    part: { readonly stamp: ObjectStamp; readonly start?: number; readonly end?: number },
    signal?: AbortSignal,
  ): AsyncGenerator<Buffer, void, void> {
    const { stamp, start = 0, end = stamp.size } = part;
    return new ObjectStream(this, name, { stamp, start, end, signal }).chunks();
  }

  /** One answer of the engine; the caller watches its body. Throws `ObjectMissing` or `unavailable`. */
  async open(
    name: string,
    {
      stamp,
      start,
      end,
    }: {
      readonly stamp?: ObjectStamp | undefined;
      readonly start: number;
      readonly end?: number | undefined;
    },
    signal?: AbortSignal,
  ): Promise<GetObjectCommandOutput> {
    const { GetObjectCommand } = this.#sdk;
    const isWhole = start === 0 && (end === undefined || end === stamp?.size);
    const command = new GetObjectCommand({
      ...this.#at(name),
      ...(stamp === undefined ? {} : { IfMatch: stamp.etag }),
      ...(isWhole ? {} : { Range: `bytes=${start}-${end === undefined ? '' : end - 1}` }),
    });
    try {
      return await this.#send('get', signal, (abortSignal) => this.#client.send(command, { abortSignal }));
    } catch (error) {
      if (nameOf(error) === 'NoSuchKey') throw new ObjectMissing('absent', { cause: error });
      if (statusOf(error) === 412 || statusOf(error) === 416)
        throw new ObjectMissing('changed', { cause: error });
      throw this.#refusal(error, signal);
    }
  }

  /** The state in which an object is now. Throws `ObjectMissing` or `unavailable`. */
  async stampOf(name: string, signal?: AbortSignal): Promise<ObjectStamp> {
    const { HeadObjectCommand } = this.#sdk;
    try {
      const { ETag: etag, ContentLength: size } = await this.#send('head', signal, (abortSignal) =>
        this.#client.send(new HeadObjectCommand(this.#at(name)), { abortSignal }),
      );
      if (etag !== undefined && size !== undefined) return { etag, size };
    } catch (error) {
      if (statusOf(error) === 404) throw new ObjectMissing('absent', { cause: error });
      throw this.#refusal(error, signal);
    }
    throw refusalOf(new Error('An answer without length or entity tag.'));
  }

  /** What lies under a prefix, a page of the engine at a time, in the order of the keys' bytes. */
  async *list(
    under: string,
    {
      after,
      deep = true,
      most,
    }: { readonly after?: string | undefined; readonly deep?: boolean; readonly most?: number } = {},
    signal?: AbortSignal,
  ): AsyncGenerator<ListedPage, void, void> {
    const { ListObjectsV2Command } = this.#sdk;
    const prefix = this.#where.prefix + under;
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({
        Bucket: this.#where.bucket,
        Prefix: prefix,
        EncodingType: 'url',
        ...(deep ? {} : { Delimiter: '/' }),
        ...(after === undefined ? {} : { StartAfter: prefix + after }),
        ...(most === undefined ? {} : { MaxKeys: most }),
        ...(token === undefined ? {} : { ContinuationToken: token }),
      });
      let page: ListObjectsV2CommandOutput;
      try {
        page = await this.#send('list', signal, (abortSignal) => this.#client.send(command, { abortSignal }));
      } catch (error) {
        throw this.#refusal(error, signal);
      }
      yield this.#pageOf(page, prefix.length);
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (page.IsTruncated === true && token === undefined)
        throw refusalOf(new Error('A page without its next.'));
    } while (token !== undefined && most === undefined);
  }

  /** Asks the engine for next to nothing. Throws `unavailable` where it does not answer. */
  async reach(under: string): Promise<void> {
    await this.list(under, { most: 1 }).next();
  }

  async createUpload(name: string, signal?: AbortSignal): Promise<string> {
    const { CreateMultipartUploadCommand } = this.#sdk;
    try {
      const { UploadId: id } = await this.#send('create upload', signal, (abortSignal) =>
        this.#client.send(new CreateMultipartUploadCommand(this.#at(name)), { abortSignal }),
      );
      if (id !== undefined) return id;
    } catch (error) {
      throw this.#refusal(error, signal);
    }
    throw refusalOf(new Error('An upload without its id.'));
  }

  /** Sends one part, numbered from 1, signed by its SHA-256 (64 lowercase hex), and gives its entity tag. */
  async uploadPart(
    name: string,
    {
      upload,
      number,
      bytes,
      sha256,
    }: {
      readonly upload: string;
      readonly number: number;
      readonly bytes: Uint8Array;
      readonly sha256: string;
    },
    signal?: AbortSignal,
  ): Promise<string> {
    const { UploadPartCommand } = this.#sdk;
    const command = new UploadPartCommand({
      ...this.#at(name),
      UploadId: upload,
      PartNumber: number,
      Body: bytes,
    });
    // Hashed while it arrived: the client would hash all of it at once.
    command.middlewareStack.add(
      (next) => (args) => {
        (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = sha256;
        return next(args);
      },
      { step: 'build', name: 'bodyDigest' },
    );
    try {
      const { ETag: etag } = await this.#send('upload part', signal, (abortSignal) =>
        this.#client.send(command, { abortSignal }),
      );
      if (etag !== undefined) return etag;
    } catch (error) {
      throw this.#refusal(error, signal);
    }
    throw refusalOf(new Error('A part without its entity tag.'));
  }

  /**
   * Puts the parts together. That an object of the name exists already is not told by every engine, so this is never a commit.
   * Whether it was done shows when the object is read back.
   */
  async completeUpload(
    name: string,
    { upload, parts }: { readonly upload: string; readonly parts: readonly string[] },
    signal?: AbortSignal,
  ): Promise<void> {
    const { CompleteMultipartUploadCommand } = this.#sdk;
    const command = new CompleteMultipartUploadCommand({
      ...this.#at(name),
      UploadId: upload,
      IfNoneMatch: '*',
      MultipartUpload: { Parts: parts.map((etag, index) => ({ ETag: etag, PartNumber: index + 1 })) },
    });
    try {
      await this.#send('complete upload', signal, (abortSignal) =>
        this.#client.send(command, { abortSignal }),
      );
    } catch (error) {
      // Of an answer that was lost the next attempt finds the upload gone, or the object there.
      if (saysTaken(error) || nameOf(error) === 'NoSuchUpload') return;
      throw this.#refusal(error, signal);
    }
  }

  close(): void {
    this.#client.destroy();
  }

  get idleMs(): number {
    return this.#options.idleMs;
  }

  /** What a failure of the engine means for whoever asked. The signal's reason where that was given. */
  #refusal(error: unknown, signal?: AbortSignal): unknown {
    if (signal?.aborted === true) return signal.reason;
    return refusalOf(error);
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#where.bucket, Key: this.#where.prefix + name };
  }

  #pageOf({ Contents = [], CommonPrefixes = [] }: ListObjectsV2CommandOutput, cut: number): ListedPage {
    const nameIn = (key = ''): string => decoded(key).slice(cut);
    return {
      objects: Contents.map(({ Key, ETag = '', Size = -1, LastModified }) => ({
        name: nameIn(Key),
        etag: ETag,
        size: Size,
        modifiedMs: LastModified?.getTime() ?? null,
      })),
      deeper: CommonPrefixes.map(({ Prefix }) => nameIn(Prefix)),
    };
  }

  /** One call, timed, counted, and ended by its signal or the idle limit. */
  async #send<T>(
    operation: EngineOperation,
    signal: AbortSignal | undefined,
    call: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const controller = new AbortController();
    const leave = (): void => {
      controller.abort();
    };
    const stay = whenGiven(signal, leave);
    const late = { isOver: false };
    const timer = setTimeout(() => {
      late.isOver = true;
      leave();
    }, this.#options.idleMs);
    const startedAt = performance.now();
    let answer: unknown;
    try {
      const output = await call(controller.signal);
      answer = output;
      return output;
    } catch (error) {
      answer = error;
      if (late.isOver) throw new EngineSilent(error);
      throw error;
    } finally {
      clearTimeout(timer);
      stay();
      this.#options.observe?.({
        operation,
        status: statusOf(answer),
        retries: attemptsOf(answer) - 1,
        seconds: (performance.now() - startedAt) / 1000,
      });
    }
  }
}

interface Wanted {
  /** The state that is wanted; without one it is whatever lies there, and its first answer says which. */
  readonly stamp?: ObjectStamp;
  readonly start?: number;
  readonly end?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A part of an object as it comes, over as many answers as it takes, all of one state. */
class ObjectStream {
  readonly #objects: Objects;
  readonly #name: string;
  readonly #signal: AbortSignal | undefined;
  #stamp: ObjectStamp | undefined;
  #position: number;
  #end: number | undefined;

  constructor(objects: Objects, name: string, { stamp, start = 0, end, signal }: Wanted) {
    this.#objects = objects;
    this.#name = name;
    this.#signal = signal;
    this.#stamp = stamp;
    this.#position = start;
    this.#end = end;
  }

  /** Of the object that was read. */
  get stamp(): ObjectStamp {
    if (this.#stamp === undefined) throw new Error('Nothing was read yet.');
    return this.#stamp;
  }

  async *chunks(): AsyncGenerator<Buffer, void, void> {
    let failures = 0;
    while (this.#end === undefined || this.#position < this.#end) {
      const before = this.#position;
      try {
        yield* this.#answer();
        return;
      } catch (error) {
        this.#signal?.throwIfAborted();
        if (!(error instanceof BodyBroken)) throw error;
        failures = this.#position > before ? 1 : failures + 1;
        if (error.isStalled || failures > RESUMES) throw refusalOf(error);
        await wait(RESUME_AFTER_MS * failures, undefined, { ref: false });
      }
    }
  }

  /** What one answer gives. Throws `BodyBroken` where its body ends early or no more of it comes. */
  async *#answer(): AsyncGenerator<Buffer, void, void> {
    const part = { stamp: this.#stamp, start: this.#position, end: this.#end };
    const answer = await this.#objects.open(this.#name, part, this.#signal);
    const body = answer.Body as (NodeJS.ReadableStream & { destroy(error?: Error): void }) | undefined;
    if (body === undefined) throw new BodyBroken('An answer without a body.');
    const end = this.#endOf(answer);
    let stalled = false;
    const giveUp = (): void => {
      stalled = true;
      body.destroy(new Error('No more of the body came.'));
    };
    const leave = (): void => {
      body.destroy();
    };
    const stay = whenGiven(this.#signal, leave);
    // Only while it is waited for: a reader that takes its time is no failure of the engine.
    let timer = setTimeout(giveUp, this.#objects.idleMs);
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        clearTimeout(timer);
        if (this.#position + chunk.length > end) throw new BodyBroken('A body longer than was asked for.');
        this.#position += chunk.length;
        yield chunk;
        timer = setTimeout(giveUp, this.#objects.idleMs);
      }
    } catch (error) {
      throw error instanceof BodyBroken
        ? error
        : new BodyBroken('A body that broke off.', { stalled, cause: error });
    } finally {
      clearTimeout(timer);
      stay();
      body.destroy();
    }
    this.#signal?.throwIfAborted();
    if (this.#position < end) throw new BodyBroken('A body that ended early.');
  }

  /** Where this answer ends, once it is of the state that is wanted. */
  #endOf({ ContentLength: length, ETag: etag }: GetObjectCommandOutput): number {
    if (length === undefined || etag === undefined)
      throw new BodyBroken('An answer without length or entity tag.');
    this.#stamp ??= { etag, size: length };
    if (etag !== this.#stamp.etag) throw new ObjectMissing('changed');
    this.#end ??= length;
    return Math.min(this.#end, this.#position + length);
  }
}

/** Calls `leave` when the signal is given; what is returned ends that. Many calls of one reader listen to one signal. */
function whenGiven(signal: AbortSignal | undefined, leave: () => void): () => void {
  if (signal === undefined) return () => undefined;
  setMaxListeners(0, signal);
  signal.addEventListener('abort', leave, { once: true });
  return () => {
    signal.removeEventListener('abort', leave);
  };
}

class BodyBroken extends Error {
  readonly isStalled: boolean;

  constructor(
    what: string,
    { stalled = false, cause }: { readonly stalled?: boolean; readonly cause?: unknown } = {},
  ) {
    super(what, { cause });
    this.name = 'BodyBroken';
    this.isStalled = stalled;
  }
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', '%20'));
  } catch {
    return key;
  }
}
