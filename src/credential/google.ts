import { expirySeconds, type ToolToken } from './tool-token.ts';

/**
 * Formats the response of an executable source of Application Default Credentials (https://google.aip.dev/auth/4117). The type of an access token is
 * `jwt`: Google accepts any signed token of a configured issuer.
 */
export function formatGoogleResponse(token: ToolToken, kind: 'access_token' | 'id_token'): string {
  return JSON.stringify({
    version: 1,
    success: true,
    token_type: `urn:ietf:params:oauth:token-type:${kind === 'id_token' ? 'id_token' : 'jwt'}`,
    id_token: token.token,
    expiration_time: expirySeconds(token),
  });
}

/** Formats the response of an executable that failed. */
export function formatGoogleError(code: string, message: string): string {
  return JSON.stringify({ version: 1, success: false, code, message });
}
