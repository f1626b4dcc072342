import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deleteLogin, findLogins, revokeToken } from '../../src/flows/login/logout.ts';
import { loadCatalogue } from '../../src/providers/registry.ts';
import { catalogueProfiles } from '../support/catalogue-profiles.ts';
import { Browser } from '../support/independent-browser.ts';
import { LoginFixture } from '../support/login-fixture.ts';
import { enterCodeByHand, signInByHand } from '../support/login-visits.ts';

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
