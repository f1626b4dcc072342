import { testClientCredentials } from '../support/client-credentials.ts';
import { describeServer } from '../support/describe-server.ts';
import { testBrowserLogin, testNoDeviceLogin } from '../support/login.ts';
import { testRefresh } from '../support/refresh.ts';

describeServer(
  'oauth2-mock-server',
  {
    paths: { token: '/token', authorization: '/authorize', resource: '/userinfo' },
    scope: 'openid',
    approve: (browser, url) => browser.visit(url),
  },
  (server) => {
    testClientCredentials(server, ['client_secret_post', 'client_secret_basic']);
    testBrowserLogin(server);
    testNoDeviceLogin(server);
    testRefresh(server, {});
  },
);
