import { describe, expect, it } from 'vitest';
import type { Value } from '../../../../src/config/value.ts';
import { OAuthProfileError } from '../../../../src/errors.ts';
import { requestToken as sendTokenRequest } from '../../../../src/flows/request-token.ts';
import type { Profile } from '../../../../src/profile/profile.ts';
import { Secret } from '../../../../src/redaction/secret.ts';
import { fakePorts } from '../../../support/ports.ts';
import { ApiServer, json, redirect } from '../../../support/server.ts';
import { type RequestTestToken, runWs, type WsStep } from '../../run-steps.ts';

const response = {
  access_token: 'access-token-of-the-test',
  refresh_token: 'refresh-token-of-the-test',
  token_type: 'Bearer',
  expires_in: 3600,
  deep: { id: [1, '2', null, true], session_secret: 'deep-secret-value' },
  note: '${env:HOME}',
};

/** Returns these members as the token response, without a request. */
function tokenResponse(members: Readonly<Record<string, Value>> = response, fromCache = false) {
  const profiles: Profile[] = [];
  const requestToken: RequestTestToken = async (profile) => {
    profiles.push(profile);
    return { response: members, accessToken: new Secret(String(members['access_token'])), fromCache };
  };
  return { requestToken, profiles };
}

/** Sends a real token request. */
const requestToken: RequestTestToken = async (profile, signal) => {
  const token = await sendTokenRequest(profile, fakePorts(), signal);
  return { ...token, response: token.response as Readonly<Record<string, Value>>, fromCache: false };
};

const data = { acme: { type: 'custom', url: 'https://id.example.test/token', grant_type: 'client_credentials' } };

