import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildBasicHeader } from '../../src/oauth/basic-header.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { anyText } from '../support/any-text.ts';
import { decodeBasic } from '../support/read-sample.ts';

describe('a Basic header', () => {
  it('D12 is encoded with encodeURIComponent, which leaves -_.~ alone', () => {
    const header = buildBasicHeader('gloas-a_b.c~d', new Secret('p w+/:%ü'), true).reveal();
    expect(atob(header.replace('Basic ', ''))).toBe('gloas-a_b.c~d:p%20w%2B%2F%3A%25%C3%BC');
  });

  it('D12 raw is UTF-8 and nothing else', () => {
    const header = buildBasicHeader(new Secret('ü'), 'p w+/:%€', false).reveal();
    expect(Buffer.from(header.replace('Basic ', ''), 'base64').toString('utf8')).toBe('ü:p w+/:%€');
  });

  it('D14 any pair comes back exactly', () => {
    fc.assert(
      fc.property(anyText, anyText, (user, password) => {
        expect(decodeBasic(buildBasicHeader(user, new Secret(password), true).reveal())).toEqual([user, password]);
      }),
      { numRuns: 500 },
    );
  });

  it('takes a secret of any size', () => {
    const long = 'x'.repeat(500_000);
    expect(decodeBasic(buildBasicHeader('u', long, true).reveal())?.[1]).toHaveLength(500_000);
  });

  it('prints as Basic ••••', () => {
    const header = buildBasicHeader('user', 'password', true);
    expect([`${header}`, JSON.stringify(header), inspect(header)]).toEqual([
      'Basic ••••',
      '"Basic ••••"',
      'Basic ••••',
    ]);
  });
});
