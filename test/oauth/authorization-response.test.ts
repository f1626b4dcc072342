import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesState, parseAuthorizationResponse } from '../../src/oauth/authorization-response.ts';

const state = 'k3Jx0q_8-long-and-random';

describe('whether a redirect is ours', () => {
  it('is decided by our state', () => {
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
  ])('no: %s', (query) => {
    expect(matchesState(query, state)).toBe(false);
  });

  it('is not, whatever else a query holds', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (query) => {
        fc.pre(!query.includes(state));
        expect(matchesState(query, state)).toBe(false);
      }),
    );
  });
});

describe('what a redirect brings', () => {
  it('is a code, which is a secret from then on', () => {
    const response = parseAuthorizationResponse(`code=4%2F0Adeu5B&state=${state}&iss=https%3A%2F%2Fid.example.com`);
    expect(response).toMatchObject({ kind: 'code', issuer: 'https://id.example.com' });
    expect(JSON.stringify(response)).not.toContain('4/0Adeu5B');
    expect(response.kind === 'code' && response.code.reveal()).toBe('4/0Adeu5B');
  });

  it('is a refusal, even beside a code', () => {
    expect(parseAuthorizationResponse('error=access_denied&error_description=The+person%0Asaid+no&code=c')).toEqual({
      kind: 'refused',
      error: 'access_denied',
      description: 'The person said no',
      issuer: undefined,
    });
  });

  it('is a refusal, even one without words', () => {
    for (const query of ['error=access_denied', 'error=access_denied&error_description=']) {
      expect(parseAuthorizationResponse(query)).toEqual({
        kind: 'refused',
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
  ])('RFC 6749 §3.1 is of no use where a parameter is repeated: %s', (query, name) => {
    expect(parseAuthorizationResponse(query)).toEqual({ kind: 'unreadable', why: `it names ${name} twice` });
  });

  it.each(['', 'code=', 'error=', 'access_token=x', 'id_token=x'])('is of no use: %s', (query) => {
    expect(parseAuthorizationResponse(query)).toEqual({
      kind: 'unreadable',
      why: 'it brings neither a code nor an error',
    });
  });

  it('cannot speak to the terminal', () => {
    const response = parseAuthorizationResponse('error=%1b%5b2Jx&error_description=%1b%5d0;own%07%e2%80%aeevil');
    expect(JSON.stringify(response)).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  it('is cut where it is endless', () => {
    const response = parseAuthorizationResponse(`error=${'e'.repeat(10_000)}&error_description=${'d'.repeat(100_000)}`);
    expect(JSON.stringify(response).length).toBeLessThan(700);
  });
});
