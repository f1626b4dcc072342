import { TransportError } from '../../errors.ts';
import { parseBody } from '../../oauth/http-response.ts';
import type { ApiResponse, CallApi, Clock, Limits } from '../../ports.ts';
import { selectLoginEndpoints } from '../../profile/endpoints.ts';
import { type Profile, tlsFiles } from '../../profile/profile.ts';
import { isSameEndpoint } from './compare-metadata.ts';

/** What an address answered that may tell of the server. */
export interface Published {
  readonly location: URL;
  readonly reply: ApiResponse;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** The answer's members; `undefined` where it has none. */
  readonly members: Readonly<Record<string, unknown>> | undefined;
}

/** What reading takes of the outside world. */
export interface MetadataPorts {
  readonly callApi: CallApi;
  readonly clock: Pick<Clock, 'now'>;
  /** Of this package, for the User-Agent. */
  readonly version: string;
}

const MAX_BYTES = 262_144;

/** Asks the addresses where the server may publish something of itself, one after the other, until one tells of the profile's token endpoint. */
export async function readMetadata(
  profile: Profile,
  { callApi, clock, version }: MetadataPorts,
  { timeoutMs, signal }: Limits,
): Promise<[first: Published, ...more: Published[]]> {
  const { provider, url, options } = profile;
  const tls = tlsFiles(options);
  const endsAt = clock.now() + timeoutMs;
  const read = async (location: URL): Promise<Published> => {
    const headers = [
      ['Accept', 'application/json'],
      ['User-Agent', `oauth-profile/${version}`],
    ] as const;
    const bounds = { timeoutMs: Math.max(1, endsAt - clock.now()), maxBytes: MAX_BYTES, signal };
    const reply = await callApi({ method: 'GET', url: location, headers, body: undefined, tls }, bounds);
    const body = parseBody(new TextDecoder().decode(reply.body));
    return { location, reply, receivedAt: clock.now(), members: body.kind === 'object' ? body.members : undefined };
  };
  const [first, ...others] = locationsOf(profile);
  const published: [Published, ...Published[]] = [await read(first)];
  for (const location of others) {
    if (isSameEndpoint(published.at(-1)?.members?.['token_endpoint'], url, provider) || clock.now() >= endsAt) break;
    try {
      published.push(await read(location));
    } catch (error) {
      // The first was answered, so that this says nothing of the way to the server.
      if (!(error instanceof TransportError)) throw error;
    }
  }
  return published;
}

/** The provider's own address; of other servers those for each issuer that the token endpoint may belong to (RFC 8414 §3.1). */
function locationsOf({ provider, url, options }: Profile): [URL, ...URL[]] {
  const [first = new URL('/', url), ...more] = selectLoginEndpoints(provider, url, options).metadataUrls;
  if (provider.login?.metadataUrl !== undefined) return [first, ...more];
  // A provider that is known to publish nothing is asked once, for its clock.
  if (provider.tokenUrl !== undefined) return [first];
  const parts = url.pathname.split('/').slice(1);
  const issuers = [1, 2, 3].filter((cut) => cut < parts.length).map((cut) => `/${parts.slice(0, -cut).join('/')}`);
  const below = issuers.flatMap((issuer) => [
    new URL(`${issuer}/.well-known/openid-configuration`, url),
    new URL(`/.well-known/oauth-authorization-server${issuer}`, url),
  ]);
  return [first, ...more, ...below];
}
