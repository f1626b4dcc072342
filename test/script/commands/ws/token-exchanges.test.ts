import { describe, expect, it } from 'vitest';
import { type ApiHandler, ApiServer, json } from '../../../support/server.ts';
import { runText } from '../../run-text.ts';

const issue: ApiHandler = json({ access_token: 'an-access-token-1', token_type: 'Bearer', expires_in: 60 });
const reject: ApiHandler = json({ error: 'invalid_client', error_description: 'the client is unknown' }, 401);
const profile = (origin: string, more = '') =>
  `data: {shop: {type: custom, url: "${origin}/token", grant_type: client_credentials, client_id: ci, client_secret: a-client-secret${more}}}`;

describe('A token request in reports', () => {
  it('has its request and response with secrets masked', async () => {
    const api = await ApiServer.start(issue);
    const { steps, everything } = await runText(`${profile(api.origin)}\nsteps: [{ws.oauthProfile: [t, shop]}]`);
    const [exchange] = steps[0]?.exchanges ?? [];
    expect(exchange?.request).toMatchObject({
      method: 'POST',
      url: `${api.origin}/token`,
      body: 'grant_type=client_credentials&client_id=ci&client_secret=••••',
    });
    expect(exchange?.response).toMatchObject({
      status: 200,
      body: '{"access_token":"••••","token_type":"Bearer","expires_in":60}',
    });
    expect(everything).not.toMatch(/an-access-token-1|a-client-secret/);
  });

  it('is there when the provider rejects it or does not respond', async () => {
    const api = await ApiServer.start(reject);
    const failed = await runText(`${profile(api.origin)}\nsteps: [{ws.oauthProfile: [t, shop]}]`);
    expect(failed.steps[0]?.exchanges).toMatchObject([
      { response: { status: 401, body: expect.stringContaining('invalid_client') } },
    ]);
    const silent = await ApiServer.start((_, response) => response.socket?.destroy());
    const lost = await runText(`${profile(silent.origin)}\nsteps: [{ws.oauthProfile: [t, shop]}]`);
    expect(lost.steps[0]?.exchanges[0]?.request.url).toBe(`${silent.origin}/token`);
    expect(lost.steps[0]?.exchanges[0]).not.toHaveProperty('response');
  });
});

describe('expectError', () => {
  const steps = (code: string) => `
steps:
  - ws.oauthProfile: {var: t, profile: shop, expectError: ${code}}
  - base.verbose: "\${t.error} \${t.error_description} \${t.status}"
`;

  it('passes if the provider rejects the request with this error', async () => {
    const api = await ApiServer.start(reject);
    const { output, failures } = await runText(profile(api.origin) + steps('invalid_client'));
    expect(failures).toEqual([]);
    expect(output).toEqual(['invalid_client the client is unknown 401']);
  });

  it('fails for another error, for a token, and for an invalid profile', async () => {
    const api = await ApiServer.start(reject);
    const other = await runText(profile(api.origin) + steps('invalid_grant'));
    expect(other.steps[0]?.failure).toMatchObject({ expected: 'invalid_grant', actual: 'invalid_client' });
    const issuing = await ApiServer.start(issue);
    const issued = await runText(profile(issuing.origin) + steps('invalid_client'));
    expect(issued.failures).toEqual(['the provider issued a token']);
    const invalid = await runText(`data: {shop: {type: custm}}${steps('invalid_client')}`);
    expect(invalid.steps[0]?.failure?.code).toBe('profile_invalid');
  });
});

describe('retry', () => {
  it('does not repeat a refresh that failed or that was successful', async () => {
    const api = await ApiServer.start((call, response) => {
      const isFirst = api.calls.length === 1;
      (isFirst ? json({ access_token: 'an-access-token-1', refresh_token: 'rotated-token-2' }) : reject)(
        call,
        response,
      );
    });
    const data = `data: {shop: {type: custom, url: "${api.origin}/token", grant_type: refresh_token, client_id: ci, refresh_token: first-token-1}}`;
    const { steps } = await runText(`${data}
steps:
  - retry: {times: 3, interval: 1ms}
    continueOnFailure: true
    steps:
      - ws.oauthProfile: [t, shop]
      - base.assertEqual: [a, b]
  - {ws.oauthProfile: [t, shop], retry: {times: 5, interval: 1ms}}
`);
    expect(steps.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual([
      'passed 3',
      'failed 3',
      'failed undefined',
    ]);
    expect(api.calls).toHaveLength(2);
  });
});
