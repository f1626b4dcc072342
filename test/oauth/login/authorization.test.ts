import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AuthorizationRequest,
  buildAuthorizationParameters,
  buildAuthorizationUrl,
  buildCodeTokenRequest,
  matchesState,
  parseAuthorizationResponse,
} from '../../../src/oauth/login/authorization.ts';
import type { LoginProfile } from '../../../src/profile/login-profile.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { anyText } from '../../support/arbitraries.ts';
import { failureOf } from '../../support/errors.ts';
import { loginProfileOf, loginProfiles, toWire } from '../../support/profiles.ts';

const { google, okta } = loginProfiles;
const state = 'k3Jx0q_8-long-and-random';
const request = {
  redirectUri: 'http://127.0.0.1:4711/callback',
  state: 'st',
  challenge: 'ch',
};

const buildUrl = (login: LoginProfile, endpoint: URL, parameters: AuthorizationRequest): URL =>
  buildAuthorizationUrl(endpoint, buildAuthorizationParameters(login, parameters));

describe('buildAuthorizationUrl()', () => {
  it('R4.4 step 1 adds state and PKCE to the query that Google documents', () => {
    const login = loginProfileOf(google);
    const url = buildUrl(login, login.endpoints.authorizationUrl as URL, request);
    expect(`${url.origin}${url.pathname}`).toBe('https://accounts.google.com/o/oauth2/v2/auth');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      scope: 'email',
      access_type: 'offline',
      prompt: 'consent',
      response_type: 'code',
      client_id: 'desktop',
      redirect_uri: 'http://127.0.0.1:4711/callback',
      state: 'st',
      code_challenge: 'ch',
      code_challenge_method: 'S256',
    });
  });

  it("keeps extra fields and the endpoint's query, which cannot replace the parameters of the request", () => {
    const login = loginProfileOf({
      type: 'custom',
      url: 'https://id.example.com/token',
      client_id: 'tool',
      audience: 'https://api.example.com',
      prompt: 'login',
      options: { authorization_url: 'https://id.example.com/authorize?tenant=a&state=evil&client_id=evil' },
    });
    const { searchParams } = buildUrl(login, login.endpoints.authorizationUrl as URL, request);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      tenant: 'a',
      audience: 'https://api.example.com',
      prompt: 'login',
      state: 'st',
      client_id: 'tool',
    });
    expect(searchParams.getAll('state')).toEqual(['st']);
    expect(searchParams.getAll('client_id')).toEqual(['tool']);
  });

  it('encodes any scope and state so that a server decodes the same values', () => {
    const login = loginProfileOf(okta);
    const endpoint = new URL('https://acme.okta.com/authorize');
    fc.assert(
      fc.property(anyText, anyText, (scope, anyState) => {
        const field = { name: 'scope', value: scope, source: '' };
        const { href } = buildUrl({ ...login, scope: field }, endpoint, { ...request, state: anyState });
        const decoded = new URL(href).searchParams;
        expect([decoded.get('scope'), decoded.get('state')]).toEqual([scope, anyState]);
      }),
    );
  });

  it('never contains a secret', () => {
    const login = loginProfileOf({ ...okta, api_key: 'hidden-value', password: 'pw-value' });
    expect(buildUrl(login, login.endpoints.authorizationUrl as URL, request).href).not.toMatch(
      /okta-secret|hidden|pw-/,
    );
  });

  it('rejects a client id that is a secret, because the URL would show it', () => {
    const login = { ...loginProfileOf(okta), clientId: new Secret('hidden') };
    const error = failureOf(() => buildUrl(login, new URL('https://acme.okta.com/authorize'), request));
    expect(error.code).toBe('profile_invalid');
    expect(error.message).toContain('svc.client_id');
    expect(error.hint).toContain('svc.client_id');
  });

  it('rejects a value from the environment or a file, unless its field is public', () => {
    const login = loginProfileOf({ ...okta, audience: 'a', pin: 'b' });
    const build = (external: string) => {
      const extraParameters = login.extraParameters.map((field) =>
        field.name === external ? { ...field, external: true as const } : field,
      );
      return buildUrl({ ...login, extraParameters }, new URL('https://acme.okta.com/authorize'), request);
    };
    expect(Object.fromEntries(build('audience').searchParams)).toMatchObject({ audience: 'a', pin: 'b' });
    expect(failureOf(() => build('pin'))).toMatchObject({
      code: 'profile_invalid',
      message: expect.stringContaining('svc.pin'),
      hint: expect.stringContaining('svc.pin'),
    });
  });

  it('omits scope if there is none', () => {
    const login = { ...loginProfileOf(okta), scope: undefined };
    const url = buildUrl(login, new URL('https://acme.okta.com/authorize'), request);
    expect(url.searchParams.has('scope')).toBe(false);
  });
});

