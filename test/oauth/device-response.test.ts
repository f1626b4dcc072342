import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import { type DeviceCode, parseDeviceResponse } from '../../src/oauth/device-response.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import { buildTokenRequest } from '../../src/oauth/token-request.ts';
import { RECEIVED_AT, readAcme, replyWith } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const profile = readAcme(samples.custom);
const complete = {
  device_code: 'dev-1',
  user_code: 'ABCD-EFGH',
  verification_uri: 'https://id.example.com/device',
  verification_uri_complete: 'https://id.example.com/device?code=ABCD-EFGH',
  expires_in: 600,
  interval: 7,
};

const parse = (reply: HttpResponse): DeviceCode =>
  parseDeviceResponse(profile, buildTokenRequest(profile, '1'), reply, RECEIVED_AT);
const read = (changes: object, status = 200): DeviceCode => parse(replyWith(status, { ...complete, ...changes }));

function refusalOf(reply: HttpResponse): ProviderError {
  try {
    parse(reply);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error('the reply was taken for a device code');
}

describe('a device code', () => {
  it('RFC 8628 §3.2 is what the person enters, where, until when, and how often we ask', () => {
    const { deviceCode, ...rest } = read({});
    expect(deviceCode.reveal()).toBe('dev-1');
    expect(rest).toEqual({
      userCode: 'ABCD-EFGH',
      verificationUri: 'https://id.example.com/device',
      verificationUriComplete: 'https://id.example.com/device?code=ABCD-EFGH',
      expiresAt: RECEIVED_AT + 600_000,
      intervalMs: 7_000,
    });
  });

  it.each([200, 201, 299])('may come with status %i', (status) => {
    expect(read({}, status).userCode).toBe('ABCD-EFGH');
  });

  it('may come with the older name of its address', () => {
    expect(read({ verification_uri: undefined, verification_url: 'https://a.example/d' }).verificationUri).toBe(
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
  ])('RFC 8628 §3.2 with the interval %j is asked for every %i ms', (interval, ms) => {
    expect(read({ interval }).intervalMs).toBe(ms);
  });

  it.each([
    ['10', 10_000],
    [0, 0],
    [undefined, 900_000],
    ['', 900_000],
  ])('with expires_in %j lives for %i ms', (expires_in, ms) => {
    expect(read({ expires_in }).expiresAt).toBe(RECEIVED_AT + ms);
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'id.example.com/device',
    'see https://id.example.com',
    'https://',
    'https:///x',
    'https:// x',
    `https://id.example.com/${'x'.repeat(2048)}`,
    7,
    undefined,
  ])('sends nobody to %.60s', (address) => {
    expect(refusalOf(replyWith(200, { ...complete, verification_uri: address })).code).toBe('response_unreadable');
    expect(read({ verification_uri_complete: address }).verificationUriComplete).toBeUndefined();
  });

  it('may send people to an address of 2048 characters, and cannot speak to the terminal with it', () => {
    const address = `HTTP://id.example.com/${'x'.repeat(2048 - 22)}`;
    expect(read({ verification_uri: address }).verificationUri).toBe(address);
    const { userCode, verificationUri } = read({
      verification_uri: 'https://a.example/\u001b[2J',
      user_code: `\u202e${'x'.repeat(500)}`,
    });
    expect(verificationUri).toBe('https://a.example/\\u001b[2J');
    expect(userCode).toHaveLength(64);
    expect(userCode).toMatch(/^\\u202ex/);
  });
});

describe('a reply without a device code', () => {
  it.each([
    ['no device code', { ...complete, device_code: undefined }],
    ['an empty device code', { ...complete, device_code: '' }],
    ['a device code that is no text', { ...complete, device_code: 7 }],
    ['no user code', { ...complete, user_code: undefined }],
    ['an empty user code', { ...complete, user_code: '' }],
    ['a user code that is no text', { ...complete, user_code: 7 }],
    ['text', 'hello'],
    ['nothing', ''],
  ])('is refused: %s', (_, body) => {
    const error = refusalOf(replyWith(201, body));
    expect(error).toMatchObject({
      code: 'response_unreadable',
      message: 'id.example.com answered without a device code (HTTP 201)',
      hint: 'check that it is a device authorization endpoint: acme.options.device_authorization_url',
    });
    expect(error.provider).toEqual({ status: 201 });
  });

  it.each([
    [400, { error: 'invalid_client' }],
    [300, complete],
    [199, complete],
    [200, { ...complete, error: 'invalid_scope' }],
  ])('is a refusal of the provider with status %i and %j', (status, body) => {
    expect(refusalOf(replyWith(status, body)).code).toMatch(/^(?:provider_rejected|redirected)$/);
  });
});
