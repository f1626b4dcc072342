import { parseRequestUrls } from './request-url.ts';
import { expirySeconds, type ToolToken } from './tool-token.ts';

/** The first line of a credential provider: the supported versions of the protocol. */
export const CARGO_HELLO = '{"v":[1]}';

/** A request of cargo for a token. */
export interface CargoRequest {
  /** The index of the registry; empty if its URL is invalid. */
  readonly urls: readonly URL[];
  /** Arguments after the program in `credential-provider`. */
  readonly args: readonly string[];
}

/** Parses one line. Returns the response for a request that no provider of tokens supports. */
export function parseCargoRequest(line: string): CargoRequest | string {
  let request: Record<string, unknown>;
  try {
    request = Object(JSON.parse(line));
  } catch {
    return formatCargoError('other', 'the request is not JSON');
  }
  const { v, kind, registry, args } = request;
  if (v !== 1) return formatCargoError('other', 'unsupported version of the protocol');
  // login and logout: a refresh token is stored by oauth-profile login.
  if (kind !== 'get') return formatCargoError('operation-not-supported');
  const url = Object(registry)['index-url'];
  return {
    urls: typeof url === 'string' ? parseRequestUrls(url) : [],
    args: Array.isArray(args) ? args.map(String) : [],
  };
}

/** Formats the response to `get`. Cargo sends `token` as the value of the Authorization header. */
export function formatCargoResponse(token: ToolToken): string {
  const expiration = expirySeconds(token);
  const cache = expiration === undefined ? { cache: 'session' } : { cache: 'expires', expiration };
  return JSON.stringify({ Ok: { kind: 'get', token: token.header.value, ...cache, operation_independent: true } });
}

/** Formats an error. After `url-not-supported`, cargo uses the next provider. */
export function formatCargoError(
  kind: 'url-not-supported' | 'operation-not-supported' | 'other',
  message?: string,
): string {
  return JSON.stringify({ Err: { kind, message } });
}
