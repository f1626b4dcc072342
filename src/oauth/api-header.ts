import { OAuthProfileError } from '../errors.ts';
import type { Profile } from '../profile/profile.ts';
import { excerpt, isPrintableAscii } from '../redaction/sanitize.ts';
import type { Secret } from '../redaction/secret.ts';
import type { ParsedToken } from './token-response.ts';

/** The header with which an API expects a token. */
export interface ApiHeader {
  readonly name: string;
  readonly value: Secret;
}

/**
 * Creates the header of a request to an API. Tokens of other types than Bearer need more than a header, or must not be sent in one (RFC 6749 §7.1):
 * they are rejected, unless the profile sets `options.api_scheme`. `Bearer` is spelled as in RFC 6750 §2.1, because some servers compare it
 * case-sensitively. With a token that is bound to a key (RFC 9449 §7.1), each request also needs a proof.
 */
export function createApiHeader(
  { name: profile, options, dpopKey }: Pick<Profile, 'name' | 'options' | 'dpopKey'>,
  { accessToken, tokenType = 'Bearer' }: Pick<ParsedToken, 'accessToken' | 'tokenType'>,
): ApiHeader {
  const { apiHeader: name, apiScheme } = options;
  if (apiScheme === undefined && dpopKey === undefined && !/^bearer$/i.test(tokenType))
    throw new OAuthProfileError(
      'response_unreadable',
      `the token_type of ${profile} is "${excerpt(tokenType, 40)}", but only Bearer tokens are sent in a header`,
      {
        hint: `configure the client at the provider for Bearer tokens; or, if the API accepts the token in the header ${name}, set ${profile}.options.api_scheme`,
      },
    );
  // The error of a header library would show the token.
  if (!accessToken.test(isPrintableAscii))
    throw new OAuthProfileError(
      'response_unreadable',
      `the access token of ${profile} contains characters that are not allowed in a header`,
      { hint: 'RFC 6749 allows printable ASCII only' },
    );
  const standardScheme = dpopKey === undefined ? 'Bearer' : 'DPoP';
  const scheme = apiScheme ?? (/authorization$/i.test(name) ? standardScheme : '');
  return { name, value: scheme === '' ? accessToken : accessToken.map((token) => `${scheme} ${token}`) };
}

/** Rejects a token that is bound to a key, for callers that can pass on a header but no proof for each request (RFC 9449 §7). */
export function rejectBoundToken({ name, dpopKey }: Pick<Profile, 'name' | 'dpopKey'>): void {
  if (dpopKey === undefined) return;
  throw new OAuthProfileError(
    'usage',
    `the token of ${name} is bound to a key (DPoP): each request needs a proof of its own`,
    {
      hint: 'send the requests through oauth-profile proxy, with createTokenSource().fetch, or with a script and options.authorize_origin',
    },
  );
}
