/**
 * Parses an http: or https: URL. Returns what is wrong, to complete "url …", if it must not receive credentials: the
 * host must be exactly the one written, so everything that `new URL` would silently correct is rejected.
 */
export function parseStrictUrl(text: string): URL | string {
  if (text.includes('#')) return 'must not have a fragment';
  if (/[\s\\\0-\x1f]/.test(text)) return 'must not contain whitespace, control characters or backslashes';
  const [, authority] = /^https?:\/\/([^/?]+)/i.exec(text) ?? [];
  if (authority === undefined) return 'must be a complete https:// URL';
  if (authority.includes('@')) return 'must not contain a username or password';
  const url = parseUrl(text);
  if (url === undefined) return 'is not a valid URL';
  // Letters of other scripts look alike, and some are replaced: a fullwidth e becomes e.
  if (!/^[\x21-\x7e]+$/.test(authority)) {
    return `has non-ASCII characters in its host, which would be read as ${url.host}`;
  }
  // `new URL` decodes %65vil.com and reads 0x7f.1 as 127.0.0.1.
  const defaultPort = url.protocol === 'https:' ? /:443$/ : /:80$/;
  const isExact = url.host === authority.toLowerCase().replace(defaultPort, '');
  return isExact ? url : `has the host ${authority}, which would be read as ${url.host}`;
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

/** Whether secrets may be sent to a URL: https:, or this machine (D13). */
export function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname);
}

/**
 * Whether a host is this machine. `localhost` is the only name that counts: some systems resolve `app.localhost` over
 * the network.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
