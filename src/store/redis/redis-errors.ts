import { OAuthProfileError } from '../../errors.ts';

/** Whether Redis responded with an error. */
export const isErrorResponse = (error: unknown): boolean => (error as Error).name === 'ReplyError';

/** Error codes of Redis while it starts, fails over, moves slots or cannot write for a moment. */
const TRANSIENT = ['LOADING', 'READONLY', 'MASTERDOWN', 'BUSY', 'TRYAGAIN', 'CLUSTERDOWN', 'MOVED', 'ASK', 'MISCONF'];

/** Errors that are not a response of Redis are transient: the connection was lost, or it could not be made. */
export function isTransient(error: unknown): boolean {
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
  [/invalid password/, 'WRONGPASS'],
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
export function toStoreError(error: unknown, hosts: string): OAuthProfileError {
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
