import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../src/errors.ts';
import type { HttpResponse } from '../../../src/oauth/http-response.ts';
import {
  buildDeviceAuthorizationRequest,
  buildDeviceTokenRequest,
  type DeviceCode,
  parseDeviceAuthorizationResponse,
} from '../../../src/oauth/login/device.ts';
import { buildTokenRequest } from '../../../src/oauth/token-request.ts';
import type { LoginProfile } from '../../../src/profile/login-profile.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import {
  createResponse,
  loginProfileOf,
  loginProfiles,
  RECEIVED_AT,
  readAcme,
  samples,
  toWire,
} from '../../support/profiles.ts';

const { microsoft, okta } = loginProfiles;

function firstEndpoints({ endpoints }: LoginProfile) {
  const [first] = endpoints.device;
  if (first === undefined) throw new Error('the profile has no device authorization endpoint');
  return first;
}

const customLogin = loginProfileOf({
  type: 'custom',
  url: 'https://id.example.com/token',
  client_id: 'tool',
  options: { device_authorization_url: 'https://id.example.com/device' },
});

describe('buildDeviceAuthorizationRequest()', () => {
  it('R4.3 step 1 sends client_id and a scope with offline_access to organizations', () => {
    const login = loginProfileOf(microsoft);
    expect(toWire(buildDeviceAuthorizationRequest(login, firstEndpoints(login)))).toEqual({
      url: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/devicecode',
      form: { client_id: 'app', scope: 'user.read offline_access' },
      authorization: undefined,
    });
  });

  it('RFC 8628 §3.1 authenticates a confidential client as in a token request', () => {
    const login = loginProfileOf(okta);
    expect(toWire(buildDeviceAuthorizationRequest(login, firstEndpoints(login)))).toEqual({
      url: 'https://acme.okta.com/oauth2/default/v1/device/authorize',
      form: { scope: 'openid offline_access' },
      authorization: `Basic ${btoa('0oa1:okta-secret')}`,
    });
  });

  it('sends client_id in the form for a public client', () => {
    const login = loginProfileOf({ ...okta, client_secret: '' });
    expect(toWire(buildDeviceAuthorizationRequest(login, firstEndpoints(login))).form).toEqual({
      client_id: '0oa1',
      scope: 'openid offline_access',
    });
  });

  it('sends no scope for a custom profile without one', () => {
    expect(toWire(buildDeviceAuthorizationRequest(customLogin, firstEndpoints(customLogin)))).toEqual({
      url: 'https://id.example.com/device',
      form: { client_id: 'tool' },
      authorization: undefined,
    });
  });

  it('sends extra fields of the profile', () => {
    const login = loginProfileOf({ ...okta, audience: 'https://api.example.com' });
    expect(toWire(buildDeviceAuthorizationRequest(login, firstEndpoints(login))).form).toMatchObject({
      audience: 'https://api.example.com',
    });
  });

  it('RFC 7523 §3 uses the token URL as audience of assertions unless options.audience is set', () => {
    const login = loginProfileOf(okta);
    const endpoints = firstEndpoints(login);
    expect(buildDeviceAuthorizationRequest(login, endpoints)).toMatchObject({
      family: undefined,
      notes: [],
      options: { ...login.options, audience: 'https://acme.okta.com/oauth2/default/v1/token' },
    });
    const configured = { ...login, options: { ...login.options, audience: 'https://acme.okta.com' } };
    expect(buildDeviceAuthorizationRequest(configured, endpoints).options.audience).toBe('https://acme.okta.com');
  });
});

