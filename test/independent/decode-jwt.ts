/** Header and claims of a JWT, without the members that differ at each request. */
export function decodeJwt(jwt: string): { header: Record<string, unknown>; claims: Record<string, unknown> } {
  const [header, claims] = jwt.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  const { iat, exp, nbf, jti, ...others } = claims;
  return { header, claims: others };
}
