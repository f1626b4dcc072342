import { type EmulatorResponse, json, jsonMembers } from '../messages.ts';
import type { RequestContext } from '../realm.ts';
import { issueTokens } from '../tokens/issue-tokens.ts';
import { decodeAssertion, verifyAssertion } from './client-auth.ts';

/** The longest validity of the JWT of an app, and the lifetime of the tokens, in seconds. */
const MAX_VALIDITY = 600;
const LIFETIME = 3600;

/** Installations of GitHub Apps: looks one up (GET), or issues a token for it (POST). The bearer token is a JWT that the app has signed. */
export async function installationEndpoint(context: RequestContext): Promise<EmulatorResponse> {
  const { request, realm, now } = context;
  const [, jwt = ''] = /^Bearer (.+)$/i.exec(String(request.headers['authorization'] ?? '')) ?? [];
  const { iss, exp = 0 } = await decodeAssertion(jwt);
  const client = realm.clients.get(String(iss));
  const isTooLong = exp > now / 1000 + MAX_VALIDITY;
  const expected = { issuer: String(iss), withoutAudience: true };
  if (client === undefined || isTooLong || !(await verifyAssertion(context, client, jwt, expected)))
    return json(401, { message: 'A JSON web token could not be decoded', status: '401' });
  if (request.method === 'GET') return json(200, { id: 1, app_slug: client.id });
  const { permissions = { metadata: 'read' }, repositories } = jsonMembers(request);
  const { accessToken, issuedAt } = await issueTokens(context, {
    ...{ clientId: client.id, clientAuth: 'assertion', user: undefined, scope: '', grant: 'installation' },
    overrides: { lifetime: LIFETIME },
  });
  return json(201, {
    token: accessToken,
    expires_at: new Date((issuedAt + LIFETIME) * 1000).toISOString().replace('.000', ''),
    permissions,
    repository_selection: repositories === undefined ? 'all' : 'selected',
  });
}
