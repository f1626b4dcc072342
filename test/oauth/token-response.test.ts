import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRefreshToken } from '../../src/oauth/token-response.ts';
import { faultyIn, RECEIVED_AT, readAcme, receive, refusalOf, replyWith } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const profile = readAcme(samples.custom);
const withPath = (token_path: string) => readAcme({ ...samples.custom, options: { token_path } });

describe('a token', () => {
  it.each([200, 201, 203, 206, 299])('R1.3 may come with status %i', (status) => {
    expect(receive(profile, replyWith(status, { access_token: 'a' })).accessToken.reveal()).toBe('a');
  });

  it.each(['text/html', 'text/plain; charset=utf-8', 'application/x-www-form-urlencoded', undefined])(
    'may be JSON or a form whatever the content type: %s',
    (type) => {
      const headers = { 'content-type': type };
      expect(receive(profile, replyWith(200, { access_token: 'a' }, headers)).response).toEqual({ access_token: 'a' });
      expect(receive(profile, replyWith(200, 'access_token=a&expires_in=60', headers)).response).toEqual({
        access_token: 'a',
        expires_in: '60',
      });
    },
  );

  it('D4 is stored as given: every member, types kept, nothing added', () => {
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
    expect(receive(profile, replyWith(200, body)).response).toStrictEqual(body);
  });

  it('D4 a form-encoded reply is stored as strings', () => {
    const { response } = receive(profile, replyWith(200, 'access_token=a%3D&expires_in=5&admin=true&x=&y=%C3%BC+z'));
    expect(response).toStrictEqual({ access_token: 'a=', expires_in: '5', admin: 'true', x: '', y: 'ü z' });
  });

  it('D4 any JSON object with a token comes back as it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string({ minLength: 1 }), (members, access_token) => {
        const { error: _, errors: __, errorCode: ___, ...rest } = members;
        const body = { ...rest, access_token };
        const { response } = receive(profile, replyWith(200, body));
        expect(JSON.stringify(response)).toBe(JSON.stringify(body));
      }),
    );
  });

  it('D4 a member called __proto__ is a member like any other', () => {
    const text = '{"access_token":"a","__proto__":{"refresh_token":"evil","expires_in":1}}';
    const reply = receive(profile, replyWith(200, text));
    expect(JSON.stringify(reply.response)).toBe(text);
    expect(reply.refreshToken).toBeUndefined();
    expect(reply.expiresAt).toBeUndefined();
    expect(refusalOf(profile, replyWith(200, '{"__proto__":{"access_token":"a"}}')).code).toBe('response_unreadable');
  });

  it('is a secret, and so is the refresh token', () => {
    const { accessToken, refreshToken } = receive(
      profile,
      replyWith(200, { access_token: 'the-access-token', refresh_token: 'the-refresh-token' }),
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
  ])('with expires_in %j expires after %j ms', (expires_in, ms) => {
    const { expiresAt } = receive(profile, replyWith(200, { access_token: 'a', expires_in }));
    expect(expiresAt).toBe(ms === undefined ? undefined : RECEIVED_AT + ms);
  });

  it.each(['1e999', '1e308', '9'.repeat(400)])('with the absurd expires_in %.20s has no expiry', (number) => {
    const { expiresAt } = receive(profile, replyWith(200, `{"access_token":"a","expires_in":${number}}`));
    expect(expiresAt).toBeUndefined();
  });

  it.each(['', null, 7, [], {}])('ignores a refresh token that is %j', (refresh_token) => {
    expect(receive(profile, replyWith(200, { access_token: 'a', refresh_token })).refreshToken).toBeUndefined();
  });

  it('comes with every other secret of its response, each once', () => {
    const body = {
      access_token: 'a',
      refresh_token: 'r',
      id_token: 'i',
      more: { api_key: 'k', again_token: 'a' },
      x: 'y',
    };
    const { otherSecrets } = receive(profile, replyWith(200, body));
    expect(otherSecrets.map((other) => other.reveal())).toEqual(['i', 'k']);
  });

  it('has the type that the provider names, in its own case', () => {
    expect(receive(profile, replyWith(200, { access_token: 'a', token_type: 'bearer' })).tokenType).toBe('bearer');
    expect(receive(profile, replyWith(200, { access_token: 'a', token_type: 7 })).tokenType).toBeUndefined();
  });
});

describe('token_path', () => {
  it('finds a nested token and its companions beside it', () => {
    const body = {
      data: { token: 'a', refresh_token: 'r', expires_in: 60, token_type: 'Bearer' },
      refresh_token: 'outer',
      expires_in: 1,
    };
    const reply = receive(withPath('data.token'), replyWith(200, body));
    expect(reply.accessToken.reveal()).toBe('a');
    expect(reply.refreshToken?.reveal()).toBe('r');
    expect(reply.expiresAt).toBe(RECEIVED_AT + 60_000);
    expect(reply.tokenType).toBe('Bearer');
    expect(reply.response).toStrictEqual(body);
  });

  it('takes companions from the top where the token stands alone', () => {
    const reply = receive(withPath('data.tokens[0]'), replyWith(200, { data: { tokens: ['a'] }, expires_in: '60' }));
    expect(reply.accessToken.reveal()).toBe('a');
    expect(reply.expiresAt).toBe(RECEIVED_AT + 60_000);
  });

  it('finds a token of another name, in a form too', () => {
    expect(receive(withPath('token'), replyWith(200, 'token=a&x=y')).accessToken.reveal()).toBe('a');
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
    expect(refusalOf(withPath(path), replyWith(200, body)).code).toBe('response_unreadable');
  });

  it('that is no path is a fault of the profile', () => {
    expect(faultyIn({ ...samples.custom, options: { token_path: 'a..b' } })).toEqual(['acme.options.token_path']);
  });
});

