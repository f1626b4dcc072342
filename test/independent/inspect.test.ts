import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../src/client.ts';
import { inspectToken, type TokenInspection } from '../../src/flows/inspect-token.ts';
import { getToken } from '../../src/get-token.ts';
import { Browser } from '../support/browser.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { variablesWith } from '../support/profiles.ts';

const REDIRECT = 'https://app.example.test/callback';
const secret = 'a-client-secret-of-the-app';
const methods = ['client_secret_basic', 'client_secret_post'] as const;

let server: OidcProvider;
beforeAll(async () => {
  const common = { client_secret: secret, redirect_uris: [REDIRECT] };
  const grant_types = ['client_credentials', 'authorization_code', 'refresh_token'];
  server = await startOidcProvider(
    methods.map((method) => ({ client_id: method, token_endpoint_auth_method: method, grant_types, ...common })),
  );
});
afterAll(() => server.close());

async function inspect(fields: Record<string, string>): Promise<TokenInspection> {
  const client = createClient({ environment: { env: {}, cwd: '/' }, store: 'memory' });
  const variables = variablesWith('svc', { type: 'custom', url: server.tokenUrl, client_secret: secret, ...fields });
  return inspectToken(await getToken(client, 'svc', { variables }), client, new AbortController().signal);
}

it.each(methods)('introspects a token with the %s of the token request', async (method) => {
  const grant = { grant_type: 'client_credentials', scope: 'read' };
  const inspection = await inspect({ client_id: method, 'options.client_auth': method, ...grant });
  expect(inspection).toEqual({
    accessToken: { format: 'opaque' },
    idToken: undefined,
    introspection: {
      url: `${server.issuer}/token/introspection`,
      response: expect.objectContaining({ active: true, client_id: method, iss: server.issuer }),
    },
    userinfo: undefined,
  });
});

it('shows the id token and the userinfo of a user', async () => {
  const [client_id] = methods;
  const url = new URL(`${server.issuer}/auth`);
  url.search = String(
    new URLSearchParams({ client_id, response_type: 'code', redirect_uri: REDIRECT, scope: 'openid' }),
  );
  const { searchParams } = new URL((await new Browser().visit(url.href)).url);
  const { introspection, idToken, userinfo } = await inspect({
    client_id,
    'options.client_auth': client_id,
    grant_type: 'authorization_code',
    code: searchParams.get('code') ?? '',
    redirect_uri: REDIRECT,
  });
  expect({ introspection, userinfo }).toEqual({
    introspection: expect.objectContaining({ response: expect.objectContaining({ sub: 'ada@example.com' }) }),
    userinfo: { url: `${server.issuer}/me`, response: { sub: 'ada@example.com' } },
  });
  expect(idToken).toMatchObject({ format: 'jwt', claims: { sub: 'ada@example.com', aud: client_id } });
});
