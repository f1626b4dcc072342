import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { abortError, OAuthProfileError } from '../../errors.ts';
import type { RedisTarget } from './connect.ts';

const RETRY_INTERVAL_MS = 100;

/** How long a command is repeated while Redis is unavailable. */
export interface RetryOptions {
  /** 0 for one attempt. */
  readonly retryMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface OpenClient {
  readonly client: Redis | Cluster;
  /** The newest event `error`. It says more than the "Connection is closed." with which commands fail. */
  error: Error | undefined;
}

/** A connection that is made when it is needed, and replaced after a transient error: a new client finds the primary of a failover. */
export class RedisConnection {
  readonly #target: RedisTarget;
  #opening: Promise<OpenClient> | undefined;
  #running = 0;
  #closed = false;

  constructor(target: RedisTarget) {
    this.#target = target;
  }

  /**
   * Runs commands, and repeats them after transient errors. A lost response is one of these, so commands must be safe to repeat. Rejects with an
   * `OAuthProfileError` that contains nothing that was sent.
   */
  async run<T>(commands: (client: Redis | Cluster) => Promise<T>, { retryMs, signal }: RetryOptions): Promise<T> {
    const deadline = performance.now() + retryMs;
    for (;;) {
      try {
        return await this.#runOnce(commands);
      } catch (error) {
        if (error instanceof OAuthProfileError) throw error;
        const isLast = this.#closed || performance.now() + RETRY_INTERVAL_MS > deadline;
        if (isLast || !isTransient(error)) throw toStoreError(error, this.#target);
      }
      await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {});
      if (signal?.aborted) throw abortError(signal);
    }
  }

  /** Closes all sockets. Commands that are running fail. */
  async close(): Promise<void> {
    this.#closed = true;
    const opened = await this.#opening?.catch(() => undefined);
    if (opened !== undefined) disconnect(opened.client);
  }

  async #runOnce<T>(commands: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    const opening = this.#getClient();
    this.#running++;
    let opened: OpenClient | undefined;
    try {
      opened = await opening;
      setRef(opened.client, true);
      return await commands(opened.client);
    } catch (error) {
      if (opened !== undefined && isTransient(error)) {
        this.#forget(opening);
        disconnect(opened.client);
      }
      throw isClosedError(error) ? (opened?.error ?? error) : error;
    } finally {
      this.#running--;
      // An idle connection must not keep the process alive.
      if (this.#running === 0 && opened !== undefined) setRef(opened.client, false);
    }
  }

  #getClient(): Promise<OpenClient> {
    if (this.#closed) throw new TypeError('the store is closed');
    if (this.#opening === undefined) {
      const opening = this.#connect();
      this.#opening = opening;
      const forget = (): void => this.#forget(opening);
      opening.then(({ client }) => client.once('end', forget), forget);
    }
    return this.#opening;
  }

  #forget(opening: Promise<OpenClient>): void {
    if (this.#opening === opening) this.#opening = undefined;
  }

  async #connect(): Promise<OpenClient> {
    const client = await this.#target.createClient();
    const opened: OpenClient = { client, error: undefined };
    const keepError = (error: Error): void => {
      if (!isClosedError(error)) opened.error = lastNodeError(error) ?? error;
    };
    client.on('error', keepError).on('node error', keepError).on('sentinelError', keepError);
    try {
      await client.connect();
      // ioredis reports a failed SELECT as an event only, and stays in database 0.
      if (!client.isCluster && opened.error !== undefined) throw opened.error;
    } catch (error) {
      disconnect(client);
      throw opened.error ?? error;
    }
    opened.error = undefined;
    return opened;
  }
}

function socketsOf(client: Redis | Cluster): Redis['stream'][] {
  const nodes = client.isCluster ? (client as Cluster).nodes() : [client as Redis];
  return nodes.map(({ stream }) => stream).filter((stream) => stream !== undefined);
}

function setRef(client: Redis | Cluster, ref: boolean): void {
  for (const socket of socketsOf(client)) {
    if (ref) socket.ref();
    else socket.unref();
  }
}

/** Does not wait for an unresponsive peer to close its side. */
function disconnect(client: Redis | Cluster): void {
  const sockets = socketsOf(client);
  client.disconnect();
  for (const socket of sockets) socket.destroy();
}

const isClosedError = (error: unknown): boolean => (error as Error).message === 'Connection is closed.';
const lastNodeError = (error: Error): Error | undefined => (error as { lastNodeError?: Error }).lastNodeError;

/** Error codes of Redis while it starts, fails over, moves slots or cannot write for a moment. */
const TRANSIENT = new Set(
  'LOADING READONLY MASTERDOWN BUSY TRYAGAIN CLUSTERDOWN MOVED ASK MISCONF NOREPLICAS UNBLOCKED'.split(' '),
);

/** Errors without a response from Redis are transient: the connection was lost, or it could not be made. */
function isTransient(error: unknown): boolean {
  return (error as Error).name !== 'ReplyError' || TRANSIENT.has(errorCode(error));
}

