import { describe, expect, it } from 'vitest';
import { createApiHeader } from '../../src/oauth/api-header.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { invalidVariables, readAcme, samples } from '../support/profiles.ts';

const { custom } = samples;

function headerFor(options: Record<string, string>, tokenType?: string, token = 'the-token') {
  const accessToken = new Secret(token);
  const { name, value } = createApiHeader(readAcme({ ...custom, options }), { accessToken, tokenType });
  return `${name}: ${value.reveal()}`;
}

describe('createApiHeader()', () => {
  it.each([
    [{}, undefined, 'Authorization: Bearer the-token'],
    [{}, 'bearer', 'Authorization: Bearer the-token'],
    [{ api_scheme: 'token' }, 'bearer', 'Authorization: token the-token'],
    [{ api_scheme: 'Bearer' }, 'bot', 'Authorization: Bearer the-token'],
    [{ api_scheme: 'none' }, undefined, 'Authorization: the-token'],
    [{ api_header: 'X-Api-Token' }, undefined, 'X-Api-Token: the-token'],
    [{ api_header: 'X-Api-Token', api_scheme: 'Bearer' }, undefined, 'X-Api-Token: Bearer the-token'],
    [{ api_header: 'X-Serverless-Authorization' }, 'Bearer', 'X-Serverless-Authorization: Bearer the-token'],
  ])('with %j and the token_type %s returns %s', (options, tokenType, header) => {
    expect(headerFor(options as Record<string, string>, tokenType)).toBe(header);
  });

  it.each(['DPoP', 'mac', 'N_A', ''])('rejects the token_type %j', (tokenType) => {
    for (const options of [{}, { api_header: 'X-Api-Token' }])
      expect(() => headerFor(options as Record<string, string>, tokenType)).toThrow(
        expect.objectContaining({ code: 'response_unreadable' }),
      );
  });

  it('RFC 9449 §7.1 uses the scheme DPoP for a token with a key, and only if the caller adds proofs', () => {
    const profile = { ...readAcme(custom), dpopKey: new Secret('{}') };
    const token = { accessToken: new Secret('the-token'), tokenType: 'DPoP' };
    expect(createApiHeader(profile, token, true).value.reveal()).toBe('DPoP the-token');
    expect(() => createApiHeader(profile, token)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it.each(['line\nend', 'nul\0byte', 'h\u00e4\u00df'])('rejects a token that could end the header: %j', (token) => {
    expect(() => headerFor({}, 'Bearer', token)).toThrow(expect.objectContaining({ code: 'response_unreadable' }));
  });

  it('never shows the token', () => {
    const header = createApiHeader(readAcme(custom), { accessToken: new Secret('the-token'), tokenType: undefined });
    expect(JSON.stringify(header)).not.toContain('the-token');
  });

  it.each([
    ['api_header', ['Host', 'content-length', 'Proxy-Authorization', 'X Y', 'X:Y', 'X\nY', 'ä']],
    ['api_scheme', ['Bearer x', 'x:y', 'x\r\ny']],
  ])('D16 rejects invalid values of options.%s', (name, values) => {
    for (const value of values)
      expect(invalidVariables({ ...custom, options: { [name]: value } })).toEqual([`acme.options.${name}`]);
  });
});
