/** Thrown for a URL that must not receive credentials. The message completes "url …". */
export class InvalidUrlError extends Error {}

/**
 * Parses an http: or https: URL and rejects everything that `new URL` would silently correct: the host must be exactly
 * the one written.
 */
export function parseStrictUrl(text: string): URL {
  if (text.includes('#')) throw new InvalidUrlError('must not have a fragment');
  if (/[\s\\\0-\x1f]/.test(text)) {
    throw new InvalidUrlError('must not contain whitespace, control characters or backslashes');
  }
  const [, authority] = /^https?:\/\/([^/?]+)/i.exec(text) ?? [];
  if (authority === undefined) throw new InvalidUrlError('must be a complete https:// URL');
  if (authority.includes('@')) throw new InvalidUrlError('must not contain a username or password');
  const url = parseUrl(text);
  if (url === undefined) throw new InvalidUrlError('is not a valid URL');
  if (!/^[\x21-\x7e]+$/.test(authority)) {
    // Letters of other scripts look alike, and some are replaced: a fullwidth e becomes e.
    throw new InvalidUrlError(`has non-ASCII characters in its host, which would be read as ${url.host}`);
  }
  // `new URL` decodes %65vil.com and reads 0x7f.1 as 127.0.0.1.
  const defaultPort = url.protocol === 'https:' ? /:443$/ : /:80$/;
  if (url.host !== authority.toLowerCase().replace(defaultPort, '')) {
    throw new InvalidUrlError(`has the host ${authority}, which would be read as ${url.host}`);
  }
  return url;
}

/**
 * Parses a URL, `undefined` if it is invalid. `URL.canParse` is not used: once optimized, Node 20 returns false for
 * valid URLs with Latin-1 characters.
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