type Reason = readonly [reason: string, hint: string];

const CHECK_NETWORK = 'check the host, the port and the network; no token is refreshed without the store';
const SET_PASSWORD =
  'set OAUTH_PROFILE_STORE to redis://user:password@host:6379, or redis://:password@host:6379 without a user';
const CHECK_CA =
  'add ?ca_file=PATH with the PEM file of your certificate authority to the URL of the store, or set NODE_EXTRA_CA_CERTS';

const CONNECT_REASONS: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: ['connection refused', CHECK_NETWORK],
  ECONNRESET: ['connection reset', CHECK_NETWORK],
  ENOTFOUND: ['host not found', CHECK_NETWORK],
  EAI_AGAIN: ['host not found', CHECK_NETWORK],
  ETIMEDOUT: ['timeout', CHECK_NETWORK],
  ENOENT: ['no such socket', CHECK_NETWORK],
  EACCES: ['permission denied', CHECK_NETWORK],
  NOT_REDIS: ['the server is not Redis', CHECK_NETWORK],
  NO_PRIMARY: [
    'no Sentinel knows this primary',
    'check the name of the primary: redis+sentinel://host:26379/primary-name',
  ],
  NO_SENTINEL: ['no Sentinel can be reached', CHECK_NETWORK],
  CERTIFICATE: ['its certificate is not trusted', CHECK_CA],
};

const READ_REASONS: Readonly<Record<string, Reason>> = {
  NOAUTH: ['it requires a password', SET_PASSWORD],
  WRONGPASS: ['wrong user or password', SET_PASSWORD],
  NOPERM: [
    'the user lacks a permission',
    'allow the user ~oauth-profile:* and EVAL, TIME, INFO, SELECT, GET, SET, DEL, PEXPIRE, HGET, HSET, HDEL, HGETALL, EXISTS, SADD, SREM, ' +
      'SMEMBERS, in a cluster also CLUSTER|SLOTS and ASKING',
  ],
  WRONGTYPE: ['a key of the store has another type', 'use a separate database for oauth-profile'],
  MOVED: ['it is a node of a cluster', 'use redis+cluster:// in the URL of the store'],
  NOT_CLUSTER: ['it is not a cluster', 'use redis:// in the URL of the store'],
  NO_DATABASE: ['it has no such database', 'correct the database number at the end of the URL of the store'],
  LOADING: ['it is still loading its data', 'try again'],
};

const WRITE_REASONS: Readonly<Record<string, Reason>> = {
  OOM: ['maxmemory is reached', 'raise maxmemory, or use a separate Redis for oauth-profile'],
  MISCONF: ['it cannot write to its disk', 'see the log of Redis'],
  READONLY: ['it is a replica', 'use the URL of the primary, or redis+sentinel://'],
  NOREPLICAS: ['too few replicas are connected', 'see min-replicas-to-write in the configuration of Redis'],
};

const REPLY_CODES = [...Object.keys(WRITE_REASONS), ...Object.keys(READ_REASONS), ...TRANSIENT];

/** Other errors, by their message. */
const MESSAGE_CODES: readonly (readonly [pattern: RegExp, code: string])[] = [
  [/timed out|ETIMEDOUT/, 'ETIMEDOUT'],
  [/cluster support disabled/, 'NOT_CLUSTER'],
  [/DB index|invalid DB/i, 'NO_DATABASE'],
  [/invalid password|invalid username/i, 'WRONGPASS'],
  [/^Protocol error/, 'NOT_REDIS'],
  [/invalid reply/, 'NO_PRIMARY'],
  [/sentinel/, 'NO_SENTINEL'],
];

/** The code of the system, or the error code of Redis. Never anything that was sent. */
function errorCode(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) return /CERT|SELF_SIGNED|UNABLE_TO/.test(code) ? 'CERTIFICATE' : code;
  // Before version 7, Redis puts the code of an error in a script at the end of the message.
  const found = REPLY_CODES.find((word) => new RegExp(`\\b${word}\\b`).test(message));
  return (
    found ?? MESSAGE_CODES.find(([pattern]) => pattern.test(message))?.[1] ?? /^[A-Z]{3,}\b/.exec(message)?.[0] ?? ''
  );
}

function toStoreError(error: unknown, { hosts }: RedisTarget): OAuthProfileError {
  const code = errorCode(error);
  const isReply = (error as Error).name === 'ReplyError';
  const [reason, hint] = WRITE_REASONS[code] ??
    READ_REASONS[code] ??
    CONNECT_REASONS[code] ?? [code === '' ? 'connection lost' : `it failed with ${code}`, CHECK_NETWORK];
  const action = code in WRITE_REASONS ? 'write to' : isReply ? 'use' : 'connect to';
  // The error of ioredis is not the cause: it contains the command with its arguments, also those of AUTH.
  return new OAuthProfileError(
    code in WRITE_REASONS ? 'store_unwritable' : 'store_unreadable',
    `cannot ${action} Redis at ${hosts}: ${reason}`,
    { hint },
  );
}
