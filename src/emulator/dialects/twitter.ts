import type { Dialect } from '../dialect.ts';
import { json } from '../message.ts';

/** X (Twitter), app-only. Wrong credentials and too many requests get the same answer there. */
export const twitter: Dialect = {
  type: 'twitter',
  tokenUrl: 'https://api.twitter.com/oauth2/token',
  hosts: /^api\.(?:twitter|x)\.com$/,
  hostsApart: false,
  routes: [
    { action: 'token', method: 'POST', path: /^\/oauth2\/token$/ },
    { action: 'revoke', method: 'POST', path: /^\/oauth2\/invalidate_token$/ },
    { action: 'resource', method: 'GET', path: /^\/2\/(?:users|tweets)\/.+$/ },
  ],
  grants: ['client_credentials'],
  clientAuth: { usual: 'basic', basic: 'decoded', body: false, onlyRegistered: false, both: 'header_wins' },
  anonymousPassword: false,
  tenantsWithoutPassword: [],
  scopeRequiredFor: [],
  allowsOwnScope: () => true,
  codeReuseRevokes: false,
  metadata: undefined,
  issuer: undefined,
  revokesWithoutClient: false,
  refresh: { policy: 'none', onRequest: false, widens: false, graceSeconds: 0, scope: undefined, lifetimeSeconds: 0 },
  lifetimeSeconds: Number.POSITIVE_INFINITY,
  device: undefined,
  sameToken: true,
  dress: (token) => `AAAAAAAAAAAAAAAAAAAAA${encodeURIComponent(`${token}/=`)}`,
  undress: (token) => decodeURIComponent(token.replace(/^A{21}/, '')).replace(/\/=$/, ''),
  response: ({ accessToken }) => ({ token_type: 'bearer', access_token: accessToken }),
  refusal(problem) {
    if (problem.kind === 'missing_field' || problem.kind === 'unread_body') {
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
  resourceRefusal: () => json(401, { title: 'Unauthorized', type: 'about:blank', status: 401, detail: 'Unauthorized' }),
  tenantOf: () => undefined,
};
