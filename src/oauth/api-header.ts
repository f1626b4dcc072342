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
 * case-sensitively. A token that is bound to a key (RFC 9449 §7.1) is rejected unless the caller adds a proof to each request.
 */
export function createApiHeader(
  { name: profile, options, dpopKey }: Pick<Profile, 'name' | 'options' | 'dpopKey'>,
  { accessToken, tokenType = 'Bearer' }: Pick<ParsedToken, 'accessToken' | 'tokenType'>,
  addsProofs = false,
): ApiHeader {
  const { apiHeader: name, apiScheme } = options;
  if (dpopKey !== undefined && !addsProofs)
    throw new OAuthProfileError(
      'usage',
      `the token of ${profile} is bound to a key (DPoP), so a header alone is not enough`,
      {
        hint: 'each request needs a proof of its own: use oauth-profile proxy, createTokenSource().fetch, or a script with options.authorize_origin',
      },
    );
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
