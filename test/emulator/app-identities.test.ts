import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { getToken } from '../../src/get-token.ts';

const keys = join(import.meta.dirname, '..', 'docs', 'fixtures', 'keys');
const app = { type: 'github', client_id: 'Iv23.example', installation_id: '1' };

let emulator: Emulator;
beforeAll(async () => {
  const profiles = {
    app: { ...app, 'options.key': readFileSync(join(keys, 'app.pem'), 'utf8') },
    drive: { type: 'google', client_id: 'd', client_secret: 'GOCSPX-1', refresh_token: 'd-rt' },
  };
  emulator = await startEmulator({ profiles });
});
afterAll(() => emulator.close());

async function requestToken(fields: object) {
  const client = createClient({ environment: { env: {}, cwd: keys }, emulator });
  const variables = await client.loadVariables({ data: { svc: { ...app, ...fields } } });
  return (await getToken(client, 'svc', { variables })).token;
}

describe('installations of a GitHub App', () => {
  it('issues a token for one hour to the app that signed the request', async () => {
    const { response } = await requestToken({ options: { key_file: 'app.pem' }, repositories: 'api' });
    expect(response).toMatchObject({ repository_selection: 'selected' });
    expect(Number(response['expires_in'])).toBeLessThanOrEqual(3600);
  });

  it.each([
    ['another key', { options: { key_file: 'box.pem' } }],
    ['another app', { client_id: 'Iv23.other', options: { key_file: 'app.pem' } }],
    [
      'another app that looks an installation up',
      { installation_id: '', repository: 'a/b', client_id: 'x', options: { key_file: 'app.pem' } },
    ],
  ])('rejects %s', async (_, fields) => {
    await expect(requestToken(fields)).rejects.toMatchObject({ code: 'provider_rejected', provider: { status: 401 } });
  });
});

describe('federation of Google', () => {
  const STS = 'sts.googleapis.com/v1/token';
  const IMPERSONATION = 'iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/robot@p.iam:generateAccessToken';
  const audience = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/ci/providers/github';
  const exchange = { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', audience, subject_token: 'job.id' };
  const post = async (path: string, body: string | URLSearchParams, token = '') => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${emulator.url}/${path}`, { method: 'POST', body, headers });
    return { status: response.status, members: (await response.json()) as Record<string, string> };
  };

  it('exchanges a token and impersonates a service account with the result', async () => {
    const { members } = await post(STS, new URLSearchParams(exchange));
    const { status, members: robot } = await post(
      IMPERSONATION,
      '{"scope":["a"],"lifetime":"60s"}',
      members['access_token'],
    );
    expect({ status, names: Object.keys(robot) }).toEqual({ status: 200, names: ['accessToken', 'expireTime'] });
    const malformed = await post(IMPERSONATION, '{"scope":"a"}', members['access_token']);
    expect(malformed.status).toBe(400);
  });

  it.each([{ grant_type: 'refresh_token' }, { audience: 'another' }, { subject_token: '' }])(
    'rejects an exchange with %j',
    async (changes) => {
      expect((await post(STS, new URLSearchParams({ ...exchange, ...changes }))).status).toBe(400);
    },
  );

  it('impersonates nothing without a token of its own', async () => {
    expect((await post(IMPERSONATION, '{"scope":["a"]}', 'ya29.forged')).status).toBe(401);
  });
});
