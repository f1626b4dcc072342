import { testCheckOnline } from '../support/check-online.ts';
import { testClientCredentials, testOddSecret, testPassword, testWrongSecret } from '../support/client-credentials.ts';
import { type Decide, describeServer, isAtClient } from '../support/describe-server.ts';
import { testBrowserLogin, testNoDeviceLogin } from '../support/login.ts';
import { testNoRevocation, testRefresh } from '../support/refresh.ts';

/** A demonstration user; the password is the name. */
const user = { username: 'dwho', password: 'dwho' };

/** Signs in, then clicks a button of the consent page. */
const decide =
  (accept: boolean): Decide =>
  async (browser, url) => {
    const consent = await browser.submit(await browser.visit(url), { user: user.username, password: user.password });
    if (isAtClient(consent)) return consent;
    const [, denial = ''] = / class="negative[^>]* val="([^"]+)"/.exec(consent.text) ?? [];
    return browser.submit(consent, accept ? {} : { confirm: denial });
  };

describeServer(
  'lemonldap-ng',
  {
    paths: { token: '/oauth2/token', authorization: '/oauth2/authorize', resource: '/oauth2/userinfo' },
    scope: 'openid offline_access',
    approve: decide(true),
    user,
  },
  (server) => {
    testClientCredentials(server, ['client_secret_post', 'client_secret_basic']);
    testOddSecret(server, { client_secret_post: true, client_secret_basic: false, client_secret_basic_raw: false });
    testWrongSecret(server);
    testPassword(server, { client_id: 'web', client_secret: 'web-secret' });
    testBrowserLogin(server, decide(false), 'consent_required');
    testNoDeviceLogin(server);
    testRefresh(server, { rotates: false });
    testNoRevocation(server);
    testCheckOnline(server, '/.well-known/openid-configuration', ['robot', 'web']);
  },
);
