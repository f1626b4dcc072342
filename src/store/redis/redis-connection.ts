import { OAuthProfileError } from '../../errors.ts';
import { monotonicMs } from '../../monotonic.ts';
import { Secret } from '../../redaction/secret.ts';
import { pause } from '../lock/pause.ts';
import { RedisLink } from './redis-link.ts';
import { ReplyError } from './redis-protocol.ts';

const RETRY_MS = 100;

/** A connection to Redis that is made when it is needed and made anew when it is lost; what goes wrong is one of our errors. */
export class RedisConnection {
  /** The address without user and password. */
  readonly place: string;
  readonly #address: Address;
  #current: Promise<RedisLink> | undefined;

  constructor(address: string) {
    this.#address = readAddress(address);
    this.place = this.#address.place;
  }

  /**
   * Asks, and while Redis is away asks again for so long: only what may be done twice is to be asked. An answer that was lost is asked for
   * again too.
   */
  async ask<T>(question: (redis: RedisLink) => Promise<T>, patienceMs: number): Promise<T> {
    const until = monotonicMs() + patienceMs;
    for (;;) {
      try {
        return await this.#askOnce(question);
      } catch (error) {
        if (error instanceof OAuthProfileError) throw error;
        if (!mayPass(error) || monotonicMs() + RETRY_MS > until) throw toFailure(error, this.place);
      }
      await pause(RETRY_MS, undefined);
    }
  }

  close(): void {
    this.#current?.then(
      (link) => link.end(),
      () => {},
    );
    this.#current = undefined;
  }

  async #askOnce<T>(question: (redis: RedisLink) => Promise<T>): Promise<T> {
    const link = await this.#link();
    try {
      return await question(link);
    } catch (error) {
      if (mayPass(error)) link.end(error);
      throw error;
    }
  }

  /** The one there is, or a new one if that is lost. */
  async #link(): Promise<RedisLink> {
    this.#current ??= this.#connect();
    const current = this.#current;
    const forget = (): void => {
      if (this.#current === current) this.#current = undefined;
    };
    const link = await current.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (link.isOpen) return link;
    forget();
    return this.#link();
  }

  async #connect(): Promise<RedisLink> {
    const { db, username, password } = this.#address;
    const link = await RedisLink.open(this.#address);
    try {
      const login = username === '' ? [password] : [username, password];
      await Promise.all([password !== '' && link.ask('AUTH', ...login), db !== 0 && link.ask('SELECT', db)]);
      return link;
    } catch (error) {
      link.end(error);
      throw error;
    }
  }
}

interface Address {
  readonly place: string;
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly tls: boolean;
  readonly username: string;
  readonly password: string;
}

function readAddress(address: string): Address {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [username, password] = [url?.username, url?.password].map(decoded);
  const plain = url !== undefined && url.hostname !== '' && url.search === '' && url.hash === '';
  if (password !== undefined) new Secret(password);
  if (!plain || !/^rediss?:$/.test(url.protocol) || !/^\/?\d{0,5}$/.test(url.pathname)) throw notAnAddress();
  if (username === undefined || password === undefined) throw notAnAddress();
  return {
    place: `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    db: Number(url.pathname.slice(1)),
    tls: url.protocol === 'rediss:',
    username,
    password,
  };
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function notAnAddress(): OAuthProfileError {
  return new OAuthProfileError('usage', 'the store is no address of a Redis', {
    hint: 'write redis://host:6379, rediss:// for TLS, a number behind / for another database; signs in a password as %…',
  });
}

/** What Redis answers while it starts, fails over or cannot write; whatever is no answer may pass too. */
const PASSING = ['LOADING', 'READONLY', 'MASTERDOWN', 'BUSY', 'TRYAGAIN', 'CLUSTERDOWN', 'MISCONF'];

function mayPass(error: unknown): boolean {
  return !(error instanceof ReplyError) || PASSING.includes(wordOf(error));
}

/** The code of the system, or the first word of Redis; never anything that was sent. */
function wordOf(error: unknown): string {
  const { code, message = '' } = error as NodeJS.ErrnoException;
  return code ?? /^[A-Z]{3,}\b/.exec(message)?.[0] ?? '';
}

const CHECK = 'check its address and the network; nothing is refreshed without it';
const SET_PASSWORD = 'set OAUTH_PROFILE_STORE to redis://user:password@host, or redis://:password@host without a user';

const FAULTS: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  ECONNREFUSED: ['nobody listens there', CHECK],
  ENOTFOUND: ['there is no host of that name', CHECK],
  NO_REDIS: ['what answers there is no Redis', CHECK],
  NOAUTH: ['it wants a password', SET_PASSWORD],
  WRONGPASS: ['it does not know this user and password', SET_PASSWORD],
  NOPERM: [
    'it does not allow this user what is needed',
    'allow it the names oauth-profile:* and TIME, INFO, SELECT, GET, MGET, GETRANGE, SET, DEL, PEXPIRE, SADD, SREM, SMEMBERS, SCAN, EVAL, EVALSHA',
  ],
  WRONGTYPE: ['something else stands there under the name of a record', 'give oauth-profile a database of its own'],
  MOVED: ['it is part of a cluster', 'use a Redis that is not'],
  LOADING: ['it is still starting', 'try again'],
};

const UNWRITABLE: typeof FAULTS = {
  OOM: ['its memory is full', 'raise maxmemory, or give oauth-profile a Redis of its own'],
  MISCONF: ['it cannot write to its disk', 'see its log'],
  READONLY: ['it is a replica', 'name the one that takes writes'],
};

function toFailure(error: unknown, place: string): OAuthProfileError {
  const word = wordOf(error);
  const unwritable = UNWRITABLE[word];
  const other = word === '' ? 'there is no answer' : `it fails with ${word}`;
  const [what, hint] = unwritable ?? FAULTS[word] ?? [other, CHECK];
  const code = unwritable === undefined ? 'store_unreadable' : 'store_unwritable';
  return new OAuthProfileError(code, `the Redis at ${place} does not serve: ${what}`, { hint: hint });
}
