import {
  allowInsecureRequests,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  processClientCredentialsResponse,
} from 'oauth4webapi';
import { client as credentials } from '../profile.js';

/** @type {import('../candidates.js').Candidate['connect']} */
export function connect(url) {
  const server = { issuer: new URL(url).origin, token_endpoint: url };
  const client = { client_id: credentials.id };
  const authenticate = ClientSecretPost(credentials.secret);
  const options = { [allowInsecureRequests]: true };
  return async () => {
    const reply = await clientCredentialsGrantRequest(server, client, authenticate, {}, options);
    return (await processClientCredentialsResponse(server, client, reply)).access_token;
  };
}
