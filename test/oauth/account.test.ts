import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAccount } from '../../src/oauth/account.ts';

const idToken = (claims: unknown): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2lnbmF0dXJl`;

describe('who signed in', () => {
  it.each([
    [{ sub: '1', email: 'e', upn: 'u', preferred_username: 'p' }, 'p'],
    [{ sub: '1', email: 'ada@example.com', upn: 'u' }, 'ada@example.com'],
    [{ sub: '1', upn: 'ada@contoso.com' }, 'ada@contoso.com'],
    [{ sub: '248289761001' }, '248289761001'],
    [{ preferred_username: '', email: 7, sub: 's' }, 's'],
    [{ preferred_username: 'Zoë Ünïcode' }, 'Zoë Ünïcode'],
    [{}, undefined],
  ])('%j is %s', (claims, account) => {
    expect(parseAccount({ id_token: idToken(claims) })).toBe(account);
  });

  it('is not known without an id token, or with one that cannot be read', () => {
    expect(parseAccount({})).toBeUndefined();
    fc.assert(
      fc.property(fc.anything(), (token) => {
        expect(() => parseAccount({ id_token: token })).not.toThrow();
      }),
    );
    for (const token of ['', 'x', 'a.b.c', `e30.${Buffer.from('null').toString('base64url')}.x`, idToken([])]) {
      expect(parseAccount({ id_token: token })).toBeUndefined();
    }
  });

  it('is read from the alphabet of JWTs, which writes - and _ where base64 has + and /', () => {
    const token = idToken({ sub: '~~~>>>???' });
    expect(token).toMatch(/-.*_|_.*-/);
    expect(parseAccount({ id_token: token })).toBe('~~~>>>???');
  });

  it('cannot speak to the terminal, nor fill it', () => {
    const account = parseAccount({ id_token: idToken({ sub: `\u001b[2J\u202e${'x'.repeat(5000)}` }) });
    expect(account).not.toMatch(/[\u001b\u202e]/);
    expect(account?.length).toBeLessThanOrEqual(200);
  });
});
