import {
  allowInsecureRequests,
  ClientSecretPost,
  Configuration,
  clientCredentialsGrant,
  refreshTokenGrant,
} from 'openid-client';
import { sharedByFile } from '../kept-file.js';
import { client } from '../profile.js';

/** @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const configuration = configure(url);
  return async () => (await clientCredentialsGrant(configuration)).access_token;
}

/** It keeps no token; a caller's variable does. @type {import('../candidates.js').Candidate['keep']} */
export function keep(url) {
  const configuration = configure(url);
  /** @type {Awaited<ReturnType<typeof clientCredentialsGrant>> | undefined} */
  let tokens;
  return async () => {
    if (!tokens?.expiresIn()) tokens = await clientCredentialsGrant(configuration);
    return tokens;
  };
}

/** @type {import('../candidates.js').Candidate['share']} */
export function share(url, file) {
  const configuration = configure(url);
  return sharedByFile(file, async ({ refresh_token: old }) => {
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
