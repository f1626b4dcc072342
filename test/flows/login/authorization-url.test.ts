import { describe, expect, it } from 'vitest';
import { TransportError } from '../../../src/errors.ts';
import { createAuthorizationUrl } from '../../../src/flows/login/authorization-url.ts';
import type { WireRequest } from '../../../src/ports.ts';
import { fakePorts } from '../../support/ports.ts';
import { loginProfileOf } from '../../support/profiles.ts';
import { jsonResponse } from '../../support/token-fixture.ts';

const endpoint = new URL('https://id.example.com/authorize?tenant=a');
const parameters = new URLSearchParams({
  client_id: 'app',
  scope: 'read',
  state: 's',
  resource: 'https://api.example.com',
});
const metadata = {
  issuer: 'https://id.example.com',
  issParameterSupported: false,
  revocationUrl: undefined,
  introspectionUrl: undefined,
  userinfoUrl: undefined,
  consentPromptSupported: false,
  pushedRequestUrl: new URL('https://id.example.com/par'),
  requiresPushedRequest: false,
  requiresSignedRequest: false,
};
const pushed = jsonResponse(201, { request_uri: 'urn:example:1', expires_in: 60 });

/** Creates the URL with responses of the endpoint for pushed requests. */
async function create(responses: (ReturnType<typeof jsonResponse> | Error)[], changes = {}, fields: object = {}) {
  const sent: WireRequest[] = [];
  const ports = fakePorts({
    send: async (request) => {
      sent.push(request);
      const response = responses.shift();
      if (response instanceof Error || response === undefined) throw response;
      return response;
    },
  });
  const options = { authorization_url: endpoint.href };
  const login = loginProfileOf({
    type: 'custom',
    url: 'https://id.example.com/token',
    client_id: 'app',
    ...fields,
    options: { ...options },
  });
  const limits = { timeoutMs: 60_000, signal: new AbortController().signal };
  const url = createAuthorizationUrl(login, endpoint, parameters, { ...metadata, ...changes }, ports, limits);
  return { url: (await url).href, sent };
}

describe('the URL of a login page', () => {
  it('RFC 9126 §4 refers to the request that was pushed', async () => {
    const { url, sent } = await create([pushed], {}, { client_secret: 'the-secret' });
    expect(url).toBe('https://id.example.com/authorize?tenant=a&client_id=app&request_uri=urn%3Aexample%3A1');
    expect(sent[0]?.url.href).toBe('https://id.example.com/par');
    expect(Object.fromEntries(new URLSearchParams(sent[0]?.body))).toEqual({
      client_id: 'app',
      client_secret: 'the-secret',
      scope: 'read',
      state: 's',
      resource: 'https://api.example.com',
    });
  });

  it.each([
    ['rejects it', [jsonResponse(400, { error: 'unauthorized_client' })]],
    ['has no such endpoint', [jsonResponse(404, {})]],
    ['returns no request_uri', [jsonResponse(201, {})]],
    [
      'is unavailable',
      Array.from({ length: 3 }, () => new TransportError('connection_failed', 'reset', { sent: true })),
    ],
  ])('contains the parameters if the server offers pushed requests and %s', async (_, responses) => {
    const { url } = await create(responses);
    expect(url).toBe(`https://id.example.com/authorize?tenant=a&${parameters}`);
  });

  it('is not created if the server requires pushed requests and rejects this one', async () => {
    const created = create([jsonResponse(400, { error: 'invalid_request' })], { requiresPushedRequest: true });
    await expect(created).rejects.toMatchObject({ code: 'provider_rejected', provider: { error: 'invalid_request' } });
  });

  it('contains the parameters if the server has no endpoint for pushed requests', async () => {
    const { url, sent } = await create([], { pushedRequestUrl: undefined });
    expect([url, sent]).toEqual([`https://id.example.com/authorize?tenant=a&${parameters}`, []]);
  });
});
