import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAccount } from '../../../src/oauth/login/account.ts';

const idToken = (claims: unknown): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2lnbmF0dXJl`;

describe('parseAccount()', () => {
  it.each([
    [{ sub: '1', email: 'e', upn: 'u', preferred_username: 'p' }, 'p'],
    [{ sub: '1', email: 'ada@example.com', upn: 'u' }, 'ada@example.com'],
    [{ sub: '1', upn: 'ada@contoso.com' }, 'ada@contoso.com'],
    [{ sub: '248289761001' }, '248289761001'],
    [{ preferred_username: '', email: 7, sub: 's' }, 's'],
    [{ preferred_username: 'Zoë Ünïcode' }, 'Zoë Ünïcode'],
    [{}, undefined],
  ])('returns the preferred name of the claims %j: %s', (claims, account) => {
    expect(parseAccount({ id_token: idToken(claims) })).toBe(account);
  });

  it('returns undefined without a readable id token', () => {
    expect(parseAccount({})).toBeUndefined();
    for (const token of ['', 'x', 'a.b.c', `e30.${Buffer.from('null').toString('base64url')}.x`, idToken([])]) {
      expect(parseAccount({ id_token: token })).toBeUndefined();
    }
  });

  it('never throws, whatever the id token is', () => {
    fc.assert(
      fc.property(fc.anything(), (token) => {
        expect(() => parseAccount({ id_token: token })).not.toThrow();
      }),
    );
  });

  it('decodes base64url, which uses - and _ instead of + and /', () => {
    const token = idToken({ sub: '~~~>>>???' });
    expect(token).toMatch(/-.*_|_.*-/);
    expect(parseAccount({ id_token: token })).toBe('~~~>>>???');
  });

  it('returns any printable subject unchanged', () => {
    const printable = fc.string({ minLength: 1, maxLength: 150 }).filter((text) => text.trim() === text);
    fc.assert(
      fc.property(printable, (sub) => {
        expect(parseAccount({ id_token: idToken({ sub }) })).toBe(sub);
      }),
    );
  });

  it('escapes control characters and truncates long names', () => {
    const account = parseAccount({ id_token: idToken({ sub: `\u001b[2J\u202e${'x'.repeat(5000)}` }) });
    expect(account).not.toMatch(/[\u001b\u202e]/);
    expect(account?.length).toBeLessThanOrEqual(200);
  });
});
