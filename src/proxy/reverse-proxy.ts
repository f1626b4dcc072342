import { type CallerCheck, checkAccess, type Rejection } from './access-rules.ts';
import type { FindDestination } from './proxy-server.ts';
import type { Target } from './target.ts';

/** Options of a proxy that sends all requests to one origin. */
export interface ReverseOptions {
  readonly target: Target;
  /** Accepted values of the Host header. `undefined` for a Unix socket, which web pages cannot reach. */
  readonly hosts: ReadonlySet<string> | undefined;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly isCaller: CallerCheck;
}

/** Sends all requests to one origin. */
export function toOneTarget({ target, hosts, allowedOrigins, isCaller }: ReverseOptions): FindDestination {
  return ({ rawHeaders, headers, url = '' }) => {
    const rejection = checkAccess(rawHeaders, { hosts, origins: allowedOrigins });
    if (rejection !== undefined) return rejection;
    if (!isCaller(headers.authorization)) return unknownCaller;
    if (!url.startsWith('/')) return notAPath;
    return { target, path: url, proxyHost: headers.host ?? 'localhost' };
  };
}

const unknownCaller: Rejection = {
  status: 401,
  message: 'the request does not contain the caller secret',
  hint: 'send it as the password of Basic authentication, or as Bearer token',
};

/** The request has no path: it is `*`, or a complete URL as for a forward proxy. */
export const notAPath: Rejection = {
  status: 400,
  message: 'the request target is not a path',
  hint: 'this is a reverse proxy: use its URL as the base URL of the API',
};
