import { describe, expect, it } from 'vitest';
import { requestToken } from '../../../src/flows/request-token.ts';
import { sendImpersonated } from '../../../src/http/grants/impersonation.ts';
import type { HttpResponse } from '../../../src/oauth/http-response.ts';
import type { Limits, Send, WireRequest } from '../../../src/ports.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { errorOf } from '../../support/errors.ts';
import { FakeClock, fakePorts } from '../../support/ports.ts';
import { profileOf } from '../../support/profiles.ts';

const FEDERATED = 'federated-token-of-the-job';
const impersonation = {
  url: new URL('https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/robot:generateAccessToken'),
  scope: ['https://www.googleapis.com/auth/drive'],
  lifetimeSeconds: 600,
};
const exchanged = { status: 200, headers: {}, body: JSON.stringify({ access_token: FEDERATED, expires_in: 3600 }) };

/** Sends a request whose first response is `first`, after 2 s, and whose second is `second`. */
function fixture(first: HttpResponse, second: HttpResponse) {
  const clock = new FakeClock();
  const sent: { request: WireRequest; limits: Limits }[] = [];
  const send: Send = async (request, limits) => {
    sent.push({ request, limits });
    clock.time += 2_000;
    return sent.length === 1 ? first : second;
  };
  const requestOf = (request: WireRequest, limits: Limits) =>
    sendImpersonated(send, request, impersonation, clock, limits);
  const profile = profileOf({
    type: 'custom',
    url: 'https://sts.googleapis.com/v1/token',
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: 'subject-token-of-the-job',
  });
  return { sent, clock, request: () => requestToken(profile, fakePorts({ send: requestOf, clock })) };
}

describe('a token of a service account', () => {
  it('replaces the exchanged token, as a token response', async () => {
    const expireTime = new Date(new FakeClock().now() + 604_000).toISOString();
    const body = JSON.stringify({ accessToken: 'token-of-the-robot', expireTime });
    const { request, sent } = fixture(exchanged, { status: 200, headers: {}, body });
    const { response, accessToken } = await request();
    expect(response).toEqual({ access_token: 'token-of-the-robot', token_type: 'Bearer', expires_in: 600 });
    expect(accessToken.reveal()).toBe('token-of-the-robot');
    const authorization = sent[1]?.request.headers['Authorization'];
    expect(authorization).toBeInstanceOf(Secret);
    expect(String(authorization)).not.toContain(FEDERATED);
    expect(sent[1]?.request.body).toBe('{"scope":["https://www.googleapis.com/auth/drive"],"lifetime":"600s"}');
  });

  it('shares the time limit with the exchange', async () => {
    const { request, sent } = fixture(exchanged, { status: 200, headers: {}, body: '{"accessToken":"robot"}' });
    await request();
    expect(sent.map(({ limits }) => limits.timeoutMs)).toEqual([10_000, 8_000]);
  });

  it('is not requested if the exchange fails', async () => {
    const rejected = { status: 400, headers: {}, body: '{"error":"invalid_grant"}' };
    const { request, sent } = fixture(rejected, exchanged);
    expect(await errorOf(request())).toMatchObject({ code: 'provider_rejected', provider: { error: 'invalid_grant' } });
    expect(sent).toHaveLength(1);
  });

  it('may be denied, which is an error without the exchanged token', async () => {
    const message = `Permission 'iam.serviceAccounts.getAccessToken' denied for ${FEDERATED}`;
    const body = JSON.stringify({ error: { code: 403, message, status: 'PERMISSION_DENIED' } });
    const { request } = fixture(exchanged, { status: 403, headers: {}, body });
    const error = await errorOf(request());
    expect(error).toMatchObject({ code: 'provider_rejected', provider: { status: 403 } });
    expect(error.message).toContain('getAccessToken');
    expect(error.message + JSON.stringify(error)).not.toContain(FEDERATED);
  });
});
