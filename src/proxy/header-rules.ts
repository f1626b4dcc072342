import { parseUrl } from '../profile/url.ts';

/** Headers in the order of the message: alternating names and values, as in `rawHeaders`. */
export type HeaderList = readonly string[];

/** Headers that belong to one connection (RFC 9110 §7.6.1). `TE` and `Upgrade` are added again where they are supported. */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'te', 'transfer-encoding', 'upgrade']);
/** Headers that frame or route a message. A client cannot remove them by naming them in `Connection`. */
const FRAMING_HEADERS = new Set(['host', 'content-length', 'transfer-encoding']);
/** Methods that Node sends without `Transfer-Encoding: chunked` if a request has no length. */
const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** How a request is changed before it is sent on. */
export interface RequestRules {
  readonly method: string;
  /** Value of the Host header. */
  readonly host: string;
  /** Headers of the client that are not sent on, in lower case: those that can contain a credential of the API. */
  readonly removed: ReadonlySet<string>;
  /** Headers with the token. */
  readonly added: HeaderList;
  /** Value of the Upgrade header, for a request to switch protocols. */
  readonly upgrade: string | undefined;
}

/** The headers of a request as they are sent on. */
export function toRequestHeaders(received: HeaderList, rules: RequestRules): string[] {
  const named = namedInConnection(received);
  const headers = ['Host', rules.host];
  let hasLength = false;
  let isChunked = false;
  let acceptsTrailers = false;
  for (let index = 0; index < received.length; index += 2) {
    const name = received[index] ?? '';
    const value = received[index + 1] ?? '';
    const key = name.toLowerCase();
    if (key === 'te' && /(?:^|,)\s*trailers\s*(?:,|$)/i.test(value)) acceptsTrailers = true;
    if (key === 'transfer-encoding') isChunked = true;
    if (key === 'content-length') hasLength = true;
    if (key === 'host' || rules.removed.has(key) || isConnectionHeader(key, named)) continue;
    headers.push(name, value);
  }
  // Node has decoded the chunks and encodes them again.
  if (isChunked) headers.push('Transfer-Encoding', 'chunked');
  else if (!hasLength && !METHODS_WITHOUT_BODY.has(rules.method)) headers.push('Content-Length', '0');
  if (rules.upgrade !== undefined) headers.push('Connection', 'Upgrade', 'Upgrade', rules.upgrade);
  else if (acceptsTrailers) headers.push('Connection', 'TE', 'TE', 'trailers');
  headers.push(...rules.added);
  return headers;
}

/** The headers of a response as the client gets them. `toLocation` rewrites the URL of a redirect. */
export function toResponseHeaders(received: HeaderList, toLocation?: (value: string) => string): string[] {
  const named = namedInConnection(received);
  const headers: string[] = [];
  for (let index = 0; index < received.length; index += 2) {
    const name = received[index] ?? '';
    const value = received[index + 1] ?? '';
    const key = name.toLowerCase();
    // Node rejects the announcement of trailers for a response without chunks, and trailers need none (RFC 9110 §6.6.2).
    if (isConnectionHeader(key, named) || key === 'trailer') continue;
    headers.push(name, toLocation !== undefined && key === 'location' ? toLocation(value) : value);
  }
  return headers;
}

/** The reason phrase of a response without characters that HTTP does not allow (RFC 9112 §4). */
export function toReasonPhrase(received: string | undefined): string {
  return (received ?? '').replace(/[^\t\x20-\x7e\x80-\xff]/g, '');
}

/** Trailers as they are sent on: without anything that frames, routes or authenticates a message (RFC 9110 §6.5.1). */
export function toTrailers(received: HeaderList, removed: ReadonlySet<string>): [name: string, value: string][] {
  const trailers: [string, string][] = [];
  for (let index = 0; index < received.length; index += 2) {
    const name = received[index] ?? '';
    const key = name.toLowerCase();
    if (FRAMING_HEADERS.has(key) || key === 'trailer' || removed.has(key) || isConnectionHeader(key)) continue;
    trailers.push([name, received[index + 1] ?? '']);
  }
  return trailers;
}

/** A redirect to `target` becomes one to the proxy at `host`; any other is returned unchanged. */
export function rewriteLocation(location: string, target: URL, host: string): string {
  // A relative URL already refers to the proxy, except for one that starts with a host.
  if (!/^[a-z][a-z\d+.-]*:|^[\\/]{2}/i.test(location)) return location;
  const url = parseUrl(location, target);
  return url?.origin === target.origin ? `http://${host}${url.pathname}${url.search}${url.hash}` : location;
}

/** The values of a header, in the order of the message. */
export function headerValues(received: HeaderList, key: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < received.length; index += 2) {
    if (received[index]?.toLowerCase() === key) values.push(received[index + 1] ?? '');
  }
  return values;
}

function isConnectionHeader(key: string, named?: ReadonlySet<string>): boolean {
  if (CONNECTION_HEADERS.has(key) || key.startsWith('proxy-')) return true;
  return named?.has(key) === true && !FRAMING_HEADERS.has(key);
}

/** The headers that `Connection` names, which belong to this connection too. `undefined` if there are none. */
function namedInConnection(received: HeaderList): ReadonlySet<string> | undefined {
  const names = headerValues(received, 'connection').join(',').toLowerCase();
  if (names === '' || names === 'keep-alive' || names === 'close') return undefined;
  return new Set(names.split(',').map((name) => name.trim()));
}
