import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRefreshToken, parseTokenMembers } from '../../src/oauth/token-response.ts';
import {
  createResponse,
  invalidVariables,
  parseResponse,
  providerErrorFor,
  RECEIVED_AT,
  readAcme,
  samples,
} from '../support/profiles.ts';

const profile = readAcme(samples.custom);
const withPath = (token_path: string) => readAcme({ ...samples.custom, options: { token_path } });

describe('parseTokenResponse()', () => {
  it.each([200, 201, 203, 206, 299])('R1.3 accepts status %i', (status) => {
    expect(parseResponse(profile, createResponse(status, { access_token: 'a' })).accessToken.reveal()).toBe('a');
  });

  it.each(['text/html', 'text/plain; charset=utf-8', 'application/x-www-form-urlencoded', undefined])(
    'parses JSON and forms with the content type %s',
    (type) => {
      const headers = { 'content-type': type };
      expect(parseResponse(profile, createResponse(200, { access_token: 'a' }, headers)).response).toEqual({
        access_token: 'a',
      });
      expect(parseResponse(profile, createResponse(200, 'access_token=a&expires_in=60', headers)).response).toEqual({
        access_token: 'a',
        expires_in: '60',
      });
    },
  );

  it('D4 returns every member with its type and adds nothing', () => {
    const body = {
      token_type: 'Bearer',
      scope: 'a b',
      expires_in: 3599,
      ext_expires_in: 3599.5,
      access_token: 'a',
      refresh_token: 'r',
      id_token: 'i',
      not_before: 0,
      nested: { list: [1, '2', null, { deep: true }], empty: {} },
      none: null,
      '': 'no name',
      error: null,
      errors: [],
    };
    expect(parseResponse(profile, createResponse(200, body)).response).toStrictEqual(body);
  });

  it('D4 returns the values of a form as strings', () => {
    const { response } = parseResponse(
      profile,
      createResponse(200, 'access_token=a%3D&expires_in=5&admin=true&x=&y=%C3%BC+z'),
    );
    expect(response).toStrictEqual({ access_token: 'a=', expires_in: '5', admin: 'true', x: '', y: 'ü z' });
  });

  it('D4 returns any JSON object with a token unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string({ minLength: 1 }), (members, access_token) => {
        const { error: _, errors: __, errorCode: ___, ...rest } = members;
        const body = { ...rest, access_token };
        const { response } = parseResponse(profile, createResponse(200, body));
        expect(JSON.stringify(response)).toBe(JSON.stringify(body));
      }),
    );
  });

  it('D4 treats __proto__ as a member like any other', () => {
    const text = '{"access_token":"a","__proto__":{"refresh_token":"evil","expires_in":1}}';
    const token = parseResponse(profile, createResponse(200, text));
    expect(JSON.stringify(token.response)).toBe(text);
    expect(token.refreshToken).toBeUndefined();
    expect(token.expiresAt).toBeUndefined();
    expect(providerErrorFor(profile, createResponse(200, '{"__proto__":{"access_token":"a"}}')).code).toBe(
      'response_unreadable',
    );
  });

  it('returns access token and refresh token as secrets', () => {
    const { accessToken, refreshToken } = parseResponse(
      profile,
      createResponse(200, { access_token: 'the-access-token', refresh_token: 'the-refresh-token' }),
    );
    expect(refreshToken?.reveal()).toBe('the-refresh-token');
    expect(inspect({ accessToken, refreshToken }) + JSON.stringify({ accessToken, refreshToken })).not.toMatch(/the-/);
  });

  it.each([
    [3600, 3_600_000],
    ['3600', 3_600_000],
    [' 3600 ', 3_600_000],
    ['3599.5', 3_599_500],
    ['3599.125', 3_599_125],
    [0, 0],
    [-5, -5000],
    ['', undefined],
    ['soon', undefined],
    ['0x10', undefined],
    ['-5', undefined],
    ['1e3', undefined],
    [null, undefined],
    [true, undefined],
    [[3600], undefined],
    [{}, undefined],
  ])('parses expires_in %j as %j ms', (expires_in, ms) => {
    const { expiresAt } = parseResponse(profile, createResponse(200, { access_token: 'a', expires_in }));
    expect(expiresAt).toBe(ms === undefined ? undefined : RECEIVED_AT + ms);
  });

  it.each(['1e999', '1e308', '9'.repeat(400)])('ignores expires_in %.20s, which is too large', (number) => {
    const { expiresAt } = parseResponse(profile, createResponse(200, `{"access_token":"a","expires_in":${number}}`));
    expect(expiresAt).toBeUndefined();
  });

  it.each(['', null, 7, [], {}])('ignores a refresh token that is %j', (refresh_token) => {
    expect(
      parseResponse(profile, createResponse(200, { access_token: 'a', refresh_token })).refreshToken,
    ).toBeUndefined();
  });

  it('returns every other secret of the response once', () => {
    const body = {
      access_token: 'a',
      refresh_token: 'r',
      id_token: 'i',
      more: { api_key: 'k', again_token: 'a' },
      x: 'y',
    };
    const { otherSecrets } = parseResponse(profile, createResponse(200, body));
    expect(otherSecrets.map((other) => other.reveal())).toEqual(['i', 'k']);
  });

  it('returns token_type unchanged', () => {
    expect(parseResponse(profile, createResponse(200, { access_token: 'a', token_type: 'bearer' })).tokenType).toBe(
      'bearer',
    );
    expect(parseResponse(profile, createResponse(200, { access_token: 'a', token_type: 7 })).tokenType).toBeUndefined();
  });
});

