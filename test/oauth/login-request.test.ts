import { describe, expect, it } from 'vitest';
import { buildAuthorizationUrl } from '../../src/oauth/authorization-url.ts';
import {
  codeTokenRequest,
  deviceAuthorizationRequest,
  deviceTokenRequest,
  revocationRequest,
} from '../../src/oauth/login-request.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { loginProfileOf } from '../support/login-world.ts';

const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app', scope: 'user.read' };
const drive = { type: 'google', client_id: 'desk', client_secret: 'GOCSPX-secret', scope: 'email' };
const okta = { type: 'okta', tenant_id: 'acme', client_id: '0oa1', client_secret: 'okta-secret', scope: 'openid' };

/** A request as the server reads it. */
function wire(profile: Profile) {
  const request = buildTokenRequest(profile, '1');
  const { Authorization: header } = request.headers;
  return {
    url: request.url.href,
    form: Object.fromEntries(new URLSearchParams(encodeForm(request))),
    authorization: header instanceof Secret ? header.reveal() : header,
  };
}

const placeOf = (login: ReturnType<typeof loginProfileOf>, index = 0) => {
  const place = login.endpoints.device[index];
  if (place === undefined) throw new Error('no device codes here');
  return place;
};

describe('the requests of a device code', () => {
  it('R4.3 step 1: client_id and a scope with offline access, to organizations', () => {
    const login = loginProfileOf(graph);
    expect(wire(deviceAuthorizationRequest(login, placeOf(login)))).toEqual({
      url: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/devicecode',
      form: { client_id: 'app', scope: 'user.read offline_access' },
      authorization: undefined,
    });
  });

  it('R4.3 step 3: the code under both names', () => {
    const login = loginProfileOf(graph);
    expect(wire(deviceTokenRequest(login, placeOf(login), new Secret('dev-1')))).toEqual({
      url: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/token',
      form: {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: 'dev-1',
        code: 'dev-1',
        client_id: 'app',
      },
      authorization: undefined,
    });
  });

  it('RFC 8628 §3.1: a confidential client authenticates as usual', () => {
    const login = loginProfileOf(okta);
    const authorization = `Basic ${btoa('0oa1:okta-secret')}`;
    expect(wire(deviceAuthorizationRequest(login, placeOf(login)))).toEqual({
      url: 'https://acme.okta.com/oauth2/default/v1/device/authorize',
      form: { scope: 'openid offline_access' },
      authorization,
    });
    const poll = wire(deviceTokenRequest(login, placeOf(login), new Secret('dev-1')));
    expect(poll).toMatchObject({ authorization, form: { device_code: 'dev-1' } });
    expect(poll.form).not.toHaveProperty('code');
    expect(poll.form).not.toHaveProperty('client_secret');
  });

  it('a server that is not known gets the code under its standard name alone, and no scope unless one is set', () => {
    const login = loginProfileOf({
      type: 'custom',
      url: 'https://id.example.com/token',
      client_id: 'tool',
      options: { device_authorization_url: 'https://id.example.com/device' },
    });
    expect(wire(deviceAuthorizationRequest(login, placeOf(login)))).toEqual({
      url: 'https://id.example.com/device',
      form: { client_id: 'tool' },
      authorization: undefined,
    });
    expect(wire(deviceTokenRequest(login, placeOf(login), new Secret('dev-1'))).form).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: 'dev-1',
      client_id: 'tool',
    });
    expect(wire(revocationRequest(login, new URL('https://id.example.com/revoke'), new Secret('r'))).form).toEqual({
      token: 'r',
      token_type_hint: 'refresh_token',
      client_id: 'tool',
    });
  });

  it('RFC 7523 §3 an assertion is for the token endpoint, wherever it goes, unless the profile names an audience', () => {
    const login = loginProfileOf(okta);
    const place = placeOf(login);
    expect(deviceAuthorizationRequest(login, place)).toMatchObject({
      family: undefined,
      notes: [],
      options: { ...login.options, audience: 'https://acme.okta.com/oauth2/default/v1/token' },
    });
    const named = { ...login, options: { ...login.options, audience: 'https://acme.okta.com' } };
    expect(deviceAuthorizationRequest(named, place).options.audience).toBe('https://acme.okta.com');
  });

  it('a public client names itself', () => {
    const login = loginProfileOf({ ...okta, client_secret: '' });
    expect(wire(deviceAuthorizationRequest(login, placeOf(login))).form).toEqual({
      client_id: '0oa1',
      scope: 'openid offline_access',
    });
  });
});

describe('the requests of an authorization code', () => {
  const request = { redirectUri: 'http://127.0.0.1:4711/callback', state: 'st', challenge: 'ch' };

  it('R4.4 step 1: the query that Google wants, with state and PKCE', () => {
    const login = loginProfileOf(drive);
    const url = buildAuthorizationUrl(login, login.endpoints.authorize as URL, request);
    expect(`${url.origin}${url.pathname}`).toBe('https://accounts.google.com/o/oauth2/v2/auth');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      scope: 'email',
      access_type: 'offline',
      prompt: 'consent',
      response_type: 'code',
      client_id: 'desk',
      redirect_uri: 'http://127.0.0.1:4711/callback',
      state: 'st',
      code_challenge: 'ch',
      code_challenge_method: 'S256',
    });
  });

  it('R4.4 step 3: the fields that Google wants, with redirect and verifier', () => {
    const exchange = { code: new Secret('4/0A'), redirectUri: request.redirectUri, verifier: new Secret('ver') };
    expect(wire(codeTokenRequest(loginProfileOf(drive), exchange))).toEqual({
      url: 'https://accounts.google.com/o/oauth2/token',
      form: {
        grant_type: 'authorization_code',
        code: '4/0A',
        redirect_uri: 'http://127.0.0.1:4711/callback',
        code_verifier: 'ver',
        client_id: 'desk',
        client_secret: 'GOCSPX-secret',
      },
      authorization: undefined,
    });
  });

  it('sends what else the profile asks with, and keeps the query of the page; neither can replace what is ours', () => {
    const login = loginProfileOf({
      type: 'custom',
      url: 'https://id.example.com/token',
      client_id: 'tool',
      audience: 'https://api.example.com',
      prompt: 'login',
      options: { authorization_url: 'https://id.example.com/authorize?tenant=a&state=evil&client_id=evil' },
    });
    const { searchParams } = buildAuthorizationUrl(login, login.endpoints.authorize as URL, request);
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

  it('never puts a secret into an address', () => {
    const login = loginProfileOf({ ...okta, api_key: 'hidden-value', password: 'pw-value' });
    expect(buildAuthorizationUrl(login, login.endpoints.authorize as URL, request).href).not.toMatch(
      /okta-secret|hidden|pw-/,
    );
  });
});

describe('the request that revokes', () => {
  it('RFC 7009 §2.1 names the token, with the client authenticated as usual', () => {
    const login = loginProfileOf(okta);
    expect(wire(revocationRequest(login, login.endpoints.revoke as URL, new Secret('rt-1')))).toEqual({
      url: 'https://acme.okta.com/oauth2/default/v1/revoke',
      form: { token: 'rt-1', token_type_hint: 'refresh_token' },
      authorization: `Basic ${btoa('0oa1:okta-secret')}`,
    });
  });

  it('names the token alone to Google', () => {
    const login = loginProfileOf(drive);
    expect(wire(revocationRequest(login, login.endpoints.revoke as URL, new Secret('rt-1')))).toEqual({
      url: 'https://oauth2.googleapis.com/revoke',
      form: { token: 'rt-1' },
      authorization: undefined,
    });
  });
});