describe('ws.oauthProfile', () => {
  it('D4 saves the response unchanged: types are preserved and references are not resolved', async () => {
    const { requestToken } = tokenResponse();
    const { value, result } = await runWs([['ws.oauthProfile', 'token', 'acme']], {
      data,
      requestToken,
      env: { HOME: '/x' },
    });
    expect(result.state).toBe('passed');
    expect(value('token')).toEqual({
      ...response,
      access_token: { secret: response.access_token },
      refresh_token: { secret: response.refresh_token },
      deep: { id: [1, '2', null, true], session_secret: { secret: 'deep-secret-value' } },
    });
  });

  it('D22 emits events for the request and the response without secrets', async () => {
    const { requestToken } = tokenResponse(response, true);
    const { events, everything } = await runWs([['ws.oauthProfile', 'token', 'acme']], { data, requestToken });
    expect(events.filter(({ type }) => type.startsWith('token-'))).toEqual([
      {
        type: 'token-request',
        at: expect.any(Number),
        file: 'me.yaml',
        profile: 'acme',
        provider: 'custom',
        grant: 'client_credentials',
        url: 'https://id.example.test/token',
      },
      {
        type: 'token-response',
        at: expect.any(Number),
        file: 'me.yaml',
        profile: 'acme',
        outcome: 'reused',
        elapsedMs: expect.any(Number),
        members: Object.keys(response),
      },
    ]);
    expect(everything).not.toMatch(/token-of-the-test|deep-secret/);
  });

  it('D2 does not set the variable on failure, and the event has the code', async () => {
    const requestToken = async (): Promise<never> => {
      throw new OAuthProfileError('provider_rejected', 'no', { hint: 'set acme.client_secret' });
    };
    const { value, events, last } = await runWs([['ws.oauthProfile', 'token', 'acme']], {
      data: { ...data, token: 'before' },
      requestToken,
    });
    expect(value('token')).toEqual({ secret: 'before' });
    expect(last.failure).toMatchObject({ code: 'provider_rejected', hint: 'set acme.client_secret' });
    expect(events.find(({ type }) => type === 'token-response')).toMatchObject({
      outcome: 'failed',
      code: 'provider_rejected',
    });
  });

  it.each(['env', 'a.b', '__proto__', 'constructor', '', '1a'])('D3 rejects the variable name %j', async (name) => {
    const { requestToken, profiles } = tokenResponse();
    const { last } = await runWs([['ws.oauthProfile', name, 'acme']], { data, requestToken });
    expect(last.failure?.message).toMatch(/^var must be a variable name/);
    expect(profiles).toEqual([]);
  });

  it('D3 saves no field of a profile of the same name', async () => {
    const { requestToken, profiles } = tokenResponse({
      access_token: 'a',
      scope: 'evil',
      url: 'https://evil.example.test',
    });
    await runWs(
      [
        ['ws.oauthProfile', 'acme', 'acme'],
        ['ws.oauthProfile', 'again', 'acme'],
      ],
      { data, requestToken },
    );
    expect(profiles[1]?.fields.map(({ name }) => name)).toEqual(['grant_type']);
    expect(profiles[1]?.url.href).toBe('https://id.example.test/token');
  });

  it.each([
    ['acm', 'profile_not_found'],
    ['', 'step_failed'],
    ['${env:MY_SECRET}', 'step_failed'],
    ['broken', 'profile_invalid'],
  ])('fails for the profile %j', async (name, code) => {
    const { requestToken } = tokenResponse();
    const { last, events } = await runWs([['ws.oauthProfile', 'token', name]], {
      data: { ...data, broken: { type: 'custom' } },
      env: { MY_SECRET: 'acme' },
      requestToken,
    });
    expect(last.failure?.code).toBe(code);
    expect(events.some(({ type }) => type === 'token-request')).toBe(false);
  });

  it('uses variables that earlier steps have saved', async () => {
    const { requestToken, profiles } = tokenResponse();
    await runWs(
      [
        ['base.save', 'acme.scope', 'read'],
        ['ws.oauthProfile', 'token', 'acme'],
      ],
      { data, requestToken },
    );
    expect(profiles[0]?.fields).toMatchObject([{ name: 'grant_type' }, { name: 'scope', value: 'read' }]);
  });

  it('D20 sets no header by default', async () => {
    const api = await ApiServer.start(json({}));
    const { requestToken } = tokenResponse();
    await runWs(
      [
        ['ws.oauthProfile', 'token', 'acme'],
        ['ws.get', api.origin, '', 'r'],
      ],
      { data, requestToken },
    );
    expect(api.call.headers).not.toHaveProperty('authorization');
  });

  it('D20 sets the header only for options.authorize_origin', async () => {
    const [api, other] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    const { requestToken } = tokenResponse();
    const { steps, everything } = await runWs(
      [
        ['ws.oauthProfile', 'token', 'acme'],
        ['ws.get', other.origin, '', 'r'],
        ['ws.get', api.origin, '', 'r'],
        ['ws.header', 'Authorization', 'Bearer ${env:OTHER_TOKEN}'],
        ['ws.get', other.origin, '', 'r'],
        ['ws.get', api.origin, '', 'r'],
      ],
      {
        data: { acme: { ...data.acme, options: { authorize_origin: `${api.origin}/` } } },
        env: { OTHER_TOKEN: 'another-token-here' },
        requestToken,
      },
    );
    expect(steps[0]?.output).toEqual([`Authorization is set for ${api.origin}`]);
    const bearer = `Bearer ${response.access_token}`;
    expect(api.sent('Authorization')).toEqual([bearer, bearer]);
    expect(other.sent('Authorization')).toEqual([undefined, 'Bearer another-token-here']);
    expect(steps[1]?.output[0]).toContain(api.origin);
    expect(everything).not.toContain('token-of-the-test');
  });

  it('D20 does not send the header of options.authorize_origin after a redirect to another origin', async () => {
    const other = await ApiServer.start(json({}));
    const api = await ApiServer.start(redirect(307, other.origin));
    const { requestToken } = tokenResponse();
    await runWs(
      [
        ['ws.oauthProfile', 'token', 'acme'],
        ['ws.get', api.origin, '', 'r', { redirects: 10 }],
      ],
      { data: { acme: { ...data.acme, options: { authorize_origin: api.origin } } }, requestToken },
    );
    expect(other.call.headers).not.toHaveProperty('authorization');
  });

  it('D2 fails and saves nothing if the token is not a valid header value', async () => {
    const { requestToken } = tokenResponse({ access_token: 'a\r\nX-Evil: 1' });
    const api = await ApiServer.start(json({}));
    const { steps } = await runWs(
      [
        ['!ws.oauthProfile', 'token', 'acme'],
        ['ws.get', api.origin, '', 'r'],
        ['base.assertVarsPresent', 'token'],
      ],
      { data: { acme: { ...data.acme, options: { authorize_origin: api.origin } } }, requestToken },
    );
    expect(steps.map(({ state }) => state)).toEqual(['failed', 'passed', 'failed']);
    expect(api.call.headers).not.toHaveProperty('authorization');
  });
});