describe('matchesState()', () => {
  it('accepts a query with the expected state', () => {
    expect(matchesState(`code=c&state=${state}`, state)).toBe(true);
  });

  it.each([
    '',
    'code=c',
    'code=c&state=',
    `code=c&state=${state}x`,
    `code=c&state=${state.slice(0, -1)}`,
    `code=c&state=${state.toUpperCase()}`,
    `code=c&State=${state}`,
    `code=c&state=${state}&state=${state}`,
    `code=c&state=other&state=${state}`,
    `code=c&state[]=${state}`,
    `code=c#state=${state}`,
    `code=c;state=${state}`,
  ])('rejects %j', (query) => {
    expect(matchesState(query, state)).toBe(false);
  });

  it('accepts any state that is encoded in a query', () => {
    fc.assert(
      fc.property(anyText, (expected) => {
        expect(matchesState(new URLSearchParams({ code: 'c', state: expected }).toString(), expected)).toBe(true);
      }),
    );
  });

  it('rejects every query without the expected state', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (query) => {
        fc.pre(!query.includes(state));
        expect(matchesState(query, state)).toBe(false);
      }),
    );
  });
});

describe('parseAuthorizationResponse()', () => {
  it('returns the code as a secret', () => {
    const response = parseAuthorizationResponse(`code=4%2F0Adeu5B&state=${state}&iss=https%3A%2F%2Fid.example.com`);
    expect(response).toMatchObject({ kind: 'code', issuer: 'https://id.example.com' });
    expect(JSON.stringify(response)).not.toContain('4/0Adeu5B');
    expect(response.kind === 'code' && response.code.reveal()).toBe('4/0Adeu5B');
  });

  it('returns any code that was encoded in a query', () => {
    fc.assert(
      fc.property(
        anyText.filter((code) => code !== ''),
        (code) => {
          const response = parseAuthorizationResponse(new URLSearchParams({ code }).toString());
          expect(response.kind === 'code' && response.code.reveal()).toBe(code);
        },
      ),
    );
  });

  it('returns an error even if the query also has a code', () => {
    expect(parseAuthorizationResponse('error=access_denied&error_description=The+user%0Asaid+no&code=c')).toEqual({
      kind: 'error',
      error: 'access_denied',
      description: 'The user said no',
      issuer: undefined,
    });
  });

  it('returns an error without a description', () => {
    for (const query of ['error=access_denied', 'error=access_denied&error_description=']) {
      expect(parseAuthorizationResponse(query)).toEqual({
        kind: 'error',
        error: 'access_denied',
        description: undefined,
        issuer: undefined,
      });
    }
  });

  it.each([
    ['code=a&code=b', 'code'],
    ['code=a&iss=x&iss=y', 'iss'],
    ['error=a&error=a', 'error'],
    ['x=1&x=2&code=a', 'x'],
  ])('RFC 6749 §3.1 rejects the repeated parameter in %s', (query, name) => {
    const response = parseAuthorizationResponse(query);
    expect(response).toMatchObject({ kind: 'invalid' });
    expect(response.kind === 'invalid' && response.reason.split(' ').at(-1)).toBe(name);
  });

  it.each(['', 'code=', 'error=', 'access_token=x', 'id_token=x'])(
    'rejects %j, which has no code or error',
    (query) => {
      const response = parseAuthorizationResponse(query);
      expect(response.kind === 'invalid' && response.reason).toMatch(/code.*error/);
    },
  );

  it('escapes control characters', () => {
    const response = parseAuthorizationResponse('error=%1b%5b2Jx&error_description=%1b%5d0;own%07%e2%80%aeevil');
    expect(JSON.stringify(response)).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  it('truncates long values', () => {
    const response = parseAuthorizationResponse(`error=${'e'.repeat(10_000)}&error_description=${'d'.repeat(100_000)}`);
    expect(JSON.stringify(response).length).toBeLessThan(700);
  });
});

describe('buildCodeTokenRequest()', () => {
  it('R4.4 step 3 adds redirect URI and verifier to the fields that Google documents', () => {
    const exchange = { code: new Secret('4/0A'), redirectUri: request.redirectUri, verifier: new Secret('ver') };
    expect(toWire(buildCodeTokenRequest(loginProfileOf(google), exchange))).toEqual({
      url: 'https://accounts.google.com/o/oauth2/token',
      form: {
        grant_type: 'authorization_code',
        code: '4/0A',
        redirect_uri: 'http://127.0.0.1:4711/callback',
        code_verifier: 'ver',
        client_id: 'desktop',
        client_secret: 'GOCSPX-secret',
      },
      authorization: undefined,
    });
  });

  it('RFC 8707 §2.2 sends the resource and other parameters of the profile, but not those of the login page', () => {
    const exchange = { code: new Secret('4/0A'), redirectUri: request.redirectUri, verifier: new Secret('ver') };
    const fields = { resource: 'https://api.example.com', audience: 'api', prompt: 'consent', login_hint: 'ada' };
    const { form } = toWire(buildCodeTokenRequest(loginProfileOf({ ...google, ...fields }), exchange));
    expect(form).toMatchObject({ resource: 'https://api.example.com', audience: 'api' });
    for (const name of ['prompt', 'login_hint']) expect(form).not.toHaveProperty(name);
  });

  it('shows the login as the source of the fields that it adds', () => {
    const exchange = { code: new Secret('4/0A'), redirectUri: request.redirectUri, verifier: new Secret('ver') };
    const { fields } = buildCodeTokenRequest(loginProfileOf(google), exchange);
    expect(fields.slice(0, 4).map(({ source }) => source)).toEqual(['login', 'login', 'login', 'login']);
  });
});