describe('a reply of 200 that is no token', () => {
  it.each([
    ['an empty token', '{"access_token":""}', 'answered without a token (it sent access_token)'],
    ['a token that is a number', '{"access_token":123,"b":1}', 'answered without a token (it sent access_token, b)'],
    ['a token that is null', '{"access_token":null}', 'answered without a token (it sent access_token)'],
    ['a token that is a list', '{"access_token":["a"]}', 'answered without a token (it sent access_token)'],
    ['another object', '{"token":"abc"}', 'answered without a token (it sent token)'],
    ['an empty object', '{}', 'answered without a token (it sent no member at all)'],
    ['a list', '[{"access_token":"a"}]', 'answered with text that is neither a JSON object nor form-encoded'],
    ['a bare text', '"a"', 'answered with text that is neither a JSON object nor form-encoded'],
    ['half of JSON', '{"access_token":"a', 'answered with text that is neither a JSON object nor form-encoded'],
    ['HTML', '<html><title>Sign in</title>', 'answered with an HTML page'],
    ['nothing', '', 'answered with nothing'],
  ])('%s', (_, body, message) => {
    const error = refusalOf(profile, replyWith(200, body));
    expect(error.code).toBe('response_unreadable');
    expect(error.message).toBe(`id.example.com ${message} (HTTP 200)`);
    expect(error.hint).toContain('acme.url');
    expect(error.provider).toEqual({ status: 200 });
  });

  it('is not blamed on acme.url where the address is the default of the provider', () => {
    for (const sample of [samples.google, samples.microsoftRefresh, samples.oktaRefresh]) {
      const own = readAcme({ ...sample, url: 'https://id.example.com/t' });
      expect(refusalOf(readAcme(sample), replyWith(200, '<html>')).hint).toBe(
        'see what is sent with: oauth-profile explain acme',
      );
      expect(refusalOf(own, replyWith(200, '<html>')).hint).toContain('acme.url');
    }
  });

  it('never shows what it got, for that may be a token under another name', () => {
    for (const body of [
      '{"token":"the-token-itself","n":{"access_token":"the-token-itself"}}',
      'the-token-itself',
      'dGhlLXRva2VuLWl0c2VsZg==',
      '<title>the-token-itself</title>',
      '["the-token-itself"]',
      '{"access_token":"the-token-itself"',
    ]) {
      const error = refusalOf(profile, replyWith(200, body));
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
  ])('%j is a refusal', (body) => {
    const error = refusalOf(profile, replyWith(200, body));
    expect(error.code).toBe('provider_rejected');
    expect(error.message).toContain('HTTP 200');
  });

  it.each([{ error: '' }, { error: null }, { error: false }, { errors: [] }, { errors: null }, { errorCode: null }])(
    '%j beside a token is none',
    (body) => {
      expect(receive(profile, replyWith(200, { ...body, access_token: 'a' })).accessToken.reveal()).toBe('a');
    },
  );

  it('a refusal in a form is one too', () => {
    const error = refusalOf(profile, replyWith(200, 'error=bad_verification_code&error_description=Too+late'));
    expect(error.provider).toMatchObject({ error: 'bad_verification_code', description: 'Too late' });
  });
});

describe('a reply of another status', () => {
  it('is no token, whatever its body says', () => {
    for (const status of [199, 301, 400, 401, 403, 404, 429, 500, 503]) {
      expect(refusalOf(profile, replyWith(status, { access_token: 'a' })).code).not.toBe('response_unreadable');
    }
  });
});

describe('the refresh token of a reply that may be of no other use', () => {
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
  ])('%i %j: %s', (status, body, token) => {
    expect(findRefreshToken(replyWith(status, body))?.reveal()).toBe(token);
  });

  it.each([
    [{ data: { refresh_token: 'r' } }, 'r'],
    [{ data: { refresh_token: 'r' }, refresh_token: 'top' }, 'r'],
    [{ data: { refresh_token: 7 }, refresh_token: 'top' }, 'top'],
    [{ data: { list: [{ refresh_token: 'r' }], refresh_token: 'above' } }, 'r'],
    [{ data: null, refresh_token: 'top' }, 'top'],
    [{ data: 'text' }, undefined],
    [{ other: { refresh_token: 'r' } }, undefined],
  ])('stands beside where the token should be, or above: %j: %s', (body, token) => {
    expect(findRefreshToken(replyWith(200, body), ['data', 'list', 0, 'token'])?.reveal()).toBe(token);
  });
});

it('a reply that is nested without end is no token, and overflows nobody', () => {
  const deep = `{"access_token":"a","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  expect(() => receive(profile, { status: 200, headers: {}, body: deep })).toThrow('nested too deeply');
});
