import { TransportError } from '../errors.ts';
import { parseBody } from '../oauth/http-response.ts';
import { metadataLocations, parseMetadata, type Server, type ServerMetadata } from '../oauth/metadata.ts';
import type { ApiResponse, CallApi, Limits, Ports } from '../ports.ts';
import { type ProfileOptions, tlsFiles } from '../profile/profile.ts';

/** Response from a URL where a server may publish its metadata. */
export interface PublishedDocument {
  readonly location: URL;
  readonly response: ApiResponse;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** `undefined` if the response is not an object. */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  /** `undefined` if the document does not describe the server of the profile. */
  readonly metadata: ServerMetadata | undefined;
}

/** Ports of {@link readMetadata}. */
export interface MetadataPorts {
  readonly callApi: CallApi;
  readonly ports: Pick<Ports, 'clock' | 'version'>;
}

const MAX_BYTES = 262_144;
const TIMEOUT_MS = 10_000;

/** Requests one metadata document. Redirects are not followed. */
export async function requestDocument(
  url: URL,
  options: ProfileOptions,
  { callApi, ports: { version } }: MetadataPorts,
  limits: Limits,
): Promise<Pick<PublishedDocument, 'response' | 'members'>> {
  const headers = [
    ['Accept', 'application/json'],
    ['User-Agent', `oauth-profile/${version}`],
  ] as const;
  const request = { method: 'GET', url, headers, body: undefined, tls: tlsFiles(options) };
  const response = await callApi(request, { ...limits, maxBytes: MAX_BYTES });
  const body = parseBody(new TextDecoder().decode(response.body));
  return { response, members: body.kind === 'object' ? body.members : undefined };
}

/** Requests the possible metadata URLs in turn, until one describes the server of a profile (RFC 8414, OpenID Connect Discovery). */
export async function readMetadata(
  server: Server,
  ports: MetadataPorts,
  { timeoutMs, signal }: Limits,
): Promise<[first: PublishedDocument, ...more: PublishedDocument[]]> {
  const { clock } = ports.ports;
  const deadline = clock.now() + timeoutMs;
  const read = async (url: URL): Promise<PublishedDocument> => {
    const limits = { timeoutMs: Math.max(1, deadline - clock.now()), signal };
    const { response, members } = await requestDocument(url, server.options, ports, limits);
    const metadata = response.status === 200 ? parseMetadata(members, url, server) : undefined;
    return { location: url, response, receivedAt: clock.now(), members, metadata };
  };
  const [first, ...others] = metadataLocations(server);
  const documents: [PublishedDocument, ...PublishedDocument[]] = [await read(first)];
  for (const location of others) {
    if (documents.at(-1)?.metadata !== undefined || clock.now() >= deadline) break;
    try {
      documents.push(await read(location));
    } catch (error) {
      // The server was reached before, so this is not a connection problem.
      if (!(error instanceof TransportError)) throw error;
    }
  }
  return documents;
}

/** Finds the metadata of the server of a profile; `undefined` if it publishes none. */
export async function findMetadata(
  server: Server,
  ports: MetadataPorts,
  signal: AbortSignal | undefined,
): Promise<ServerMetadata | undefined> {
  const documents = await readMetadata(server, ports, { timeoutMs: TIMEOUT_MS, signal });
  return documents.find(({ metadata }) => metadata !== undefined)?.metadata;
}
