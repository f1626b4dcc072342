import { decodeJwt as decodeClaims, decodeProtectedHeader } from 'jose';

/** Header and claims of a JWT, without the members that differ at each request. */
export function decodeJwt(jwt: string): { header: object; claims: object } {
  const { iat, exp, nbf, jti, ...claims } = decodeClaims(jwt);
  return { header: decodeProtectedHeader(jwt), claims };
}
