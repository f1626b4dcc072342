import type { RequestContext } from '../realm.ts';
import type { Claims } from '../subjects.ts';
import { signJwt } from './signing-keys.ts';

const HOUR_SECONDS = 3600;
const SKEW_SECONDS = 600;

type Times = { iat?: unknown; nbf?: unknown; exp?: unknown; auth_time?: unknown };

/** Changes to the claims of tokens, by fault. An API that validates tokens must reject the result. */
const changes: Readonly<Record<string, <T extends Times>(claims: T) => T>> = {
  'wrong-audience': (claims) => ({ ...claims, aud: 'https://wrong-audience.example' }),
  'wrong-issuer': (claims) => ({ ...claims, iss: 'https://wrong-issuer.example' }),
  'expired-token': (claims) => moveTimes(claims, -HOUR_SECONDS - Number(claims.exp) + Number(claims.iat)),
  // The clock of the provider is ahead of all others.
  'clock-skew': (claims) => moveTimes({ nbf: claims.iat, ...claims }, SKEW_SECONDS),
};

function moveTimes<T extends Times>(claims: T, seconds: number): T {
  const moved = { ...claims };
  for (const name of ['iat', 'nbf', 'exp', 'auth_time'] as const) {
    if (typeof moved[name] === 'number') moved[name] += seconds;
  }
  return moved;
}

/** The claims of a token with the fault of the request, if it changes claims. */
export function changeClaims<T extends Times>(fault: string | undefined, claims: T): T {
  return changes[fault ?? '']?.(claims) ?? claims;
}

/** Signs the claims of a token, with the fault of the request if there is one. */
export async function applyTokenFault(
  { keys, fault }: RequestContext,
  header: Claims,
  claims: Record<string, unknown>,
): Promise<string> {
  const key = fault === 'expired-signing-key' ? await keys.retired() : await keys.current();
  const kid = fault === 'wrong-kid' ? 'unknown-key' : key.kid;
  const token = await signJwt(key, { alg: key.alg, kid, ...header }, changeClaims(fault, claims));
  return fault === 'bad-signature' ? changeSignature(token) : token;
}

/** Replaces the first character of the signature. */
function changeSignature(token: string): string {
  const at = token.lastIndexOf('.') + 1;
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
}
