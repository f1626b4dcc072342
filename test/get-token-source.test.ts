import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../src/client.ts';
import { InvalidProfileError } from '../src/errors.ts';
import { getToken } from '../src/get-token.ts';
import { errorOf } from './support/errors.ts';
import { startTokenServer, type TokenServer } from './support/server.ts';

let server: TokenServer;
beforeEach(async () => {
  server = await startTokenServer((response, { path, number }) => {
    const idToken = path === '/user' ? { id_token: 'id.of.user' } : {};
    response.end(JSON.stringify({ access_token: `token-${number}`, expires_in: 3600, ...idToken }));
  });
});
afterEach(() => server.stop());

/** Gets tokens of `api`, which exchanges a token of `user`. */
function fixture(source: string) {
  const at = (path: string) => ({ type: 'custom', url: `http://127.0.0.1:${server.port}${path}` });
  const client = createClient({ environment: { env: { JOB_TOKEN: 'of.the.job' }, cwd: '/' }, store: 'memory' });
  const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange';
  const data = {
    user: { ...at('/user'), grant_type: 'client_credentials' },
    api: { ...at('/api'), grant_type, options: { assertion_source: source } },
  };
  return {
    get: async (forceRefresh = false) =>
      getToken(client, 'api', { variables: await client.loadVariables({ data }), reuse: true, forceRefresh }),
    sent: () => server.requests.map(({ path, body }) => [path, new URLSearchParams(body).get('subject_token')]),
  };
}

describe('a token that is exchanged for one of another profile', () => {
  it('uses the cached token of the other profile, and is cached itself', async () => {
    const { get, sent } = fixture('profile:user');
    expect((await get()).fromCache).toBe(false);
    expect((await get()).fromCache).toBe(true);
    await get(true);
    expect(sent()).toEqual([
      ['/user', null],
      ['/api', 'token-1'],
      ['/api', 'token-1'],
    ]);
  });

  it('can be exchanged for the ID token', async () => {
    const { get, sent } = fixture('profile:user#id_token');
    await get();
    expect(sent()[1]).toEqual(['/api', 'id.of.user']);
  });

  it('is an error if the other response lacks the member', async () => {
    const error = (await errorOf(fixture('profile:user#refresh_token').get())) as InvalidProfileError;
    expect(error).toBeInstanceOf(InvalidProfileError);
    expect(error.issues).toMatchObject([{ variable: 'api.options.assertion_source' }]);
  });

  it('is an error if the profile names itself', async () => {
    const error = await errorOf(fixture('profile:api').get());
    expect(error).toBeInstanceOf(InvalidProfileError);
    expect(server.requests).toEqual([]);
  });

  it('is read again for each request from the environment', async () => {
    const { get, sent } = fixture('env:JOB_TOKEN');
    await get();
    await get(true);
    expect(sent()).toEqual([
      ['/api', 'of.the.job'],
      ['/api', 'of.the.job'],
    ]);
  });
});
