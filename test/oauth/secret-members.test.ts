import { describe, expect, it } from 'vitest';
import { isSecretOfErrorResponse, memberNames, secretMembers } from '../../src/oauth/secret-members.ts';

const found = (members: object, known: unknown[] = [], isSecret?: (name: string) => boolean) =>
  secretMembers(members as Record<string, unknown>, known, isSecret).found.map((secret) => secret.reveal());

describe('the secrets of a reply', () => {
  it('are the texts below a secret name, each once, but for those that are known', () => {
    const members = {
      access_token: 'a',
      scope: 'seen',
      tokens: ['b', { c: 'c', d: ['d', 7, null, true] }, 'b'],
      nested: { password: 'e', name: 'seen' },
      id_token: 'known',
    };
    expect(found(members, ['known'])).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('of a refusal do not include its code', () => {
    expect(found({ code: 'a', error_token: 'b' }, [], isSecretOfErrorResponse)).toEqual(['b']);
    expect(found({ code: 'a' })).toEqual(['a']);
  });

  it('are looked for 100 levels deep', () => {
    const nested = (levels: number): object => {
      let inner: object = { password: 'deep' };
      for (let level = 0; level < levels; level++) inner = { x: inner };
      return { token: 'top', x: inner };
    };
    expect(secretMembers(nested(99) as Record<string, unknown>, [])).toMatchObject({ tooDeep: false });
    expect(found(nested(99))).toEqual(['top', 'deep']);
    expect(secretMembers(nested(100) as Record<string, unknown>, [])).toMatchObject({ tooDeep: true });
    expect(found({ ...nested(100), id_token: 'behind' })).toEqual(['top', 'behind']);
  });
});

describe('the names of members', () => {
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
  ])('%s is shown', (name) => {
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
  ])('%s may be a token and is not', (name) => {
    expect(memberNames({ [name]: 1 })).toEqual(['••••']);
  });
});
