/** A token for another program, in plaintext. */
export interface ToolToken {
  /** Access token or id token. Printable ASCII. */
  readonly token: string;
  /** The header with which the API expects it. */
  readonly header: { readonly name: string; readonly value: string };
  /** Epoch milliseconds; `undefined` if unknown. */
  readonly expiresAt: number | undefined;
}

/** Unix time in seconds; `undefined` if the token does not expire or the time is unknown. */
export function expirySeconds({ expiresAt }: Pick<ToolToken, 'expiresAt'>): number | undefined {
  return expiresAt !== undefined && Number.isFinite(expiresAt) ? Math.floor(expiresAt / 1000) : undefined;
}

/** RFC 3339 without fractions; `undefined` if the time is unknown or outside the range of dates. */
export function expiryTime({ expiresAt }: Pick<ToolToken, 'expiresAt'>): string | undefined {
  const date = new Date(expiresAt ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/\.\d+Z$/, 'Z');
}