describe('parseTokenResponse() with options.token_path', () => {
  it('finds a nested token and the members next to it', () => {
    const body = {
      data: { token: 'a', refresh_token: 'r', expires_in: 60, token_type: 'Bearer' },
      refresh_token: 'outer',
      expires_in: 1,
    };
    const token = parseResponse(withPath('data.token'), createResponse(200, body));
    expect(token.accessToken.reveal()).toBe('a');
    expect(token.refreshToken?.reveal()).toBe('r');
    expect(token.expiresAt).toBe(RECEIVED_AT + 60_000);
    expect(token.tokenType).toBe('Bearer');
    expect(token.response).toStrictEqual(body);
  });

  it('uses the members of the top level if the token has no neighbours', () => {
    const body = { data: { tokens: ['a'] }, expires_in: '60' };
    const token = parseResponse(withPath('data.tokens[0]'), createResponse(200, body));
    expect(token.accessToken.reveal()).toBe('a');
    expect(token.expiresAt).toBe(RECEIVED_AT + 60_000);
  });

  it('finds a token of another name in a form', () => {
    expect(parseResponse(withPath('token'), createResponse(200, 'token=a&x=y')).accessToken.reveal()).toBe('a');
  });

  it.each([
    ['data.token', { access_token: 'a' }],
    ['data.token', { data: 'token' }],
    ['data.token', { data: null }],
    ['data.token', { data: { token: 7 } }],
    ['data.token', { 'data.token': 'a' }],
    ['constructor.name', {}],
    ['__proto__.toString', {}],
    ['data.length', { data: 'abc' }],
    ['data[1]', { data: ['a'] }],
  ])('%s finds nothing in %j', (path, body) => {
    expect(providerErrorFor(withPath(path), createResponse(200, body)).code).toBe('response_unreadable');
  });

  it('rejects a profile whose token_path is not a path', () => {
    expect(invalidVariables({ ...samples.custom, options: { token_path: 'a..b' } })).toEqual([
      'acme.options.token_path',
    ]);
  });
});

