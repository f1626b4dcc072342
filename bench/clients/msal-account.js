import { client } from '../fixtures.js';

export const host = 'login.bench.example';
export const authority = `https://${host}/tenant/`;

const encode = (/** @type {object} */ part) => Buffer.from(JSON.stringify(part)).toString('base64url');
const claims = { iss: authority, aud: client.id, sub: 'ada', preferred_username: 'ada', iat: 1, exp: 9_999_999_999 };

/** The ID token of the signed-in user; MSAL caches no token of a user without one. */
export const idToken = `${encode({ alg: 'none' })}.${encode(claims)}.`;

/** The output of MSAL's `serialize()` after a login: an account and its refresh token, no access token. @param {string} refreshToken */
export function serializedCache(refreshToken) {
  const owner = { home_account_id: 'ada', environment: host };
  const account = {
    ...owner,
    realm: '',
    local_account_id: 'ada',
    username: 'ada',
    authority_type: 'Generic',
    name: '',
    tenantProfiles: ['{"tenantId":"","localAccountId":"ada","username":"ada","isHomeTenant":false}'],
  };
  const refresh = { ...owner, credential_type: 'RefreshToken', client_id: client.id, secret: refreshToken };
  return JSON.stringify({
    Account: { [`ada-${host}-`]: account },
    IdToken: {},
    AccessToken: {},
    RefreshToken: { [`ada-${host}-refreshtoken-${client.id}---`]: refresh },
    AppMetadata: {},
  });
}
