import { createHash, timingSafeEqual } from 'node:crypto';
import type { ErrorCode } from '../errors.ts';
import { type HeaderList, headerValues } from './header-rules.ts';

/** Why a request is not sent on. */
export interface Rejection {
  readonly status: 400 | 401 | 403 | 405 | 407 | 501 | 502;
  /** Default: `forbidden`. */
  readonly code?: ErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Which requests a proxy accepts. */
export interface AccessRules {
  /** Accepted values of the Host header. Default: any. */
  readonly hosts?: ReadonlySet<string> | undefined;
  /** Web origins whose pages may send requests. */
  readonly origins: ReadonlySet<string>;
  /** Origin whose pages may send requests to itself. */
  readonly ownOrigin?: string | undefined;
}

/**
 * Checks the headers that a web page cannot choose: `Host` names the host that a browser connected to, also after DNS rebinding. `Origin` is that
 * of the page. Browsers omit it from some requests, such as those for images, but then send `Sec-Fetch-Site`.
 */
export function checkAccess(received: HeaderList, { hosts, origins, ownOrigin }: AccessRules): Rejection | undefined {
  const [host, ...otherHosts] = headerValues(received, 'host');
  if (otherHosts.length > 0) return { status: 400, message: 'the request has two Host headers', hint: 'send one' };
  if (hosts !== undefined && !hosts.has(host?.toLowerCase() ?? '')) {
    const hint = `use the URL of the proxy: http://${[...hosts][0]}`;
    return { status: 403, message: 'the Host header names another host', hint };
  }
  const given = headerValues(received, 'origin');
  if (given.some((origin) => origin !== ownOrigin && !origins.has(origin))) return foreignPage;
  if (given.length > 0) return undefined;
  const site = headerValues(received, 'sec-fetch-site');
  const isOwn = ownOrigin !== undefined && site.every((value) => value === 'same-origin');
  return isOwn || site.every((value) => value === 'none') ? undefined : foreignPage;
}

const foreignPage: Rejection = {
  status: 403,
  message: 'the request comes from a web page whose origin is not allowed',
  hint: 'if you trust the page, start the proxy with --allow-origin and its origin',
};

/** Returns whether a caller may use the proxy. `header` contains the secret as the password of `Basic`, or after `Bearer`. */
export type CallerCheck = (header: string | undefined) => boolean;

/** Creates the check of the caller secret. Without a secret, all callers are accepted. */
export function createCallerCheck(secret: string | undefined): CallerCheck {
  if (secret === undefined) return () => true;
  const expected = digest(secret);
  return (header) => {
    const [, scheme = '', credentials = ''] = /^(basic|bearer) +(\S+)$/i.exec(header ?? '') ?? [];
    const pair = Buffer.from(credentials, 'base64').toString('latin1');
    const given = scheme.toLowerCase() === 'basic' ? pair.slice(pair.indexOf(':') + 1) : credentials;
    return timingSafeEqual(digest(given), expected);
  };
}

function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
