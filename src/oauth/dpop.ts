import { parseChallenges } from './challenge.ts';
import { parseBody } from './http-response.ts';

const NONCE_ERROR = 'use_dpop_nonce';

/** A private ES256 key (RFC 7518 §6.2). */
export interface ProofKey {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  /** The private part. */
  readonly d: string;
}

/** The request that a proof is for. */
export interface ProofSpec {
  readonly method: string;
  readonly url: URL;
  /** Random and unique. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The last nonce of the server. */
  readonly nonce: string | undefined;
  /** Base64url of the SHA-256 of the access token, in requests to an API. */
  readonly tokenHash: string | undefined;
}

/** The response of a server that may require a nonce. */
export interface NonceResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Default: empty. Only token endpoints report the error there. */
  readonly body?: string;
}

/** Header and claims of a proof (RFC 9449 §4.2). */
export function buildProof({ kty, crv, x, y }: ProofKey, spec: ProofSpec) {
  const { method, url, id, createdAt, nonce, tokenHash } = spec;
  return {
    header: { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } },
    claims: {
      jti: id,
      htm: method,
      // Without query and fragment.
      htu: url.origin + url.pathname,
      iat: Math.floor(createdAt / 1000),
      ...(nonce !== undefined && { nonce }),
      ...(tokenHash !== undefined && { ath: tokenHash }),
    },
  };
}

/** The string whose SHA-256 identifies a key (RFC 7638 §3). */
export function thumbprintInput({ crv, kty, x, y }: ProofKey): string {
  return JSON.stringify({ crv, kty, x, y });
}

/** The nonce that a response sets for the next request (RFC 9449 §8.1). */
export function findNonce({ headers }: Pick<NonceResponse, 'headers'>): string | undefined {
  const nonce = headers['dpop-nonce'];
  return typeof nonce === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,4096}$/.test(nonce) ? nonce : undefined;
}

/** Whether a server rejected a request because its proof has not the server's nonce (RFC 9449 §8, §9). It did not process the request. */
export function rejectsNonce({ status, headers, body = '' }: NonceResponse): boolean {
  if (status !== 400 && status !== 401) return false;
  const parsed = parseBody(body);
  if (parsed.kind === 'object' && parsed.members['error'] === NONCE_ERROR) return true;
  return parseChallenges(headers['www-authenticate']).some(
    ({ scheme, parameters }) => scheme === 'dpop' && parameters.get('error') === NONCE_ERROR,
  );
}
