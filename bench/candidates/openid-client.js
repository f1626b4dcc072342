import { allowInsecureRequests, ClientSecretPost, Configuration, clientCredentialsGrant } from 'openid-client';
import { client } from '../profile.js';

/** @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const server = { issuer: new URL(url).origin, token_endpoint: url };
  const configuration = new Configuration(server, client.id, undefined, ClientSecretPost(client.secret));
  allowInsecureRequests(configuration);
  return async () => (await clientCredentialsGrant(configuration)).access_token;
}
