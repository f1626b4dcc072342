import { parseStrictUrl } from '../profile/url.ts';

/**
 * The URLs that a tool may mean with a host, a host and port, or a URL; none if it is anything else. Credentials in the URL, and hosts that `new URL`
 * would read differently, are rejected. Without a scheme, http: is possible too: it is a candidate only for loopback origins.
 */
export function parseRequestUrls(text: string): URL[] {
  // Cargo prefixes the URL of an index with its protocol. gRPC is HTTP/2.
  const plain = text.replace(/^(?:sparse|registry)\+/, '').replace(/^grpc(s?):\/\//, 'http$1://');
  const candidates = /^[a-z][a-z\d+.-]*:\/\//i.test(plain) ? [plain] : [`https://${plain}`, `http://${plain}`];
  return candidates.map((candidate) => parseStrictUrl(candidate)).filter((url) => typeof url !== 'string');
}
