import { OAuthProfileError, TransportError } from '../errors.ts';
import { createApiHeader } from '../oauth/api-header.ts';
import { parseBody } from '../oauth/http-response.ts';
import {
  buildIntrospectionRequest,
  type DecodedToken,
  decodeToken,
  parseIntrospectionResponse,
} from '../oauth/inspection.ts';
import type { ParsedToken } from '../oauth/token-response.ts';
import type { CallApi, Ports } from '../ports.ts';
import { selectUserinfoUrl } from '../profile/endpoints.ts';
import { type Profile, tlsFiles } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';
import { findMetadata } from './read-metadata.ts';
import { post } from './request-token.ts';
import type { TokenResult } from './token-cache.ts';

/** The response of an endpoint, or why there is none. */
export type EndpointView = { readonly url: string } & (
  | { readonly response: Readonly<Record<string, unknown>> }
  | { readonly error: string }
);

/** Everything that is known about a token. */
export interface TokenInspection {
  readonly accessToken: DecodedToken;
  /** `undefined` if the response has none. */
  readonly idToken: DecodedToken | undefined;
  /** RFC 7662; `undefined` if the server does not offer it. */
  readonly introspection: EndpointView | undefined;
  /** OpenID Connect Core §5.3; `undefined` if the server does not offer it or the token is not for it. */
  readonly userinfo: EndpointView | undefined;
}

interface InspectionPorts {
  readonly callApi: CallApi;
  readonly ports: Ports;
}

const MAX_BYTES = 262_144;

/** Decodes a token and requests what its server knows about it. An endpoint that fails does not end the inspection. */
export async function inspectToken(
  { token, profile }: TokenResult,
  client: InspectionPorts,
  signal: AbortSignal,
): Promise<TokenInspection> {
  const { accessToken, response } = token;
  const idToken = response['id_token'];
  const { introspectionUrl, userinfoUrl } = await findEndpoints(profile, client, signal);
  const hasUser = idToken !== undefined || /(?:^|[ ,])openid(?:[ ,]|$)/.test(grantedScope(profile, response));
  return {
    accessToken: decodeToken(accessToken),
    idToken: typeof idToken === 'string' ? decodeToken(new Secret(idToken)) : undefined,
    introspection:
      introspectionUrl &&
      (await viewEndpoint(introspectionUrl, () =>
        post(buildIntrospectionRequest(profile, introspectionUrl, accessToken), client.ports, {
          parse: parseIntrospectionResponse,
          mayRetry: () => true,
          signal,
        }),
      )),
    userinfo:
      userinfoUrl && hasUser
        ? await viewEndpoint(userinfoUrl, () => requestUserinfo(userinfoUrl, token, profile, client, signal))
        : undefined,
  };
}

/** The scope in the response, else the requested one (RFC 6749 §5.1). */
function grantedScope({ fields }: Profile, { scope }: Readonly<Record<string, unknown>>): string {
  return String(scope ?? fields.find(({ name }) => name === 'scope')?.value ?? '');
}

/** The configured endpoints, the provider's documented ones, or those of the metadata. Client credentials are sent only to the origin of the token URL. */
async function findEndpoints(profile: Profile, client: InspectionPorts, signal: AbortSignal) {
  const { introspectionUrl, userinfoUrl = selectUserinfoUrl(profile.provider, profile.url) } = profile.options;
  if (introspectionUrl && userinfoUrl) return { introspectionUrl, userinfoUrl };
  const metadata = await findMetadata(profile, client, signal).catch((error: unknown) => {
    if (error instanceof TransportError) return undefined;
    throw error;
  });
  const published = metadata?.introspectionUrl;
  return {
    introspectionUrl: introspectionUrl ?? (published?.origin === profile.url.origin ? published : undefined),
    userinfoUrl: userinfoUrl ?? metadata?.userinfoUrl,
  };
}

async function viewEndpoint(url: URL, request: () => Promise<Record<string, unknown>>): Promise<EndpointView> {
  try {
    return { url: url.href, response: await request() };
  } catch (error) {
    if (!(error instanceof OAuthProfileError) || error.code === 'aborted') throw error;
    return { url: url.href, error: error.message };
  }
}

async function requestUserinfo(
  url: URL,
  token: ParsedToken,
  profile: Profile,
  { callApi, ports }: InspectionPorts,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  // RFC 6750 §2.1, whichever header the provider's API expects.
  const options = { ...profile.options, apiHeader: 'Authorization', apiScheme: undefined };
  const { name, value } = createApiHeader({ ...profile, options }, token);
  const headers = [
    ['Accept', 'application/json'],
    [name, value],
    ['User-Agent', `oauth-profile/${ports.version}`],
  ] as const;
  const request = { method: 'GET', url, headers, body: undefined, tls: tlsFiles(options) };
  const response = await callApi(request, { timeoutMs: options.timeoutMs, signal, maxBytes: MAX_BYTES });
  const body = parseBody(new TextDecoder().decode(response.body));
  if (response.status === 200 && body.kind === 'object') return body.members;
  const reason = response.status === 200 ? 'returned no JSON object' : `returned HTTP ${response.status}`;
  throw new OAuthProfileError('response_unreadable', `${url.host} ${reason}`);
}
