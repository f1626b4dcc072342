import { TransportError } from '../../errors.ts';
import { parseBody } from '../../oauth/http-response.ts';
import type { ApiResponse, CallApi, Limits, Ports } from '../../ports.ts';
import { selectLoginEndpoints } from '../../profile/endpoints.ts';
import { type Profile, tlsFiles } from '../../profile/profile.ts';
import { isSameEndpoint } from './compare-metadata.ts';

/** Response from a URL where a server may publish its metadata. */
export interface PublishedDocument {
  readonly location: URL;
  readonly response: ApiResponse;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** `undefined` if the response is not an object. */
  readonly members: Readonly<Record<string, unknown>> | undefined;
}

/** Ports of {@link readMetadata}. */
export interface MetadataPorts {
  readonly callApi: CallApi;
  readonly ports: Pick<Ports, 'clock' | 'version'>;
}

const MAX_BYTES = 262_144;

/** Requests the possible metadata URLs in turn, until one describes the profile's token endpoint (RFC 8414, OpenID Connect Discovery). */
export async function readMetadata(
  profile: Profile,
  { callApi, ports: { clock, version } }: MetadataPorts,
  { timeoutMs, signal }: Limits,
): Promise<[first: PublishedDocument, ...more: PublishedDocument[]]> {
  const { provider, url, options } = profile;
  const tls = tlsFiles(options);
  const deadline = clock.now() + timeoutMs;
  const read = async (location: URL): Promise<PublishedDocument> => {
    const headers = [
      ['Accept', 'application/json'],
      ['User-Agent', `oauth-profile/${version}`],
    ] as const;
    const limits = { timeoutMs: Math.max(1, deadline - clock.now()), maxBytes: MAX_BYTES, signal };
    const response = await callApi({ method: 'GET', url: location, headers, body: undefined, tls }, limits);
    const body = parseBody(new TextDecoder().decode(response.body));
    return { location, response, receivedAt: clock.now(), members: body.kind === 'object' ? body.members : undefined };
  };
  const [first, ...others] = metadataUrls(profile);
  const documents: [PublishedDocument, ...PublishedDocument[]] = [await read(first)];
  for (const location of others) {
    if (isSameEndpoint(documents.at(-1)?.members?.['token_endpoint'], url, provider) || clock.now() >= deadline) break;
    try {
      documents.push(await read(location));
    } catch (error) {
      // The server was reached before, so this is not a connection problem.
      if (!(error instanceof TransportError)) throw error;
    }
  }
  return documents;
}

/** The provider's documented URL; for other servers the URLs of each issuer that the token endpoint may belong to (RFC 8414 §3.1). */
function metadataUrls({ provider, url, options }: Profile): [URL, ...URL[]] {
  const [first = new URL('/', url), ...more] = selectLoginEndpoints(provider, url, options).metadataUrls;
  if (provider.login?.metadataUrl !== undefined) return [first, ...more];
  // A built-in provider without metadata: one request, to compare clocks.
  if (provider.tokenUrl !== undefined) return [first];
  const parts = url.pathname.split('/').slice(1);
  const issuers = [1, 2, 3].filter((cut) => cut < parts.length).map((cut) => `/${parts.slice(0, -cut).join('/')}`);
  const withPath = issuers.flatMap((issuer) => [
    new URL(`${issuer}/.well-known/openid-configuration`, url),
    new URL(`/.well-known/oauth-authorization-server${issuer}`, url),
  ]);
  return [first, ...more, ...withPath];
}
