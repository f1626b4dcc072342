import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { abortError, OAuthProfileError } from '../../errors.ts';
import type { RedisTarget } from './connect.ts';

const RETRY_INTERVAL_MS = 100;

/** How long a command is repeated while Redis is unavailable; 0 for one attempt. */
export interface RetryOptions {
  readonly retryMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface OpenClient {
  readonly client: Redis | Cluster;
  /** The first event `error`. Commands only fail with "Connection is closed.". */
  error: Error | undefined;
}

/** A connection that is made when it is needed, and replaced after a transient error: a new client finds the primary after a failover. */
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
      if (this.#closed) throw new TypeError('the store is closed');
      try {
        return await this.#runOnce(commands);
      } catch (error) {
        const isLast = performance.now() + RETRY_INTERVAL_MS > deadline;
        if (isLast || !isTransient(error)) throw toStoreError(error, this.#target.hosts);
      }
      await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {});
      if (signal?.aborted) throw abortError(signal);
    }
  }

  /** Runs a script. EVAL instead of EVALSHA: the scripts are short, and every server can run them, also after a failover. */
  async eval(
    script: string,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
    retry: RetryOptions,
  ): Promise<unknown[]> {
    const response = await this.run(
      (client) => client.callBuffer('eval', script, keys.length, ...keys, ...args),
      retry,
    );
    return Array.isArray(response) ? response : [response];
  }

  /** Closes all sockets. Commands that are running fail. */
  async close(): Promise<void> {
    this.#closed = true;
    const opened = await this.#opening?.catch(() => undefined);
    if (opened !== undefined) disconnect(opened.client);
  }

  async #runOnce<T>(commands: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    this.#opening ??= this.#open();
    const opening = this.#opening;
    const opened = await opening;
    this.#running++;
    setRef(opened.client, true);
    try {
      return await commands(opened.client);
    } catch (error) {
      if (isTransient(error)) {
        this.#forget(opening);
        disconnect(opened.client);
      }
      throw isClosedError(error) ? (opened.error ?? error) : error;
    } finally {
      // An idle connection must not keep the process alive.
      if (--this.#running === 0) setRef(opened.client, false);
    }
  }

  #open(): Promise<OpenClient> {
    const opening = this.#connect();
    const forget = (): void => this.#forget(opening);
    opening.then(({ client }) => client.once('end', forget), forget);
    return opening;
  }

  #forget(opening: Promise<OpenClient>): void {
    if (this.#opening === opening) this.#opening = undefined;
  }

  async #connect(): Promise<OpenClient> {
    const client = await this.#target.createClient();
    const opened: OpenClient = { client, error: undefined };
    const onError = (error: Error & { lastNodeError?: Error }): void => {
      const detail = error.lastNodeError ?? error;
      if (!isClosedError(detail)) opened.error ??= detail;
    };
    for (const event of ['error', 'node error', 'sentinelError']) client.on(event, onError);
    try {
      await client.connect();
      // ioredis reports a failed SELECT by an event only, and continues with database 0.
      if (!client.isCluster && opened.error !== undefined) throw opened.error;
    } catch (error) {
      disconnect(client);
      throw opened.error ?? error;
    }
    opened.error = undefined;
    return opened;
  }
}

/** Returns the nodes of a cluster, or the only server. */
export function nodesOf(client: Redis | Cluster, role: 'all' | 'master'): Redis[] {
  return client.isCluster ? (client as Cluster).nodes(role) : [client as Redis];
}

function setRef(client: Redis | Cluster, ref: boolean): void {
  for (const { stream } of nodesOf(client, 'all')) {
    if (ref) stream?.ref();
    else stream?.unref();
  }
}

/** Closes the sockets without waiting for an unresponsive peer. */
function disconnect(client: Redis | Cluster): void {
  const sockets = nodesOf(client, 'all').map(({ stream }) => stream);
  client.disconnect();
  for (const socket of sockets) socket?.destroy();
}

const isClosedError = (error: unknown): boolean => (error as Error).message === 'Connection is closed.';

/** Whether Redis responded with an error. */
export const isErrorResponse = (error: unknown): boolean => (error as Error).name === 'ReplyError';

/** Error codes of Redis while it starts, fails over, moves slots or cannot write for a moment. */
const TRANSIENT = ['LOADING', 'READONLY', 'MASTERDOWN', 'BUSY', 'TRYAGAIN', 'CLUSTERDOWN', 'MOVED', 'ASK', 'MISCONF'];

