import type { Client } from '../client.ts';
import type { Variables } from '../config/variables.ts';
import type { TokenResult } from '../flows/token-cache.ts';
import { getProfileToken } from '../get-token.ts';
import { createApiHeader } from '../oauth/api-header.ts';
import { readIdToken } from '../oauth/id-token.ts';
import type { Profile } from '../profile/profile.ts';
import type { ToolToken } from './tool-token.ts';

/** Which token of the response a tool gets. */
export type TokenKind = 'access_token' | 'id_token';

/** An id token with less time left than this is requested again, in milliseconds. */
const MIN_ID_TOKEN_MS = 60_000;

/** Gets a token for a tool, from the cache while it is usable. Never opens a browser. */
export async function getToolToken(
  client: Client,
  name: string,
  options: { readonly variables: Variables; readonly kind: TokenKind; readonly signal: AbortSignal },
): Promise<{ readonly token: ToolToken; readonly profile: Profile }> {
  const { variables, kind, signal } = options;
  const profile = await client.loadProfile(name, variables);
  let result = await getProfileToken(client, profile, { reuse: true, signal });
  let token = toToolToken(result, kind);
  // The id token may expire before the access token, which decides how long the response is cached.
  const isOld = token.expiresAt !== undefined && token.expiresAt - client.ports.clock.now() < MIN_ID_TOKEN_MS;
  if (kind === 'id_token' && result.fromCache && isOld) {
    // Only the first of several processes requests a new response.
    result = await getProfileToken(client, profile, { reuse: true, rejectedToken: result.token.accessToken, signal });
    token = toToolToken(result, kind);
  }
  return { token, profile };
}

/** The token of a response in plaintext. */
export function toToolToken({ token, profile }: TokenResult, kind: TokenKind = 'access_token'): ToolToken {
  const { value, expiresAt } =
    kind === 'access_token'
      ? { value: token.accessToken, expiresAt: token.expiresAt }
      : readIdToken(token.response, profile.name);
  // An ID token is sent as a bearer token, whatever the type of the access token.
  const header =
    kind === 'access_token'
      ? createApiHeader(profile, token)
      : createApiHeader({ ...profile, dpopKey: undefined }, { accessToken: value, tokenType: undefined });
  return { token: value.reveal(), header: { name: header.name, value: header.value.reveal() }, expiresAt };
}
