import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSecretOfErrorResponse, memberNames, secretMembers } from '../../src/oauth/secret-members.ts';

const revealAll = (members: object, known: unknown[] = [], isSecret?: (name: string) => boolean) =>
  secretMembers(members as Record<string, unknown>, known, isSecret).secrets.map((secret) => secret.reveal());

describe('secretMembers()', () => {
  it('wraps every string below a sensitive name once, except known values', () => {
    const members = {
      access_token: 'a',
      scope: 'seen',
      tokens: ['b', { c: 'c', d: ['d', 7, null, true] }, 'b'],
      nested: { password: 'e', name: 'seen' },
      id_token: 'known',
    };
    expect(revealAll(members, ['known'])).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('does not treat the code of an error response as a secret', () => {
    expect(revealAll({ code: 'a', error_token: 'b' }, [], isSecretOfErrorResponse)).toEqual(['b']);
    expect(revealAll({ code: 'a' })).toEqual(['a']);
  });

  it('finds every string below a sensitive name, at any place in a response', () => {
    const value = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(value, fc.array(fc.constantFrom('a', 'b', 'c')), value, (secret, path, other) => {
        let members: object = { refresh_token: secret, plain: other };
        for (const name of path) members = { [name]: members, list: [other] };
        expect(revealAll(members)).toEqual([secret]);
      }),
    );
  });

  it('searches 100 levels', () => {
    const nested = (levels: number): object => {
      let inner: object = { password: 'deep' };
      for (let level = 0; level < levels; level++) inner = { x: inner };
      return { token: 'top', x: inner };
    };
    expect(secretMembers(nested(99) as Record<string, unknown>, [])).toMatchObject({ tooDeep: false });
    expect(revealAll(nested(99))).toEqual(['top', 'deep']);
    expect(secretMembers(nested(100) as Record<string, unknown>, [])).toMatchObject({ tooDeep: true });
    expect(revealAll({ ...nested(100), id_token: 'behind' })).toEqual(['top', 'behind']);
  });
});

describe('memberNames()', () => {
  it.each([
    'access_token',
    'expiresIn',
    'x-oauth2-scopes',
    '_links',
    'a',
    'A.b-c_d',
    'one_two_three_four_five',
    'oneTwoThreeFourFive',
    'id12',
    'a'.repeat(40),
  ])('shows %s', (name) => {
    expect(memberNames({ [name]: 1 })).toEqual([name]);
  });

  it.each([
    '',
    '1a',
    '-a',
    'a b',
    'a/b',
    'id123',
    'a1b2c3',
    'a'.repeat(41),
    'one_two_three_four_five_six',
    'oneTwoThreeFourFiveSix',
    'a1bCdEfGhIj',
    '2YotnFZFEjr1zCsicMWpAA',
    'eyJhbGciOiJub25lIn0.e30.',
  ])('masks %s, which may be a token', (name) => {
    expect(memberNames({ [name]: 1 })).toEqual(['••••']);
  });
});
