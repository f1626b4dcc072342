import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createCallApi } from '../../src/http/call-api.ts';
import { createConnector } from '../../src/http/connector.ts';
import { createTokenSource } from '../../src/index.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { errorOf } from '../support/errors.ts';
import { bounds, post, sendWith } from '../support/ports.ts';
import { hasRedis, RedisServer } from '../support/redis.ts';
import { serve } from '../support/server.ts';
import { anyKey } from '../support/store.ts';

const untrusted = new Authority('Untrusted CA').issue({ name: 'server', hosts: SERVER_NAMES });

describe('with NODE_TLS_REJECT_UNAUTHORIZED=0, an untrusted certificate is still rejected', () => {
  const variable = 'NODE_TLS_REJECT_UNAUTHORIZED';
  const before = process.env[variable];
  beforeAll(() => {
    process.env[variable] = '0';
  });
  afterAll(() => {
    if (before === undefined) delete process.env[variable];
    else process.env[variable] = before;
  });

  it('by a token request', async () => {
    const server = await serve(undefined, untrusted);
    expect((await errorOf(sendWith()(post(server.url), bounds()))).code).toBe('tls_failed');
    expect(server.requests).toEqual([]);
  });

  it('by a request to an API', async () => {
    const server = await serve(undefined, untrusted);
    const callApi = createCallApi(createConnector({}));
    const request = { method: 'GET', url: new URL(server.url), headers: [], body: undefined };
    expect((await errorOf(callApi(request, { ...bounds(), maxBytes: 1000 }))).code).toBe('tls_failed');
    expect(server.requests).toEqual([]);
  });

  it('by a connection to a proxy', async () => {
    const proxy = await ConnectProxy.start(1, undefined, untrusted);
    const env = { HTTPS_PROXY: `https://user:password@127.0.0.1:${proxy.port}` };
    expect((await errorOf(sendWith(env)(post('https://login.example.test/token'), bounds()))).code).toBe('tls_failed');
    expect(proxy.connects).toEqual([]);
  });

  it('by the fetch of a token source', async () => {
    const api = await serve(undefined, untrusted);
    const tokens = await serve((response) => response.end('{"access_token":"t","expires_in":60}'));
    const source = createTokenSource('robot', {
      data: { robot: { type: 'custom', url: tokens.url, grant_type: 'client_credentials', client_id: 'tls' } },
      store: 'memory',
      origins: [new URL(api.url).origin],
    });
    expect((await errorOf(source.fetch(api.url))).code).toBe('tls_failed');
    expect(api.requests).toEqual([]);
  });

  it.skipIf(!hasRedis)('by a connection to Redis', async () => {
    const authority = new Authority('Untrusted CA');
    const redis = await RedisServer.start({ password: 'the-password', authority });
    onTestFinished(() => redis.remove());
    const open = async (url: string): Promise<void> => {
      const store = await openRedisStore(url, { env: { OAUTH_PROFILE_KEY: anyKey() }, warn: () => {} });
      onTestFinished(() => store.close());
      await store.read('key');
    };
    // The same server is used if its CA is trusted, so that only the certificate can be the reason.
    await open(`${redis.url}?ca_file=${encodeURIComponent(authority.caFile)}`);
    const error = await errorOf(open(redis.url));
    expect(error).toMatchObject({ code: 'store_unreadable', message: expect.stringMatching(/certificate/) });
  });
});
