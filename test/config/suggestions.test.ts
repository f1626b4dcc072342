import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closestMatch } from '../../src/config/suggestions.ts';
import { KNOWN_FIELDS as fields } from '../../src/profile/profile-draft.ts';

const types = ['microsoft', 'google', 'okta', 'gitlab', 'twitter', 'custom'];

describe('D16: a suggestion', () => {
  it.each([
    ['clientid', 'client_id'],
    ['Client_Id', 'client_id'],
    ['CLIENT-ID', 'client_id'],
    ['clientId', 'client_id'],
    ['client id', 'client_id'],
    ['cleint_id', 'client_id'],
    ['client_di', 'client_id'],
    ['clientsecret', 'client_secret'],
    ['client_secert', 'client_secret'],
    ['tenant', 'tenant_id'],
    ['tennant_id', 'tenant_id'],
    ['user_name', 'username'],
    ['usernme', 'username'],
    ['pasword', 'password'],
    ['passwort', 'password'],
    ['refreshToken', 'refresh_token'],
    ['scopes', 'scope'],
    ['granttype', 'grant_type'],
    ['tpye', 'type'],
    ['uri', 'url'],
    ['URL', 'url'],
  ])('for %s is %s', (name, expected) => {
    expect(closestMatch(name, fields)).toBe(expected);
  });

  it.each([
    ['Microsoft', 'microsoft'],
    ['mircosoft', 'microsoft'],
    ['GitLab', 'gitlab'],
    ['git-lab', 'gitlab'],
    ['octa', 'okta'],
    ['costum', 'custom'],
  ])('for the type %s is %s', (name, expected) => {
    expect(closestMatch(name, types)).toBe(expected);
  });

  it.each([
    ['graf', ['graph', 'mail'], 'graph'],
    ['graf.type', ['graph.type', 'graph.client_id', 'mail.type'], 'graph.type'],
    ['graph.clientid', ['graph.client_id', 'graph.client_secret'], 'graph.client_id'],
  ])('for %s is chosen from %j', (name, candidates, expected) => {
    expect(closestMatch(name, candidates)).toBe(expected);
  });

  it('is the nearest candidate, the first of equal ones', () => {
    expect(closestMatch('abcd', ['abxx', 'abcx', 'abcy'])).toBe('abcx');
  });

  it.each([
    ['foo', fields],
    ['a', ['b', 'c', 'd']],
    ['', ['a', 'ab']],
    ['x', ['']],
    ['ab', ['cd', 'xb']],
    ['okta', ['data', 'beta']],
    ['mail', ['main1x', 'graph']],
    ['prod', ['test', 'dev']],
    ['user', ['url', 'scope', 'type']],
    ['nonce', fields],
    ['response_mode', fields],
    ['login_hint', fields],
    ['assertion', fields],
    ['claims', fields],
    ['prompt', fields],
    ['amazon', types],
    ['facebook', types],
    ['slack', types],
    ['token', ['type', 'tenant_id']],
    ['graph', []],
  ])('is not made for %s', (name, candidates) => {
    expect(closestMatch(name, candidates)).toBeUndefined();
  });

  it('is never the name itself', () => {
    expect(closestMatch('scope', ['scope'])).toBeUndefined();
    expect(closestMatch('scope', ['scope', 'scopes'])).toBe('scopes');
  });

  it('may differ in case and separators, whatever its length', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{2,20}(_[a-z]{1,20}){0,2}$/), (name) => {
        expect(closestMatch(name.toUpperCase(), ['zzzzzzzzzzzzzzzz', name])).toBe(name);
        if (name.includes('_')) expect(closestMatch(name.replaceAll('_', '-'), [name])).toBe(name);
      }),
    );
  });

  it('may have two swapped letters from five letters on', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{5,20}$/), fc.nat(), (name, place) => {
        const at = place % (name.length - 1);
        const wrong = name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2);
        if (wrong !== name) expect(closestMatch(wrong, ['0000', name])).toBe(name);
      }),
    );
  });

  /** Returns the number of edits from `a` to `b` by definition: insert, delete, replace, swap neighbours. */
  const edits = (a: string, b: string): number => {
    const known = new Map<string, number>();
    const from = (i: number, j: number): number => {
      if (i === 0 || j === 0) return i + j;
      const place = `${i} ${j}`;
      let least = known.get(place);
      if (least === undefined) {
        const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
        least = Math.min(
          from(i - 1, j) + 1,
          from(i, j - 1) + 1,
          from(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          swapped ? from(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        );
        known.set(place, least);
      }
      return least;
    };
    return from(a.length, b.length);
  };

  it('is at most two edits away, or three from ten letters on, and never more than 40 percent', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 13 });
    for (const [name, candidate] of fc.sample(fc.tuple(word, word), { numRuns: 1500, seed: 7 })) {
      if (name === candidate) continue;
      const distance = edits(name, candidate);
      const most = Math.min(name.length < 10 ? 2 : 3, Math.floor(Math.max(name.length, candidate.length) * 0.4));
      expect([name, candidate, closestMatch(name, [candidate])]).toEqual([
        name,
        candidate,
        distance <= most ? candidate : undefined,
      ]);
    }
  });

  it.each([
    ['abcdefghi', 'abcdefxyz', false],
    ['abcdefghij', 'abcdefgxyz', true],
    ['abcdefghij', 'abcdefwxyz', false],
    ['abcdefghi', 'badcefghi', true],
    ['abcdefghi', 'badcfeghi', false],
  ])('for %s from %s alone is made: %s', (name, candidate, near) => {
    expect(closestMatch(name, [candidate])).toBe(near ? candidate : undefined);
  });

  it('is not made for more than 64 letters, from longer names, or beyond 500 candidates', () => {
    const letters = (count: number) => 'a'.repeat(count);
    expect(closestMatch(`b${letters(63)}`, [letters(64)])).toBe(letters(64));
    expect(closestMatch(`b${letters(64)}`, [letters(65)])).toBeUndefined();
    expect(closestMatch('ab', [`a${'-'.repeat(126)}b`])).toHaveLength(128);
    expect(closestMatch('ab', [`a${'-'.repeat(127)}b`])).toBeUndefined();
    const many = (count: number) => Array.from({ length: count }, (_, index) => `number ${index}`);
    expect(closestMatch('scope', [...many(499), 'scopes'])).toBe('scopes');
    expect(closestMatch('scope', [...many(500), 'scopes'])).toBeUndefined();
  });

  it('is not made for a very long name, whatever the number of candidates', () => {
    const long = 'a'.repeat(100_000);
    expect(closestMatch(`${long}b`, [`${long}c`, `${long}d`])).toBeUndefined();
  });
});
