import {
  allowInsecureRequests,
  ClientSecretPost,
  Configuration,
  clientCredentialsGrant,
  refreshTokenGrant,
} from 'openid-client';
import { client } from '../fixtures.js';
import { shareByFile } from './token-file.js';

/** @type {import('../clients.js').Client['request']} */
export function request(url) {
  const configuration = configure(url);
  return async () => (await clientCredentialsGrant(configuration)).access_token;
}

/** @type {import('../clients.js').Client['share']} */
export function share(url, file) {
  const configuration = configure(url);
  return shareByFile(file, async ({ refresh_token: old }) => {
    const tokens = await refreshTokenGrant(configuration, old);
    return {
      access_token: tokens.access_token,
      refresh_token: tokens.refresh_token ?? old,
      expires_at: Date.now() + (tokens.expiresIn() ?? 0) * 1000,
    };
  });
}

/** @param {string} url */
function configure(url) {
  const server = { issuer: new URL(url).origin, token_endpoint: url };
  const configuration = new Configuration(server, client.id, undefined, ClientSecretPost(client.secret));
  allowInsecureRequests(configuration);
  return configuration;
}