describe('buildDeviceTokenRequest()', () => {
  it('R4.3 step 3 sends the device code under both names to Microsoft', () => {
    const login = loginProfileOf(microsoft);
    expect(toWire(buildDeviceTokenRequest(login, firstEndpoints(login), new Secret('dev-1')))).toEqual({
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

  it('RFC 8628 §3.4 authenticates a confidential client and sends the device code once', () => {
    const login = loginProfileOf(okta);
    const poll = toWire(buildDeviceTokenRequest(login, firstEndpoints(login), new Secret('dev-1')));
    expect(poll).toMatchObject({
      authorization: `Basic ${btoa('0oa1:okta-secret')}`,
      form: { device_code: 'dev-1' },
    });
    expect(poll.form).not.toHaveProperty('code');
    expect(poll.form).not.toHaveProperty('client_secret');
  });

  it('RFC 8707 §2.2 sends the resource and other parameters of the profile', () => {
    const login = loginProfileOf({ ...okta, resource: 'https://api.example.com', my_token: 'secret-value' });
    const { form } = toWire(buildDeviceTokenRequest(login, firstEndpoints(login), new Secret('dev-1')));
    expect(form).toMatchObject({ resource: 'https://api.example.com', my_token: 'secret-value' });
  });

  it('sends the standard fields only for a custom profile without other parameters', () => {
    const { fields } = buildDeviceTokenRequest(customLogin, firstEndpoints(customLogin), new Secret('dev-1'));
    expect(fields.map(({ name, source }) => [name, source])).toEqual([
      ['grant_type', 'login'],
      ['device_code', 'login'],
      ['client_id', 'data'],
    ]);
  });
});

const profile = readAcme(samples.custom);
const complete = {
  device_code: 'dev-1',
  user_code: 'ABCD-EFGH',
  verification_uri: 'https://id.example.com/device',
  verification_uri_complete: 'https://id.example.com/device?code=ABCD-EFGH',
  expires_in: 600,
  interval: 7,
};

const parse = (response: HttpResponse): DeviceCode =>
  parseDeviceAuthorizationResponse({
    profile,
    request: buildTokenRequest(profile, '1'),
    response,
    receivedAt: RECEIVED_AT,
  });
const parseWith = (changes: object, status = 200): DeviceCode =>
  parse(createResponse(status, { ...complete, ...changes }));

function errorFor(response: HttpResponse): ProviderError {
  try {
    parse(response);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error('the response contains a device code');
}

describe('parseDeviceAuthorizationResponse()', () => {
  it('RFC 8628 §3.2 returns codes, verification URIs, expiry and interval', () => {
    const { deviceCode, ...rest } = parseWith({});
    expect(deviceCode.reveal()).toBe('dev-1');
    expect(rest).toEqual({
      userCode: 'ABCD-EFGH',
      verificationUri: 'https://id.example.com/device',
      verificationUriComplete: 'https://id.example.com/device?code=ABCD-EFGH',
      expiresAt: RECEIVED_AT + 600_000,
      intervalMs: 7_000,
    });
  });

  it.each([200, 201, 299])('accepts status %i', (status) => {
    expect(parseWith({}, status).userCode).toBe('ABCD-EFGH');
  });

  it('accepts the older name verification_url', () => {
    expect(parseWith({ verification_uri: undefined, verification_url: 'https://a.example/d' }).verificationUri).toBe(
      'https://a.example/d',
    );
  });

  it.each([
    [5, 5_000],
    ['5', 5_000],
    [0, 1_000],
    [0.5, 1_000],
    [86_400 * 30, 86_400 * 30_000],
    [undefined, 5_000],
    [-1, 5_000],
    ['soon', 5_000],
    ['5s', 5_000],
    ['x5', 5_000],
    [null, 5_000],
    [86_400 * 30 + 1, 5_000],
  ])('RFC 8628 §3.2 parses the interval %j as %i ms', (interval, ms) => {
    expect(parseWith({ interval }).intervalMs).toBe(ms);
  });

  it.each([
    ['10', 10_000],
    [0, 0],
    [undefined, 900_000],
    ['', 900_000],
  ])('parses expires_in %j as %i ms', (expires_in, ms) => {
    expect(parseWith({ expires_in }).expiresAt).toBe(RECEIVED_AT + ms);
  });

  it('returns a positive interval and an expiry for any values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (interval, expires_in) => {
        const { intervalMs, expiresAt } = parseWith({ interval, expires_in });
        expect(intervalMs).toBeGreaterThanOrEqual(1000);
        expect(expiresAt).toBeGreaterThanOrEqual(RECEIVED_AT);
        expect(Number.isFinite(intervalMs + expiresAt)).toBe(true);
      }),
    );
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'id.example.com/device',
    'see https://id.example.com',
    'https://',
    'https:///x',
    'https:// x',
    'https://microsoft.com@evil.example/devicelogin',
    'https://microsoft.com:443@evil.example/devicelogin',
    'https://:microsoft.com@evil.example/devicelogin',
    `https://id.example.com/${'x'.repeat(2048)}`,
    7,
    undefined,
  ])('rejects the verification URI %.60s', (uri) => {
    expect(errorFor(createResponse(200, { ...complete, verification_uri: uri })).code).toBe('response_unreadable');
    expect(parseWith({ verification_uri_complete: uri }).verificationUriComplete).toBeUndefined();
  });

  it('accepts a verification URI of 2048 characters', () => {
    const uri = `HTTP://id.example.com/${'x'.repeat(2048 - 22)}`;
    expect(parseWith({ verification_uri: uri }).verificationUri).toBe(uri);
  });

  it('escapes control characters and truncates the user code', () => {
    const { userCode, verificationUri } = parseWith({
      verification_uri: 'https://a.example/\u001b[2J',
      user_code: `\u202e${'x'.repeat(500)}`,
    });
    expect(verificationUri).toBe('https://a.example/\\u001b[2J');
    expect(userCode).toHaveLength(64);
    expect(userCode).toMatch(/^\\u202ex/);
  });

  it.each([
    ['no device code', { ...complete, device_code: undefined }],
    ['an empty device code', { ...complete, device_code: '' }],
    ['a device code that is a number', { ...complete, device_code: 7 }],
    ['no user code', { ...complete, user_code: undefined }],
    ['an empty user code', { ...complete, user_code: '' }],
    ['a user code that is a number', { ...complete, user_code: 7 }],
    ['text', 'hello'],
    ['an empty body', ''],
  ])('rejects %s as response_unreadable', (_, body) => {
    const error = errorFor(createResponse(201, body));
    expect(error.code).toBe('response_unreadable');
    expect(error.message).toContain('id.example.com');
    expect(error.hint).toContain('acme.options.device_authorization_url');
    expect(error.provider).toEqual({ status: 201 });
  });

  it.each([
    [400, { error: 'invalid_client' }, 'provider_rejected'],
    [300, complete, 'redirected'],
    [199, complete, 'provider_rejected'],
    [200, { ...complete, error: 'invalid_scope' }, 'provider_rejected'],
  ])('reports the error response with status %i and %j', (status, body, code) => {
    expect(errorFor(createResponse(status, body)).code).toBe(code);
  });
});
