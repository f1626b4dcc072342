import { isSecure } from '../../../profile/url.ts';
import { Secret } from '../../../redaction/secret.ts';
import type { StepContext } from '../../step-context.ts';

/** Maximum number of cookies of an origin (RFC 6265 §6.1). */
const MAX_COOKIES = 50;
const MAX_LENGTH = 4096;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** Epoch milliseconds; `undefined` for a cookie of the run. */
  readonly expiresAt: number | undefined;
  readonly secure: boolean;
}

/** The cookies of a run. Each is sent only to the origin that has set it: other than in a browser, `Domain` has no effect. */
export class CookieJar {
  readonly #byOrigin = new Map<string, Map<string, Cookie>>();

  /** Stores the cookies of a response (RFC 6265 §5.2, §5.3). */
  store(url: URL, setCookie: string | readonly string[] | undefined, now: number): void {
    const cookies = this.#byOrigin.get(url.origin) ?? new Map<string, Cookie>();
    for (const line of [setCookie ?? []].flat()) {
      const cookie = line.length > MAX_LENGTH ? undefined : parseCookie(line, url, now);
      if (cookie === undefined) continue;
      const key = `${cookie.name};${cookie.path}`;
      cookies.delete(key);
      if (cookie.expiresAt === undefined || cookie.expiresAt > now) cookies.set(key, cookie);
    }
    for (const key of [...cookies.keys()].slice(0, -MAX_COOKIES)) cookies.delete(key);
    this.#byOrigin.set(url.origin, cookies);
  }

  /** Returns the value of the `Cookie` header for a request, longer paths first (RFC 6265 §5.4). */
  header(url: URL, now: number): string | undefined {
    const cookies = [...(this.#byOrigin.get(url.origin)?.values() ?? [])]
      .filter(({ path, secure, expiresAt = Number.POSITIVE_INFINITY }) => {
        return expiresAt > now && matchesPath(url.pathname, path) && (!secure || isSecure(url));
      })
      .sort((one, other) => other.path.length - one.path.length);
    return cookies.length === 0 ? undefined : cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  }
}

const STATE_KEY = Symbol('ws cookies');

/** Returns the cookies of the running script; `undefined` if it does not use cookies. */
export function cookiesOf(context: StepContext): CookieJar | undefined {
  return context.requests.cookies ? context.state(STATE_KEY, () => new CookieJar()) : undefined;
}

/** Returns the `Cookie` header for a request. The values of cookies are masked in the output of the script. */
export function cookieHeader(url: URL, context: StepContext): readonly [name: string, value: Secret] | undefined {
  const value = cookiesOf(context)?.header(url, context.clock.now());
  return value === undefined ? undefined : ['Cookie', Secret.untracked(value)];
}

function parseCookie(line: string, url: URL, now: number): Cookie | undefined {
  const [pair = '', ...attributes] = line.split(';');
  const end = pair.indexOf('=');
  const [name, value] = [pair.slice(0, Math.max(0, end)).trim(), pair.slice(end + 1).trim()];
  if (name === '' || /[^\x20-\x7e]/.test(name + value)) return undefined;
  const given = new Map(
    attributes.map((attribute): [string, string] => {
      const [key = '', ...rest] = attribute.split('=');
      return [key.trim().toLowerCase(), rest.join('=').trim()];
    }),
  );
  const path = given.get('path') ?? '';
  return {
    name,
    value,
    path: path.startsWith('/') ? path : defaultPath(url),
    expiresAt: expiryOf(given, now),
    secure: given.has('secure'),
  };
}

/** `Max-Age` wins over `Expires`. */
function expiryOf(attributes: ReadonlyMap<string, string>, now: number): number | undefined {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return now + Number(maxAge) * 1000;
  const date = Date.parse(attributes.get('expires') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

/** RFC 6265 §5.1.4. */
function defaultPath({ pathname }: URL): string {
  const end = pathname.lastIndexOf('/');
  return end <= 0 ? '/' : pathname.slice(0, end);
}

function matchesPath(pathname: string, path: string): boolean {
  return (
    pathname === path || (pathname.startsWith(path) && (path.endsWith('/') || pathname.charAt(path.length) === '/'))
  );
}