describe('ws.oauth', () => {
  it.each<[string, WsStep[3]]>([
    ['a map', { grant_type: 'password', username: 'Jürgen', password: '${env:MY_PASSWORD}', empty: '', n: '007' }],
    ['lines', 'grant_type=password\nusername=Jürgen\npassword=${env:MY_PASSWORD}\n\nempty=\nn=007'],
  ])('R2.2 posts every field unchanged, from %s', async (_what, auth) => {
    const api = await ApiServer.start(json({ access_token: 'access-token-of-the-test', expires_in: 1 }));
    const { value, everything, last } = await runWs([['ws.oauth', 'token', `${api.origin}/t`, auth]], {
      requestToken,
      env: { MY_PASSWORD: 'p=w & x' },
    });
    expect(last.failure).toBeUndefined();
    expect([...new URLSearchParams(api.call.body.toString())]).toEqual([
      ['grant_type', 'password'],
      ['username', 'Jürgen'],
      ['password', 'p=w & x'],
      ['empty', ''],
      ['n', '007'],
    ]);
    expect(value('token.access_token')).toEqual({ secret: 'access-token-of-the-test' });
    expect(value('token.expires_in')).toBe(1);
    expect(everything).not.toMatch(/p=w|token-of-the-test/);
  });

  it('supports options and Basic credentials like a profile', async () => {
    const api = await ApiServer.start(json({ data: { t: 'nested-token-value' } }));
    const { last } = await runWs(
      [
        [
          'ws.oauth',
          'token',
          api.origin,
          { grant_type: 'client_credentials', basic: { user: 'u', password: 'pw' }, 'options.token_path': 'data.t' },
        ],
      ],
      { requestToken },
    );
    expect(last.failure).toBeUndefined();
    expect(api.call.body.toString()).toBe('grant_type=client_credentials');
    expect(api.sent('Authorization')).toEqual([`Basic ${Buffer.from('u:pw').toString('base64')}`]);
  });

  it('does not resolve ${…} in values from a response', async () => {
    const api = await ApiServer.start(json({ access_token: 'x1', hint: '${env:MY_PASSWORD}' }));
    await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['ws.oauth', 'token', api.origin, { hint: '${r.body.hint}' }],
      ],
      { requestToken, env: { MY_PASSWORD: 'hidden' } },
    );
    expect(api.calls[1]?.body.toString()).toBe(`hint=${encodeURIComponent('${env:MY_PASSWORD}')}`);
  });

  it('adds no fields from a resolved value', async () => {
    const api = await ApiServer.start(
      json({ access_token: 'x1', scope: 'read\nclient_id=evil\nurl=https://evil.test' }),
    );
    const { last } = await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['ws.oauth', 'token', api.origin, 'client_id=mine\nscope=${r.body.scope}'],
      ],
      { requestToken },
    );
    expect(last.failure).toBeUndefined();
    expect([...new URLSearchParams(api.calls[1]?.body.toString())]).toEqual([
      ['client_id', 'mine'],
      ['scope', 'read\nclient_id=evil\nurl=https://evil.test'],
    ]);
  });

  it('accepts all lines from one variable', async () => {
    const api = await ApiServer.start(json({ access_token: 'x1' }));
    await runWs([['ws.oauth', 'token', api.origin, '${auth}']], { requestToken, data: { auth: 'a=1\nb=2' } });
    expect(api.call.body.toString()).toBe('a=1&b=2');
  });

  it.each<[string, WsStep, string]>([
    ['plain HTTP to another host', ['ws.oauth', 't', 'http://id.example.test/', { a: 1 }], 'ws.oauth.url'],
    ['an empty URL', ['ws.oauth', 't', '', { a: 1 }], 'ws.oauth.url'],
    ['a field named url', ['ws.oauth', 't', 'https://id.example.test/', { url: 'x' }], 'auth must not contain url'],
    ['a field named type', ['ws.oauth', 't', 'https://id.example.test/', 'type=google'], 'auth must not contain type'],
    ['a list', ['ws.oauth', 't', 'https://id.example.test/', { a: [1] }], 'ws.oauth.a'],
    ['an unknown option', ['ws.oauth', 't', 'https://id.example.test/', { options: { x: 1 } }], 'ws.oauth.options.x'],
    ['a string without =', ['ws.oauth', 't', 'https://id.example.test/', 'what'], 'auth must be a map'],
  ])('rejects %s', async (_what, step, message) => {
    const { requestToken, profiles } = tokenResponse();
    const { last } = await runWs([step], { requestToken });
    expect(last.failure?.message).toContain(message);
    expect(profiles).toEqual([]);
  });

  it('reports an error response with its secrets masked', async () => {
    const api = await ApiServer.start(
      json({ error: 'invalid_client', error_description: 'no: my-client-secret' }, 401),
    );
    const { last, everything } = await runWs(
      [['ws.oauth', 'token', api.origin, { client_id: 'ci', client_secret: 'my-client-secret' }]],
      { requestToken },
    );
    expect(last.failure?.code).toBe('provider_rejected');
    expect(everything).not.toContain('my-client-secret');
  });
});