describe('toTokenResponseError()', () => {
  it.each([
    ['an empty token', '{"access_token":""}', 'members: access_token'],
    ['a token that is a number', '{"access_token":123,"b":1}', 'members: access_token, b'],
    ['a token that is null', '{"access_token":null}', 'members: access_token'],
    ['a token that is a list', '{"access_token":["a"]}', 'members: access_token'],
    ['another object', '{"token":"abc"}', 'members: token'],
    ['an empty object', '{}', 'an empty object'],
    ['a list', '[{"access_token":"a"}]', 'text that is neither a JSON object nor form-encoded'],
    ['a JSON string', '"a"', 'text that is neither a JSON object nor form-encoded'],
    ['truncated JSON', '{"access_token":"a', 'text that is neither a JSON object nor form-encoded'],
    ['HTML', '<html><title>Sign in</title>', 'an HTML page'],
    ['an empty body', '', 'an empty body'],
  ])('reports %s with status 200 as response_unreadable', (_, body, description) => {
    const error = providerErrorFor(profile, createResponse(200, body));
    expect(error.code).toBe('response_unreadable');
    expect(error.message).toMatch(/^id\.example\.com returned .* \(HTTP 200\)$/);
    expect(error.message).toContain(description);
    expect(error.hint).toContain('acme.url');
    expect(error.provider).toEqual({ status: 200 });
  });

  it('suggests to check acme.url only if it is not the default of the provider', () => {
    for (const sample of [samples.google, samples.microsoftRefresh, samples.oktaRefresh]) {
      const own = readAcme({ ...sample, url: 'https://id.example.com/t' });
      expect(providerErrorFor(readAcme(sample), createResponse(200, '<html>')).hint).toMatch(
        /oauth-profile explain acme$/,
      );
      expect(providerErrorFor(own, createResponse(200, '<html>')).hint).toContain('acme.url');
    }
  });

  it('never shows the body, which may be a token', () => {
    for (const body of [
      '{"token":"the-token-itself","n":{"access_token":"the-token-itself"}}',
      'the-token-itself',
      'dGhlLXRva2VuLWl0c2VsZg==',
      '<title>the-token-itself</title>',
      '["the-token-itself"]',
      '{"access_token":"the-token-itself"',
    ]) {
      const error = providerErrorFor(profile, createResponse(200, body));
      expect(error.code).toBe('response_unreadable');
      expect(JSON.stringify(error) + inspect(error, { depth: 9 })).not.toMatch(
        /the-token-itself|dGhlLXRva2VuLWl0c2VsZg/,
      );
    }
  });

  it.each([
    { error: 'invalid_grant' },
    { error: { message: 'no' } },
    { error: 'x', access_token: 'a' },
    { errors: [{ code: 99 }] },
    { errorCode: 'E0000004' },
    { error: 1 },
    { error: true },
  ])('reports %j with status 200 as an error response', (body) => {
    const error = providerErrorFor(profile, createResponse(200, body));
    expect(error.code).toBe('provider_rejected');
    expect(error.message).toContain('HTTP 200');
  });

  it.each([{ error: '' }, { error: null }, { error: false }, { errors: [] }, { errors: null }, { errorCode: null }])(
    'does not report %j with a token',
    (body) => {
      expect(parseResponse(profile, createResponse(200, { ...body, access_token: 'a' })).accessToken.reveal()).toBe(
        'a',
      );
    },
  );

  it('reports an error response that is form-encoded', () => {
    const error = providerErrorFor(
      profile,
      createResponse(200, 'error=bad_verification_code&error_description=Too+late'),
    );
    expect(error.provider).toMatchObject({ error: 'bad_verification_code', description: 'Too late' });
  });
});

describe('a response with another status than 2xx', () => {
  it('is an error response even if it contains a token', () => {
    for (const status of [199, 301, 400, 401, 403, 404, 429, 500, 503]) {
      expect(providerErrorFor(profile, createResponse(status, { access_token: 'a' })).code).not.toBe(
        'response_unreadable',
      );
    }
  });
});

describe('findRefreshToken()', () => {
  it.each([
    [200, { refresh_token: 'r' }, 'r'],
    [299, 'refresh_token=r&x=y', 'r'],
    [200, { refresh_token: '' }, undefined],
    [200, { refresh_token: 7 }, undefined],
    [200, {}, undefined],
    [200, 'refresh_token', undefined],
    [199, { refresh_token: 'r' }, undefined],
    [300, { refresh_token: 'r' }, undefined],
    [400, { refresh_token: 'r' }, undefined],
  ])('finds in a response with status %i and %j: %s', (status, body, token) => {
    expect(findRefreshToken(createResponse(status, body))?.reveal()).toBe(token);
  });

  it.each([
    [{ data: { refresh_token: 'r' } }, 'r'],
    [{ data: { refresh_token: 'r' }, refresh_token: 'top' }, 'r'],
    [{ data: { refresh_token: 7 }, refresh_token: 'top' }, 'top'],
    [{ data: { list: [{ refresh_token: 'r' }], refresh_token: 'above' } }, 'r'],
    [{ data: null, refresh_token: 'top' }, 'top'],
    [{ data: 'text' }, undefined],
    [{ other: { refresh_token: 'r' } }, undefined],
  ])('finds the refresh token next to the place of the access token or above, in %j: %s', (body, token) => {
    expect(findRefreshToken(createResponse(200, body), ['data', 'list', 0, 'token'])?.reveal()).toBe(token);
  });
});

it('a response that is nested too deeply is unreadable', () => {
  const deep = `{"access_token":"a","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  const error = providerErrorFor(profile, { status: 200, headers: {}, body: deep });
  expect(error.code).toBe('response_unreadable');
  expect(error.message).toContain('nested too deeply');
  expect(parseTokenMembers(profile, JSON.parse(deep), RECEIVED_AT)).toBe('too_deep');
});
