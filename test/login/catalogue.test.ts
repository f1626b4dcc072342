import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deleteLogin, findLogins, revokeToken } from '../../src/flows/login/logout.ts';
import { oauthProfile } from '../../src/oauth-profile.ts';
import { catalogue } from '../../src/providers/catalogue/catalogue.ts';
import { recipes } from '../../src/providers/catalogue/recipes.ts';
import { loadCatalogue } from '../../src/providers/registry.ts';
import { Browser, enterCodeByHand, signInByHand } from '../support/browser.ts';
import { LoginFixture } from '../support/client.ts';
import { catalogueProfiles } from '../support/profiles.ts';

let fixture: LoginFixture;
beforeAll(() => loadCatalogue());
afterEach(() => fixture.close());

/** Logs in at the pages of the emulator. */
const open = (url: string): void => void signInByHand(url).then((redirect) => new Browser().visit(redirect));

describe.each(catalogueProfiles)('at its production URLs, %s', (_, fields) => {
  it('logs in with a browser and refreshes twice', async () => {
    fixture = await LoginFixture.emulated('svc', fields);
    await fixture.loginWithBrowser(open);
    const tokens = new Set([(await fixture.token()).token]);
    for (let refresh = 0; refresh < 2; refresh++) {
      // Callers of the same millisecond share a token.
      await setTimeout(2);
      tokens.add((await fixture.token(true)).token);
    }
    expect(tokens.size).toBe(3);
  });

  it('revokes the login, or reports that it has no revocation endpoint', async () => {
    fixture = await LoginFixture.emulated('svc', fields);
    await fixture.loginWithBrowser(open);
    const { client, profile } = fixture;
    const store = await client.openStore();
    const [login] = await findLogins(store, 'svc');
    if (login === undefined) throw new Error('no login is stored');
    const revoked = deleteLogin(login, store, (family) => revokeToken(profile, family, client, store, undefined));
    const hasEndpoint = profile.provider.login?.revocationUrl !== undefined;
    if (!hasEndpoint) return expect(revoked).rejects.toMatchObject({ code: 'usage' });
    await revoked;
    return expect(fixture.token()).rejects.toMatchObject({ code: 'login_required' });
  });
});

const grants = catalogueProfiles.flatMap(([type, fields]) =>
  Object.keys(catalogue.find((provider) => provider.type === type)?.required ?? {})
    .filter((grant) => grant !== 'refresh_token' && grant !== 'password')
    .map((grant_type) => [type, grant_type, fields] as const),
);
it.each(grants)('at its production URLs, %s issues a token with %s', async (_, grant_type, fields) => {
  const subject = { box_subject_type: 'enterprise', box_subject_id: '1', account_id: '1' };
  fixture = await LoginFixture.emulated('svc', { ...fields, ...subject, grant_type });
  expect((await fixture.token()).token).toEqual(expect.any(String));
});

describe.each(catalogueProfiles.filter(([type]) => ['auth0', 'github', 'keycloak'].includes(type)))(
  'at its production URLs, %s',
  (_, { client_secret: _secret, ...fields }) => {
    it('logs in with a device code and without a secret', async () => {
      fixture = await LoginFixture.emulated('svc', fields);
      let user: Promise<unknown> | undefined;
      const prompt = {
        showCode: ({ verificationUri, userCode }: { verificationUri: string; userCode: string }) => {
          user = enterCodeByHand(verificationUri, userCode);
        },
        showWaiting: () => {},
      };
      const clock = { now: () => fixture.client.ports.clock.now(), sleep: async () => void (await user) };
      const result = await fixture.loginWithDevice(prompt, { ports: { clock } });
      expect(result.replaced).toBe(false);
      expect((await fixture.token()).token).toEqual(expect.any(String));
    });
  },
);

it('keeps the realmId of the redirect of quickbooks, also after a refresh', async () => {
  fixture = await LoginFixture.emulated('svc', Object.fromEntries(catalogueProfiles)['quickbooks'] ?? {});
  await fixture.loginWithBrowser(open);
  expect((await fixture.token()).response['realmId']).toMatch(/^\d+$/);
  expect((await fixture.token(true)).response['realmId']).toMatch(/^\d+$/);
});

it('adds the members of options.redirect_members to the token response, but replaces none of its own', async () => {
  const fields = Object.fromEntries(catalogueProfiles)['quickbooks'] ?? {};
  fixture = await LoginFixture.emulated('svc', { ...fields, options: { redirect_members: 'state access_token' } });
  await fixture.loginWithBrowser((url) =>
    signInByHand(url).then((redirect) => new Browser().visit(`${redirect}&access_token=injected`)),
  );
  const { token, response } = await fixture.token();
  expect(response).toMatchObject({ state: expect.any(String), access_token: token });
  expect(token).not.toBe('injected');
});

it.each([
  ['github', 'bad_refresh_token'],
  ['slack', 'invalid_refresh_token'],
])('%s requires a login after %s, which has the status 200', async (type, error) => {
  const fields = Object.fromEntries(catalogueProfiles)[type] ?? {};
  fixture = await LoginFixture.emulated('svc', fields);
  const { emulator } = fixture;
  const data = { svc: { ...fields, refresh_token: 'of-another-app' } };
  await expect(oauthProfile('svc', { data, emulator })).rejects.toMatchObject({
    code: 'login_required',
    provider: { status: 200, error },
  });
});

const recipesWithLogin = recipes.filter(({ options }) => options['authorization_url'] !== undefined);
it.each(recipesWithLogin.map((recipe) => [recipe.name, recipe] as const))(
  'at its production URLs, the recipe %s logs in with a browser and refreshes',
  async (_, { url, fields, options, isPublic }) => {
    const client = { client_id: 'app', ...(!isPublic && { client_secret: 'app-secret-1' }) };
    fixture = await LoginFixture.emulated('svc', { type: 'custom', url, ...client, scope: 'a b', ...fields, options });
    await fixture.loginWithBrowser(open);
    const { token } = await fixture.token();
    // Callers of the same millisecond share a token.
    await setTimeout(2);
    expect((await fixture.token(true)).token).not.toBe(token);
  },
);
