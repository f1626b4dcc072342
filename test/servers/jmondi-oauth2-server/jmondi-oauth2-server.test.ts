import { testCheckOnline } from '../support/check-online.ts';
import { testClientCredentials, testOddSecret, testPassword, testWrongSecret } from '../support/client-credentials.ts';
import { type Decide, describeServer, USER } from '../support/describe-server.ts';
import { testBrowserLogin, testNoDeviceLogin } from '../support/login.ts';
import { testRefresh, testRevocation } from '../support/refresh.ts';

const approve: Decide = async (browser, url) =>
  browser.submit(await browser.visit(url), { ...USER, decision: 'allow' });

describeServer(
  'jmondi-oauth2-server',
  { paths: { token: '/token', authorization: '/authorize', resource: '/resource' }, scope: 'read', approve },
  (server) => {
    testClientCredentials(server, ['client_secret_post', 'client_secret_basic']);
    testOddSecret(server, { client_secret_post: true, client_secret_basic: false, client_secret_basic_raw: false });
    testWrongSecret(server);
    testPassword(server, { client_id: 'tool' });
    testBrowserLogin(server);
    testNoDeviceLogin(server);
    testRefresh(server, { deadToken: { error: 'invalid_request' } });
    testRevocation(server);
    testCheckOnline(server, '/.well-known/oauth-authorization-server');
  },
);
