import { json } from '../messages.ts';
import type { EmulatedProvider } from '../provider.ts';

/** X (Twitter), app-only. Invalid credentials and exceeded rate limits get the same response. */
export const twitter: EmulatedProvider = {
  type: 'twitter',
  tokenUrl: 'https://api.twitter.com/oauth2/token',
  hosts: /^api\.(?:twitter|x)\.com$/,
  isolatedHosts: false,
  routes: [
    { action: 'token', method: 'POST', path: /^\/oauth2\/token$/ },
    { action: 'revoke', method: 'POST', path: /^\/oauth2\/invalidate_token$/ },
    { action: 'resource', method: 'GET', path: /^\/2\/(?:users|tweets)\/.+$/ },
  ],
  grants: ['client_credentials'],
  clientAuth: {
    default: 'client_secret_basic',
    basicDecoding: 'decoded',
    allowsPost: false,
    registeredMethodOnly: false,
    multiple: 'header_wins',
  },
  passwordGrantWithoutClient: false,
  tenantsWithoutPasswordGrant: [],
  scopeRequiredFor: [],
  allowsClientScope: () => true,
  codeReuseRevokesTokens: false,
  metadata: undefined,
  issuer: undefined,
  revocationWithoutClientAuth: false,
  refresh: {
    policy: 'none',
    offlineAccessOnly: false,
    allowsNewScopes: false,
    graceSeconds: 0,
    requiredScope: undefined,
    lifetimeSeconds: 0,
  },
  lifetimeSeconds: Number.POSITIVE_INFINITY,
  device: undefined,
  stableToken: true,
  encodeAccessToken: (token) => `AAAAAAAAAAAAAAAAAAAAA${encodeURIComponent(`${token}/=`)}`,
  decodeAccessToken: (token) => decodeURIComponent(token.replace(/^A{21}/, '')).replace(/\/=$/, ''),
  response: ({ accessToken }) => ({ token_type: 'bearer', access_token: accessToken }),
  errorResponse(rejection) {
    if (rejection.kind === 'missing_field') {
      return json(403, {
        errors: [
          { code: 170, label: 'forbidden_missing_parameter', message: 'Missing required parameter: grant_type' },
        ],
      });
    }
    return json(403, {
      errors: [{ code: 99, label: 'authenticity_token_error', message: 'Unable to verify your credentials' }],
    });
  },
  resource: (_, clientId) => json(200, { data: { id: '1', name: 'X Dev', username: clientId } }),
  unauthorizedResponse: () =>
    json(401, { title: 'Unauthorized', type: 'about:blank', status: 401, detail: 'Unauthorized' }),
  tenantOf: () => undefined,
};
