import { afterAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { inspectToken, type TokenInspection } from '../../src/flows/inspect-token.ts';
import { getToken } from '../../src/get-token.ts';
import { variablesWith } from '../support/profiles.ts';

type Fields = Readonly<Record<string, string>>;

const profiles: Record<string, Fields> = {
  robot: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'r',
    client_secret: 'okta-secret',
    grant_type: 'client_credentials',
    scope: 'read',
  },
  ada: { type: 'okta', tenant_id: 'acme', client_id: 'a', username: 'ada', password: 'pw-ada', scope: 'openid read' },
  lab: {
    type: 'gitlab',
    client_id: 'l',
    client_secret: 'gloas-secret',
    username: 'root',
    password: 'pw-root',
    scope: 'openid',
  },
  drive: { type: 'google', client_id: 'd', client_secret: 'GOCSPX-1', refresh_token: 'd-rt', scope: 'openid email' },
  graph: {
    type: 'microsoft',
    tenant_id: 'contoso.com',
    client_id: 'g',
    refresh_token: 'g-rt',
    scope: 'openid user.read',
  },
};
let emulator: Emulator | undefined;
afterAll(() => emulator?.close());

async function inspect(name: string, changes: Fields = {}): Promise<TokenInspection> {
  emulator ??= await startEmulator({ profiles });
  const client = createClient({ environment: { env: {}, cwd: '/' }, emulator });
  const { signal } = new AbortController();
  const variables = variablesWith(name, { ...profiles[name], ...changes });
  return inspectToken(await getToken(client, name, { variables }), client, signal);
}

describe('inspectToken() with the emulator', () => {
  it('decodes a JWT and introspects it as the client', async () => {
    const { accessToken, idToken, introspection, userinfo } = await inspect('robot');
    expect(accessToken).toMatchObject({ format: 'jwt', header: { alg: 'RS256' }, claims: { cid: 'r', scp: ['read'] } });
    expect(introspection).toEqual({
      url: 'https://acme.okta.com/oauth2/default/v1/introspect',
      response: expect.objectContaining({ active: true, client_id: 'r' }),
    });
    // There is no user.
    expect({ idToken, userinfo }).toEqual({ idToken: undefined, userinfo: undefined });
  });

  it('reads userinfo with the token of a user', async () => {
    const { idToken, userinfo } = await inspect('ada');
    expect(idToken).toMatchObject({ format: 'jwt', claims: { aud: 'a' } });
    expect(userinfo).toMatchObject({ response: { sub: expect.stringMatching(/^00u/) } });
  });

  it('reports an opaque token, which only introspection describes', async () => {
    const { accessToken, introspection, userinfo } = await inspect('lab');
    expect(accessToken).toEqual({ format: 'opaque' });
    expect(introspection).toMatchObject({ response: { active: true } });
    expect(userinfo).toMatchObject({ response: { sub: expect.any(String) } });
  });

  it.each([
    ['drive', 'https://openidconnect.googleapis.com/v1/userinfo'],
    ['graph', 'https://graph.microsoft.com/oidc/userinfo'],
  ])('reads userinfo of %s at the origin that its provider documents', async (name, url) => {
    expect((await inspect(name)).userinfo).toEqual({
      url,
      response: expect.objectContaining({ sub: expect.any(String) }),
    });
  });

  it('reports an endpoint that fails and continues with the others', async () => {
    const { introspection, userinfo } = await inspect('ada', {
      'options.introspection_url': 'https://acme.okta.com/oauth2/none',
      'options.userinfo_url': 'https://acme.okta.com/none',
    });
    expect({ introspection, userinfo }).toMatchObject({
      introspection: { error: expect.stringContaining('HTTP 404') },
      userinfo: { error: expect.stringContaining('HTTP 404') },
    });
  });
});
