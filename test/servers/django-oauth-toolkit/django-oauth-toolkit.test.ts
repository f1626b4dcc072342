import { testCheckWithoutMetadata } from '../support/check-online.ts';
import { testClientCredentials, testOddSecret, testPassword, testWrongSecret } from '../support/client-credentials.ts';
import { type Decide, describeServer, USER } from '../support/describe-server.ts';
import { testBrowserLogin, testNoDeviceLogin } from '../support/login.ts';
import { testNoRevocation, testRefresh, testRevocation } from '../support/refresh.ts';

const decide =
  (decision: Record<string, string>): Decide =>
  async (browser, url) =>
    browser.submit(await browser.submit(await browser.visit(url), USER), decision);

describeServer(
  'django-oauth-toolkit',
  {
    paths: { token: '/o/token/', authorization: '/o/authorize/', resource: '/resource' },
    scope: 'openid read',
    approve: decide({ allow: 'Authorize' }),
  },
  (server) => {
    testClientCredentials(server, ['client_secret_post', 'client_secret_basic']);
    testOddSecret(server, { client_secret_post: true, client_secret_basic: true, client_secret_basic_raw: false });
    testWrongSecret(server);
    testPassword(server, { client_id: 'password', client_secret: 'password-secret' });
    testBrowserLogin(server, decide({}));
    testNoDeviceLogin(server);
    testRefresh(server, { deadTokenError: 'invalid_grant' });
    testNoRevocation(server);
    testRevocation(server, ['web', 'tool'], '/o/revoke_token/');
    testCheckWithoutMetadata(server);
  },
);
