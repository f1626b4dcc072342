import {
  allowInsecureRequests,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  processClientCredentialsResponse,
} from 'oauth4webapi';
import { client as credentials } from '../fixtures.js';

/** @type {import('../clients.js').Client['request']} */
export function request(url) {
  const server = { issuer: new URL(url).origin, token_endpoint: url };
  const client = { client_id: credentials.id };
  const authenticate = ClientSecretPost(credentials.secret);
  const options = { [allowInsecureRequests]: true };
  return async () => {
    const response = await clientCredentialsGrantRequest(server, client, authenticate, {}, options);
    return (await processClientCredentialsResponse(server, client, response)).access_token;
  };
}
