import { json } from '../messages.ts';
import type { EmulatedProvider } from '../provider.ts';

/** X (Twitter), app-only, with opaque access tokens. Invalid credentials and exceeded rate limits get the same response. */
export const twitter: EmulatedProvider = {
  type: 'twitter',
  tokenUrl: 'https://api.twitter.com/oauth2/token',
  hosts: /^api\.(?:twitter|x)\.com$/,
  routes: {
    token: /^\/oauth2\/token$/,
    revoke: /^\/oauth2\/invalidate_token$/,
    resource: /^\/2\/(?:users|tweets)\/.+$/,
  },
  grants: ['client_credentials'],
  clientAuth: { default: 'client_secret_basic', basicOnly: true, headerWins: true },
  refresh: { policy: 'none', lifetimeSeconds: 0 },
  lifetimeSeconds: Number.POSITIVE_INFINITY,
  stableToken: true,
  encodeAccessToken: (token) => `AAAAAAAAAAAAAAAAAAAAA${encodeURIComponent(`${token}/=`)}`,
  decodeAccessToken: (token) => decodeURIComponent(token.replace(/^A{21}/, '')).replace(/\/=$/, ''),
  response: (_, { accessToken }) => ({ token_type: 'bearer', access_token: accessToken }),
  errorResponse(_, kind) {
    const error =
      kind === 'missing_field' || kind === 'missing_grant_type'
        ? { code: 170, label: 'forbidden_missing_parameter', message: 'Missing required parameter: grant_type' }
        : { code: 99, label: 'authenticity_token_error', message: 'Unable to verify your credentials' };
    return json(403, { errors: [error] });
  },
  issuer: ({ origin }) => origin,
  resource: ({ clientId }) => json(200, { data: { id: '1', name: 'X Dev', username: clientId } }),
  unauthorizedResponse: () =>
    json(401, { title: 'Unauthorized', type: 'about:blank', status: 401, detail: 'Unauthorized' }),
};
