import { type CallOptions, checkCall, profileFor, sessionFor } from './library-session.ts';

/** What {@link oauthProfile} can be told. */
export type OAuthProfileOptions = CallOptions;

/** A token response as the provider gave it: every member, types kept. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type?: string;
  /** Seconds; a text where the provider answered with a form. */
  readonly expires_in?: number | string;
  readonly refresh_token?: string;
  readonly scope?: string;
  readonly id_token?: string;
  readonly [member: string]: unknown;
}

/** Asks the provider of a profile for a token and returns its response; any failure is one {@link OAuthProfileError}. */
export async function oauthProfile(profile: string, options: OAuthProfileOptions = {}): Promise<TokenResponse> {
  checkCall('oauthProfile', profile, options);
  const session = sessionFor(options);
  const found = await profileFor(session, profile, options);
  const { reply } = await session.obtain(found, { signal: options.signal });
  return reply.response as TokenResponse;
}