/** Errors that are not a response of Redis are transient: the connection was lost, or it could not be made. */
function isTransient(error: unknown): boolean {
  return !isErrorResponse(error) || TRANSIENT.includes(errorCode(error as Error));
}

const CHECK_NETWORK = 'check the host, the port and the network; no token is refreshed without the store';
const SET_PASSWORD =
  'set OAUTH_PROFILE_STORE to redis://user:password@host:6379, or redis://:password@host:6379 without a user';

const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ECONNREFUSED: ['connection refused', CHECK_NETWORK],
  ENOTFOUND: ['host not found', CHECK_NETWORK],
  ETIMEDOUT: ['timeout', CHECK_NETWORK],
  NOT_REDIS: ['the server is not Redis', CHECK_NETWORK],
  NO_SENTINEL: ['no Sentinel can be reached', CHECK_NETWORK],
  NO_PRIMARY: ['the Sentinels do not know the primary', 'check its name: redis+sentinel://host:26379/primary-name'],
  CERTIFICATE: [
    'the certificate is not trusted',
    'add ?ca_file=PATH with the PEM file of the certificate authority to the store URL, or set NODE_EXTRA_CA_CERTS',
  ],
  NOAUTH: ['a password is required', SET_PASSWORD],
  WRONGPASS: ['the user or the password is wrong', SET_PASSWORD],
  NOPERM: [
    'the user lacks a permission',
    'permit ~oauth-profile:* and EVAL, TIME, INFO, SELECT, GET, SET, DEL, PEXPIRE, EXISTS, HGET, HSET, HDEL, HGETALL, SADD, SREM, SMEMBERS; ' +
      'in a cluster also CLUSTER and ASKING',
  ],
  WRONGTYPE: ['a key of the store has another type', 'use a separate database for oauth-profile'],
  MOVED: ['it is a node of a cluster', 'use redis+cluster:// in the store URL'],
  NOT_CLUSTER: ['it is not a cluster', 'use redis:// in the store URL'],
  NO_DATABASE: ['no such database', 'correct the database number at the end of the store URL'],
  OOM: ['maxmemory is reached', 'raise maxmemory, or use a separate Redis for oauth-profile'],
  MISCONF: ['it cannot write to its disk', 'see the log of Redis'],
  READONLY: ['it is a replica', 'use the URL of the primary, or redis+sentinel://'],
};
const UNWRITABLE = ['OOM', 'MISCONF', 'READONLY'];

/** Errors without a code, by their message. */
const MESSAGES: readonly (readonly [pattern: RegExp, code: string])[] = [
  [/timed out/, 'ETIMEDOUT'],
  [/cluster support disabled/, 'NOT_CLUSTER'],
  [/DB index|invalid DB/i, 'NO_DATABASE'],
  [/^Protocol error/, 'NOT_REDIS'],
  [/invalid reply/, 'NO_PRIMARY'],
  [/sentinel/, 'NO_SENTINEL'],
];

/** Returns the code of the system or of Redis, never anything that was sent. */
function errorCode({ code = '', message }: NodeJS.ErrnoException): string {
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) return 'CERTIFICATE';
  if (code !== '') return code === 'EAI_AGAIN' ? 'ENOTFOUND' : code;
  // Before version 7, the code of an error in a script is within the message.
  const known = [...TRANSIENT, ...Object.keys(REASONS)].find((word) => new RegExp(`\\b${word}\\b`).test(message));
  return known ?? MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? /^[A-Z]+\b/.exec(message)?.[0] ?? '';
}

/** The error of ioredis is not the cause: it contains the command with its arguments, also those of AUTH. */
function toStoreError(error: unknown, hosts: string): OAuthProfileError {
  const code = errorCode(error as Error);
  const [reason, hint] = REASONS[code] ?? [code === '' ? 'connection lost' : `error ${code}`, CHECK_NETWORK];
  const isUnwritable = UNWRITABLE.includes(code);
  const action = isUnwritable ? 'write to' : isErrorResponse(error) ? 'use' : 'connect to';
  return new OAuthProfileError(
    isUnwritable ? 'store_unwritable' : 'store_unreadable',
    `cannot ${action} Redis at ${hosts}: ${reason}`,
    { hint },
  );
}
