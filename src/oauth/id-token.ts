import { decodeJwt } from 'jose/jwt/decode';
import { OAuthProfileError } from '../errors.ts';
import { Secret } from '../redaction/secret.ts';

/** The ID token of a response. Times are in epoch milliseconds; `undefined` if it has no such claim. */
export interface IdToken {
  readonly value: Secret;
  readonly issuedAt: number | undefined;
  readonly expiresAt: number | undefined;
}

/** Reads the ID token of a profile's token response. The signature is not checked: the recipient does that. */
export function readIdToken(response: Readonly<Record<string, unknown>>, profile: string): IdToken {
  const text = response['id_token'];
  if (typeof text !== 'string' || text === '')
    throw new OAuthProfileError('response_unreadable', `the token response of ${profile} has no id_token`, {
      hint: `add openid to ${profile}.scope, then log in again`,
    });
  const value = new Secret(text);
  try {
    const { iat, exp } = decodeJwt(text);
    const toMs = (seconds: number | undefined): number | undefined => seconds && seconds * 1000;
    return { value, issuedAt: toMs(iat), expiresAt: toMs(exp) };
  } catch {
    return { value, issuedAt: undefined, expiresAt: undefined };
  }
}
