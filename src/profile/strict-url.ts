import { isPrintableAscii } from '../redaction/sanitize.ts';

/** Thrown where a URL cannot be trusted with credentials; the message completes "url …". */
export class InvalidUrlError extends Error {}

/** Reading an address costs as much as reading all the rest of a profile, and the same few come again and again. */
const known = new Map<string, URL>();
const MAX_KNOWN = 64;

const SCHEMES = ['https://', 'http://'];

/** Like {@link readStrictly}; nobody may change the URL that it gives. */
export function parseStrictUrl(text: string): URL {
  let url = known.get(text);
  if (url === undefined) {
    url = readStrictly(text);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, url);
  }
  return url;
}

/** A URL whose host is exactly the one that is written: everything that parsers silently repair is refused instead. */
function readStrictly(text: string): URL {
  const authority = authorityIn(text);
  if (authority === undefined) {
    const why = /#/.test(text)
      ? 'must not have a fragment'
      : /[\s\\\0-\x1f]/.test(text)
        ? 'has blanks, line ends, control characters or backslashes in it'
        : 'must be a complete https:// address';
    throw new InvalidUrlError(why);
  }
  if (authority.includes('@')) throw new InvalidUrlError('must not contain a user name or password');
  const url = parse(text);
  if (!isPrintableAscii(authority)) {
    // Letters of other scripts look alike, and some are silently replaced: ｅ becomes e.
    throw new InvalidUrlError(`names a host with letters beyond ASCII, which would be read as ${url.host}`);
  }
  // `new URL` decodes %65vil.com and turns 0x7f.1 into 127.0.0.1: a host that changes by being read is not the host that was meant.
  const host = authority.toLowerCase();
  const defaultPort = url.protocol === 'https:' ? ':443' : ':80';
  if (url.host !== (host.endsWith(defaultPort) ? host.slice(0, -defaultPort.length) : host)) {
    throw new InvalidUrlError(`names the host ${authority}, which would be read as ${url.host}`);
  }
  return url;
}

/** The part behind `//`, of what may be an address; without a pattern, since to compile one takes longer than all the rest. */
function authorityIn(text: string): string | undefined {
  const start = SCHEMES.find((scheme) => text.slice(0, scheme.length).toLowerCase() === scheme)?.length;
  const hasBlanks = isPrintableAscii(text) ? text.includes(' ') : /[\s\0-\x1f]/.test(text);
  if (start === undefined || hasBlanks || text.includes('#') || text.includes('\\')) return undefined;
  const ends = [text.indexOf('/', start), text.indexOf('?', start)].filter((at) => at >= 0);
  return text.slice(start, Math.min(text.length, ...ends)) || undefined;
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new InvalidUrlError('is not a valid address');
  }
}
