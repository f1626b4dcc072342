import { describe, expect, it } from 'vitest';
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

    describe('revocation', () => {
      it('logout --revoke sends the refresh token to the endpoint of the metadata', async () => {
        await server.login('tool');
        const { refresh_token } = await server.response('tool');
        expect(await server.run('logout tool --revoke')).toMatchObject({ exit: 0, stderr: '' });
        expect(server.received.at(-1)).toMatchObject({ path: '/revoke', form: { token: refresh_token } });
      });
    });
  },
);
