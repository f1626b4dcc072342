import { describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../../../src/errors.ts';
import { acquireToken } from '../../../../src/flows/request-token.ts';
import type { ParsedToken } from '../../../../src/oauth/token-response.ts';
import type { Profile } from '../../../../src/profile/profile.ts';
import { Secret } from '../../../../src/redaction/secret.ts';
import { ApiServer, json, redirect } from '../../../support/api-server.ts';
import { fakePorts } from '../../../support/fake-ports.ts';
import { runWs, type WsStep } from '../../../support/run-ws.ts';

const response = {
  access_token: 'access-token-of-the-test',
  refresh_token: 'refresh-token-of-the-test',
  token_type: 'Bearer',
  expires_in: 3600,
  deep: { id: [1, '2', null, true], session_secret: 'deep-secret-value' },
  note: '${env:HOME}',
};

/** Asks nobody. */
function giving(members: Record<string, unknown> = response, reused = false) {
  const profiles: Profile[] = [];
  const acquire = async (profile: Profile): Promise<{ reply: ParsedToken; reused: boolean }> => {
    profiles.push(profile);
    return {
      reply: {
        response: members,
        accessToken: new Secret(String(members['access_token'])),
        refreshToken: undefined,
        otherSecrets: [],
        tokenType: undefined,
        expiresAt: undefined,
      },
      reused,
    };
  };
  return { acquire, profiles };
}

/** Asks over a real connection. */
const asking = async (profile: Profile, signal: AbortSignal) => ({
  reply: await acquireToken(profile, fakePorts(), signal),
  reused: false,
});

const data = { acme: { type: 'custom', url: 'https://id.example.test/token', grant_type: 'client_credentials' } };

describe('ws.oauthProfile', () => {
  it('D4 stores the response as it is given, types kept, nothing evaluated', async () => {
    const { acquire } = giving();
    const { value, result } = await runWs([['ws.oauthProfile', 'token', 'acme']], {
      data,
      acquire,
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

  it('D22 tells of the request and of the response, without a secret', async () => {
    const { acquire } = giving(response, true);
    const { events, everything } = await runWs([['ws.oauthProfile', 'token', 'acme']], { data, acquire });
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

  it('D2 on failure the variable keeps its value, and the event says why', async () => {
    const acquire = async (): Promise<never> => {
      throw new OAuthProfileError('provider_rejected', 'no', { hint: 'set acme.client_secret' });
    };
    const { value, events, last } = await runWs([['ws.oauthProfile', 'token', 'acme']], {
      data: { ...data, token: 'before' },
      acquire,
    });
    expect(value('token')).toEqual({ secret: 'before' });
    expect(last.failure).toMatchObject({ code: 'provider_rejected', hint: 'set acme.client_secret' });
    expect(events.find(({ type }) => type === 'token-response')).toMatchObject({
      outcome: 'failed',
      code: 'provider_rejected',
    });
  });

  it.each(['env', 'a.b', '__proto__', 'constructor', '', '1a'])('D3 cannot write to %j', async (name) => {
    const { acquire, profiles } = giving();
    const { last } = await runWs([['ws.oauthProfile', name, 'acme']], { data, acquire });
    expect(last.failure?.message).toMatch(/^var must be the plain name of a variable/);
    expect(profiles).toEqual([]);
  });

  it('D3 what it stores is no field of a profile of the same name', async () => {
    const { acquire, profiles } = giving({ access_token: 'a', scope: 'evil', url: 'https://evil.example.test' });
    await runWs(
      [
        ['ws.oauthProfile', 'acme', 'acme'],
        ['ws.oauthProfile', 'again', 'acme'],
      ],
      { data, acquire },
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
    const { acquire } = giving();
    const { last, events } = await runWs([['ws.oauthProfile', 'token', name]], {
      data: { ...data, broken: { type: 'custom' } },
      env: { MY_SECRET: 'acme' },
      acquire,
    });
    expect(last.failure?.code).toBe(code);
    expect(events.some(({ type }) => type === 'token-request')).toBe(false);
  });

  it('sees what earlier steps saved', async () => {
    const { acquire, profiles } = giving();
    await runWs(
      [
        ['base.save', 'acme.scope', 'read'],
        ['ws.oauthProfile', 'token', 'acme'],
      ],
      { data, acquire },
    );
    expect(profiles[0]?.fields).toMatchObject([{ name: 'grant_type' }, { name: 'scope', value: 'read' }]);
  });

  it('D20 sets no header by itself', async () => {
    const api = await ApiServer.start(json({}));
    const { acquire } = giving();
    await runWs(
      [
        ['ws.oauthProfile', 'token', 'acme'],
        ['ws.get', api.origin, '', 'r'],
      ],
      { data, acquire },
    );
    expect(api.call.headers).not.toHaveProperty('authorization');
  });

  it('D20 with options.authorize_origin sets it for that origin, and for no other', async () => {
    const [api, other] = [await ApiServer.start(json({})), await ApiServer.start(json({}))];
    const { acquire } = giving();
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
        acquire,
      },
    );
    expect(steps[0]?.output).toEqual([`Authorization is set for ${api.origin}`]);
    const bearer = `Bearer ${response.access_token}`;
    expect(api.sent('Authorization')).toEqual([bearer, bearer]);
    expect(other.sent('Authorization')).toEqual([undefined, 'Bearer another-token-here']);
    expect(steps[1]?.output[0]).toContain(`it is a secret of ${api.origin}`);
    expect(everything).not.toContain('token-of-the-test');
  });

  it('D20 with options.authorize_origin follows no redirect with it', async () => {
    const other = await ApiServer.start(json({}));
    const api = await ApiServer.start(redirect(307, other.origin));
    const { acquire } = giving();
    await runWs(
      [
        ['ws.oauthProfile', 'token', 'acme'],
        ['ws.get', api.origin, '', 'r', { followRedirects: true }],
      ],
      { data: { acme: { ...data.acme, options: { authorize_origin: api.origin } } }, acquire },
    );
    expect(other.call.headers).not.toHaveProperty('authorization');
  });

  it('D2 a token that cannot stand in a header fails the step, and nothing is kept', async () => {
    const { acquire } = giving({ access_token: 'a\r\nX-Evil: 1' });
    const api = await ApiServer.start(json({}));
    const { steps } = await runWs(
      [
        ['!ws.oauthProfile', 'token', 'acme'],
        ['ws.get', api.origin, '', 'r'],
        ['base.assertVarsPresent', 'token'],
      ],
      { data: { acme: { ...data.acme, options: { authorize_origin: api.origin } } }, acquire },
    );
    expect(steps.map(({ state }) => state)).toEqual(['failed', 'passed', 'failed']);
    expect(api.call.headers).not.toHaveProperty('authorization');
  });
});

describe('ws.oauth', () => {
  it.each<[string, WsStep[3]]>([
    ['a map', { grant_type: 'password', username: 'Jürgen', password: '${env:MY_PASSWORD}', empty: '', n: '007' }],
    ['lines', 'grant_type=password\nusername=Jürgen\npassword=${env:MY_PASSWORD}\n\nempty=\nn=007'],
  ])('R2.2 posts every field as it is given, from %s', async (_what, auth) => {
    const api = await ApiServer.start(json({ access_token: 'access-token-of-the-test', expires_in: 1 }));
    const { value, everything, last } = await runWs([['ws.oauth', 'token', `${api.origin}/t`, auth]], {
      acquire: asking,
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

  it('takes options and a Basic pair as a profile does', async () => {
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
      { acquire: asking },
    );
    expect(last.failure).toBeUndefined();
    expect(api.call.body.toString()).toBe('grant_type=client_credentials');
    expect(api.sent('Authorization')).toEqual([`Basic ${Buffer.from('u:pw').toString('base64')}`]);
  });

  it('reads its fields as they are: ${…} of a reply is not followed', async () => {
    const api = await ApiServer.start(json({ access_token: 'x1', hint: '${env:MY_PASSWORD}' }));
    await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['ws.oauth', 'token', api.origin, { hint: '${r.body.hint}' }],
      ],
      { acquire: asking, env: { MY_PASSWORD: 'hidden' } },
    );
    expect(api.calls[1]?.body.toString()).toBe(`hint=${encodeURIComponent('${env:MY_PASSWORD}')}`);
  });

  it('takes no further fields out of a value that was looked up', async () => {
    const api = await ApiServer.start(
      json({ access_token: 'x1', scope: 'read\nclient_id=evil\nurl=https://evil.test' }),
    );
    const { last } = await runWs(
      [
        ['ws.get', api.origin, '', 'r'],
        ['ws.oauth', 'token', api.origin, 'client_id=mine\nscope=${r.body.scope}'],
      ],
      { acquire: asking },
    );
    expect(last.failure).toBeUndefined();
    expect([...new URLSearchParams(api.calls[1]?.body.toString())]).toEqual([
      ['client_id', 'mine'],
      ['scope', 'read\nclient_id=evil\nurl=https://evil.test'],
    ]);
  });

  it('takes all lines out of one variable too', async () => {
    const api = await ApiServer.start(json({ access_token: 'x1' }));
    await runWs([['ws.oauth', 'token', api.origin, '${auth}']], { acquire: asking, data: { auth: 'a=1\nb=2' } });
    expect(api.call.body.toString()).toBe('a=1&b=2');
  });

  it.each<[string, WsStep, string]>([
    ['http beyond this machine', ['ws.oauth', 't', 'http://id.example.test/', { a: 1 }], 'is an http: address'],
    ['no address', ['ws.oauth', 't', '', { a: 1 }], 'ws.oauth.url is missing'],
    ['an address of its own', ['ws.oauth', 't', 'https://id.example.test/', { url: 'x' }], 'auth must not have url'],
    ['a type of its own', ['ws.oauth', 't', 'https://id.example.test/', 'type=google'], 'auth must not have type'],
    ['a list', ['ws.oauth', 't', 'https://id.example.test/', { a: [1] }], 'ws.oauth.a is a list'],
    ['an unknown option', ['ws.oauth', 't', 'https://id.example.test/', { options: { x: 1 } }], 'is not an option'],
    ['text without =', ['ws.oauth', 't', 'https://id.example.test/', 'what'], 'auth must be a map'],
  ])('refuses %s', async (_what, step, message) => {
    const { acquire, profiles } = giving();
    const { last } = await runWs([step], { acquire });
    expect(last.failure?.message).toContain(message);
    expect(profiles).toEqual([]);
  });

  it('shows a refusal with the provider’s words and no secret', async () => {
    const api = await ApiServer.start(
      json({ error: 'invalid_client', error_description: 'no: my-client-secret' }, 401),
    );
    const { last, everything } = await runWs(
      [['ws.oauth', 'token', api.origin, { client_id: 'ci', client_secret: 'my-client-secret' }]],
      { acquire: asking },
    );
    expect(last.failure?.code).toBe('provider_rejected');
    expect(everything).not.toContain('my-client-secret');
  });
});
