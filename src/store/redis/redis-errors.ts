import { OAuthProfileError } from '../../errors.ts';

const CHECK_NETWORK = 'check the host, the port and the network; no token is refreshed without the store';
const SET_PASSWORD =
  'set OAUTH_PROFILE_STORE to redis://user:password@host:6379, or redis://:password@host:6379 without a user';
const SET_CA_FILE =
  'add ?ca_file=PATH with the PEM file of the certificate authority to the store URL, or set NODE_EXTRA_CA_CERTS';
const GRANT_PERMISSIONS =
  'permit ~oauth-profile:* and EVAL, TIME, INFO, SELECT, GET, SET, DEL, PEXPIRE, EXISTS, HGET, HSET, HDEL, HSCAN, SADD, SREM, SMEMBERS; ' +
  'in a cluster also CLUSTER and ASKING';

/** Our own error, and that of ioredis for bytes that are not of the protocol. */
const NOT_REDIS = /Protocol error|RESP type/;

/** The first pattern that matches the code or the message of an error. */
const REASONS: readonly (readonly [pattern: RegExp, reason: string, hint: string])[] = [
  [/^ECONNREFUSED/, 'connection refused', CHECK_NETWORK],
  [/^(ENOTFOUND|EAI_AGAIN)/, 'host not found', CHECK_NETWORK],
  [/^\S*(CERT|SELF_SIGNED|UNABLE_TO)/, 'the certificate is not trusted', SET_CA_FILE],
  [/\bNOAUTH\b/, 'a password is required', SET_PASSWORD],
  [/\bWRONGPASS\b|invalid password/, 'the user or the password is wrong', SET_PASSWORD],
  [/\bNOPERM\b/, 'the user lacks a permission', GRANT_PERMISSIONS],
  [/\bWRONGTYPE\b/, 'a key of the store has another type', 'use a separate database for oauth-profile'],
  [/\bMOVED\b/, 'it is a node of a cluster', 'use redis+cluster:// in the store URL'],
  [/\bOOM\b/, 'maxmemory is reached', 'raise maxmemory, or use a separate Redis for oauth-profile'],
  [/\bMISCONF\b/, 'it cannot write to its disk', 'see the log of Redis'],
  [/\bREADONLY\b/, 'it is a replica', 'use the URL of the primary, or redis+sentinel://'],
  [/timed out|ETIMEDOUT/, 'timeout', CHECK_NETWORK],
  [/cluster support disabled/, 'it is not a cluster', 'use redis:// in the store URL'],
  [/DB index|invalid DB/i, 'no such database', 'correct the database number at the end of the store URL'],
  [NOT_REDIS, 'the server is not Redis', CHECK_NETWORK],
  [
    /invalid reply/,
    'the Sentinels do not know the primary',
    'check its name: redis+sentinel://host:26379/primary-name',
  ],
  [/sentinel/, 'no Sentinel can be reached', CHECK_NETWORK],
];
const UNWRITABLE = /\b(OOM|MISCONF|READONLY)\b/;
/** Errors of Redis while it starts, fails over, moves slots or cannot write for a moment. */
const TRANSIENT = /\b(LOADING|READONLY|MASTERDOWN|BUSY|TRYAGAIN|CLUSTERDOWN|MOVED|ASK|MISCONF)\b/;

/** Creates the error for a response that Redis never sends. It is an error response, so that it is not retried. */
export function unexpectedResponse(): Error {
  return Object.assign(new Error('Protocol error: unexpected response'), { name: 'ReplyError' });
}

/** Whether Redis responded with an error. */
export const isErrorResponse = (error: unknown): boolean => (error as Error).name === 'ReplyError';

/** Other errors than a response are transient: the connection was lost, or it could not be made. */
export function isTransient(error: unknown): boolean {
  const { message } = error as Error;
  return isErrorResponse(error) ? TRANSIENT.test(message) : !NOT_REDIS.test(message);
}

/** Never returns anything that was sent. The error of ioredis is not the cause: it contains the command with its arguments, also those of AUTH. */
export function toStoreError(error: unknown, hosts: string): OAuthProfileError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const known = REASONS.find(([pattern]) => pattern.test(`${code} ${message}`));
  const name = code || /^[A-Z]+\b/.exec(message)?.[0];
  const [, reason, hint] = known ?? ['', name ? `error ${name}` : 'connection lost', CHECK_NETWORK];
  const isUnwritable = isErrorResponse(error) && UNWRITABLE.test(message);
  const action = isUnwritable ? 'write to' : isErrorResponse(error) ? 'use' : 'connect to';
  return new OAuthProfileError(
    isUnwritable ? 'store_unwritable' : 'store_unreadable',
    `cannot ${action} Redis at ${hosts}: ${reason}`,
    { hint },
  );
}
