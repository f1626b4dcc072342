import { testCheckOnline } from '../support/check-online.ts';
import { testClientCredentials, testOddSecret, testPassword, testWrongSecret } from '../support/client-credentials.ts';
import { type Decide, describeServer, USER } from '../support/describe-server.ts';
import { testBrowserLogin, testDeviceLogin } from '../support/login.ts';
import { testReducedScope, testRefresh, testRevocation } from '../support/refresh.ts';

const decide =
  (decision: string): Decide =>
  async (browser, url) =>
    browser.submit(await browser.submit(await browser.visit(url), USER), { decision });

const decideDevice =
  (decision: string): Decide =>
  async (browser, url) =>
    browser.submit(await browser.visit(url), { decision });

describeServer(
  'authlib',
  {
    paths: { token: '/token', authorization: '/authorize', device: '/device_authorization', resource: '/resource' },
    scope: 'read',
    approve: decide('allow'),
  },
  (server) => {
    testClientCredentials(server, ['client_secret_post', 'client_secret_basic']);
    testOddSecret(server, { client_secret_post: true, client_secret_basic: false, client_secret_basic_raw: true });
    testWrongSecret(server);
    testPassword(server, { client_id: 'tool' }, { error: 'invalid_request' });
    testBrowserLogin(server, decide('deny'));
    testDeviceLogin(server, ['tool', 'web'], decideDevice('allow'), decideDevice('deny'));
    testRefresh(server, { deadToken: { error: 'invalid_grant' } });
    testReducedScope(server, 'read admin', 'read');
    testRevocation(server);
    testCheckOnline(server, '/.well-known/oauth-authorization-server');
  },
);
