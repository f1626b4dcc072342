import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidUrlError, parseStrictUrl } from '../../src/profile/strict-url.ts';
import { anyUnits } from '../support/any-text.ts';

describe('a URL that may get secrets', () => {
  it.each([
    ['https://id.example.com/token', 'id.example.com'],
    ['HTTPS://ID.Example.COM/token', 'id.example.com'],
    ['https://id.example.com', 'id.example.com'],
    ['https://id.example.com:443/token', 'id.example.com'],
    ['https://id.example.com:8443/a/b?tenant=x&y=@z', 'id.example.com:8443'],
    ['https://id.example.com?x=1', 'id.example.com'],
    ['https://id.example.com/a@b', 'id.example.com'],
    ['https://xn--mller-kva.example/', 'xn--mller-kva.example'],
    ['https://10.0.0.7/token', '10.0.0.7'],
    ['https://[2001:db8::1]:8443/token', '[2001:db8::1]:8443'],
    ['http://localhost:80/token', 'localhost'],
  ])('D13 takes %s', (text, host) => {
    expect(parseStrictUrl(text).host).toBe(host);
  });

  it.each([
    ['https://user@example.com/', 'must not contain a user name or password'],
    ['https://user:pw@example.com/', 'must not contain a user name or password'],
    ['https://@example.com/', 'must not contain a user name or password'],
    ['https://example.com:443@evil.com/', 'must not contain a user name or password'],
    ['https://example.com/#', 'must not have a fragment'],
    ['https://example.com/token#x', 'must not have a fragment'],
    ['https://example.com#@evil.com/', 'must not have a fragment'],
    ['https://example.com\\@evil.com/', 'has blanks, line ends, control characters or backslashes in it'],
    ['https:\\\\example.com/', 'has blanks, line ends, control characters or backslashes in it'],
    ['https://exa\tmple.com/', 'has blanks, line ends, control characters or backslashes in it'],
    ['https://example.com/a\nb', 'has blanks, line ends, control characters or backslashes in it'],
    [' https://example.com/', 'has blanks, line ends, control characters or backslashes in it'],
    ['https://example.com/ ', 'has blanks, line ends, control characters or backslashes in it'],
    ['https://example.com/\u0001', 'has blanks, line ends, control characters or backslashes in it'],
    ['https://example.com/\u0000', 'has blanks, line ends, control characters or backslashes in it'],
    ['example.com/token', 'must be a complete https:// address'],
    ['//example.com/token', 'must be a complete https:// address'],
    ['https:/example.com/', 'must be a complete https:// address'],
    ['https:///example.com/', 'must be a complete https:// address'],
    ['https:example.com', 'must be a complete https:// address'],
    ['https://', 'must be a complete https:// address'],
    ['ftp://example.com/', 'must be a complete https:// address'],
    ['file:///etc/passwd', 'must be a complete https:// address'],
    ['javascript:alert(1)', 'must be a complete https:// address'],
    ['https://exam|ple.com/', 'is not a valid address'],
    ['https://example.com:99999/', 'is not a valid address'],
    ['https://[::1/', 'is not a valid address'],
    ['https://%65vil.com/', 'names the host %65vil.com, which would be read as evil.com'],
    ['https://example.com:0443/', 'names the host example.com:0443, which would be read as example.com'],
    ['https://example.com:/', 'names the host example.com:, which would be read as example.com'],
    ['http://2130706433/', 'names the host 2130706433, which would be read as 127.0.0.1'],
    ['http://0x7f.1/', 'names the host 0x7f.1, which would be read as 127.0.0.1'],
    ['http://[0:0:0:0:0:0:0:1]/', 'names the host [0:0:0:0:0:0:0:1], which would be read as [::1]'],
    ['https://еvil.com/', 'names a host with letters beyond ASCII, which would be read as xn--vil-qdd.com'],
    ['https://ｅvil.com/', 'names a host with letters beyond ASCII, which would be read as evil.com'],
    ['https://evil。com/', 'names a host with letters beyond ASCII, which would be read as evil.com'],
    ['https://ev\u00adil.com/', 'names a host with letters beyond ASCII, which would be read as evil.com'],
    ['https://ev\u200bil.com/', 'names a host with letters beyond ASCII, which would be read as evil.com'],
  ])('D13 refuses %j', (text, problem) => {
    expect(() => parseStrictUrl(text)).toThrow(InvalidUrlError);
    expect(() => parseStrictUrl(text)).toThrow(new InvalidUrlError(problem));
  });

  it('never repeats a password that was written into the address', () => {
    for (const text of [
      'https://u:hunter22@example.com/',
      'https://u:hunter22@exa mple.com#',
      'u:hunter22@example.com',
    ]) {
      try {
        parseStrictUrl(text);
        expect.unreachable();
      } catch (error) {
        expect(String(error)).not.toContain('hunter22');
      }
    }
  });

  it('D13 throws nothing but its own error, whatever the text', () => {
    fc.assert(
      fc.property(anyUnits, fc.constantFrom('', 'https://', 'http://'), (text, scheme) => {
        try {
          expect(parseStrictUrl(scheme + text).host).not.toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidUrlError);
        }
      }),
    );
  });
});

it('an address is accepted only where a pattern would find scheme, host and nothing that hides', () => {
  const part = fc.constantFrom(
    'https://',
    'HTTP://',
    'http:/',
    'a.example',
    '/',
    '?',
    '#',
    '\\',
    ' ',
    '\u00a0',
    '\u3000',
    '\x7f',
    '\n',
    '@',
    ':443',
    'é',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const text = parts.join('');
      const written = /^(https?):\/\/([^/?#\\\s\0-\x1f]+)([^#\\\s\0-\x1f]*)$/i.test(text);
      const accepted = (() => {
        try {
          parseStrictUrl(text);
          return true;
        } catch (error) {
          // These are about the form as a whole; the others come after it.
          return !/fragment|blanks|complete https/.test((error as InvalidUrlError).message);
        }
      })();
      expect(accepted).toBe(written);
    }),
    { numRuns: 3000 },
  );
});
