import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoopback, parseStrictUrl, parseUrl } from '../../src/profile/url.ts';
import { anyUnits } from '../support/arbitraries.ts';

describe('parseStrictUrl()', () => {
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
  ])('D13 accepts %s', (text, host) => {
    expect(parseStrictUrl(text)).toHaveProperty('host', host);
  });

  it.each([
    ['https://user@example.com/', 'must not contain a username or password'],
    ['https://user:pw@example.com/', 'must not contain a username or password'],
    ['https://@example.com/', 'must not contain a username or password'],
    ['https://example.com:443@evil.com/', 'must not contain a username or password'],
    ['https://example.com/#', 'must not have a fragment'],
    ['https://example.com/token#x', 'must not have a fragment'],
    ['https://example.com#@evil.com/', 'must not have a fragment'],
    ['https://example.com\\@evil.com/', 'must not contain whitespace, control characters or backslashes'],
    ['https:\\\\example.com/', 'must not contain whitespace, control characters or backslashes'],
    ['https://exa\tmple.com/', 'must not contain whitespace, control characters or backslashes'],
    ['https://example.com/a\nb', 'must not contain whitespace, control characters or backslashes'],
    [' https://example.com/', 'must not contain whitespace, control characters or backslashes'],
    ['https://example.com/ ', 'must not contain whitespace, control characters or backslashes'],
    ['https://example.com/\u0001', 'must not contain whitespace, control characters or backslashes'],
    ['https://example.com/\u0000', 'must not contain whitespace, control characters or backslashes'],
    ['example.com/token', 'must be a complete https:// URL'],
    ['//example.com/token', 'must be a complete https:// URL'],
    ['https:/example.com/', 'must be a complete https:// URL'],
    ['https:///example.com/', 'must be a complete https:// URL'],
    ['https:example.com', 'must be a complete https:// URL'],
    ['https://', 'must be a complete https:// URL'],
    ['ftp://example.com/', 'must be a complete https:// URL'],
    ['file:///etc/passwd', 'must be a complete https:// URL'],
    ['javascript:alert(1)', 'must be a complete https:// URL'],
    ['https://exam|ple.com/', 'is not a valid URL'],
    ['https://example.com:99999/', 'is not a valid URL'],
    ['https://[::1/', 'is not a valid URL'],
    ['https://%65vil.com/', 'has the host %65vil.com, which would be read as evil.com'],
    ['https://example.com:0443/', 'has the host example.com:0443, which would be read as example.com'],
    ['https://example.com:/', 'has the host example.com:, which would be read as example.com'],
    ['http://2130706433/', 'has the host 2130706433, which would be read as 127.0.0.1'],
    ['http://0x7f.1/', 'has the host 0x7f.1, which would be read as 127.0.0.1'],
    ['http://[0:0:0:0:0:0:0:1]/', 'has the host [0:0:0:0:0:0:0:1], which would be read as [::1]'],
    ['https://еvil.com/', 'has non-ASCII characters in its host, which would be read as xn--vil-qdd.com'],
    ['https://ｅvil.com/', 'has non-ASCII characters in its host, which would be read as evil.com'],
    ['https://evil。com/', 'has non-ASCII characters in its host, which would be read as evil.com'],
    ['https://ev\u00adil.com/', 'has non-ASCII characters in its host, which would be read as evil.com'],
    ['https://ev\u200bil.com/', 'has non-ASCII characters in its host, which would be read as evil.com'],
  ])('D13 rejects %j', (text, problem) => {
    expect(parseStrictUrl(text)).toBe(problem);
  });

  it('never repeats a password in the URL', () => {
    for (const text of [
      'https://u:hunter22@example.com/',
      'https://u:hunter22@exa mple.com#',
      'u:hunter22@example.com',
    ]) {
      const problem = parseStrictUrl(text);
      expect(problem).toBeTypeOf('string');
      expect(problem).not.toContain('hunter22');
    }
  });

  it('D13 returns a URL with a host or a problem, whatever the string', () => {
    fc.assert(
      fc.property(anyUnits, fc.constantFrom('', 'https://', 'http://'), (text, scheme) => {
        const url = parseStrictUrl(scheme + text);
        expect(typeof url === 'string' ? url : url.host).not.toBe('');
      }),
    );
  });
});

it('D13 a URL is accepted only if it consists of scheme, host and a path without special characters', () => {
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
      const isPlain = /^(https?):\/\/([^/?#\\\s\0-\x1f]+)([^#\\\s\0-\x1f]*)$/i.test(text);
      const url = parseStrictUrl(text);
      // These problems are about the format as a whole, the others about the host.
      const accepted = typeof url !== 'string' || !/fragment|whitespace|complete https/.test(url);
      expect(accepted).toBe(isPlain);
    }),
    { numRuns: 3000 },
  );
});

describe('parseUrl()', () => {
  it('resolves a URL against a base and returns undefined for an invalid one', () => {
    expect(parseUrl('/b', new URL('https://a.example/c'))?.href).toBe('https://a.example/b');
    expect(parseUrl('http://[')).toBeUndefined();
    expect(parseUrl('relative')).toBeUndefined();
  });

  it('accepts Latin-1 characters, however often it is called', () => {
    const invalid = Array.from({ length: 20_000 }, () => parseUrl('https://ev\u00adil.com/')).filter(
      (url) => url === undefined,
    );
    expect(invalid).toHaveLength(0);
  });
});

describe('isLoopback()', () => {
  it.each(['localhost', '127.0.0.1', '127.8.9.10', '127.255.255.255', '::1', '[::1]'])('D13 accepts %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each([
    '',
    'example.com',
    'app.localhost',
    'localhost.example.com',
    'mylocalhost',
    'localhost.',
    '127.0.0.1.example.com',
    '127.example.com',
    '1127.0.0.1',
    '128.0.0.1',
    '10.0.0.1',
    '0.0.0.0',
    '192.168.0.1',
    '169.254.169.254',
    '::',
    '[::]',
    '[::2]',
    '[fe80::1]',
    '::1.example.com',
    'a\nlocalhost\n',
  ])('D13 does not accept %j', (host) => {
    expect(isLoopback(host)).toBe(false);
  });

  it.each([
    ['http://127.1/', true],
    ['http://2130706433/', true],
    ['http://0x7f000001/', true],
    ['http://LOCALHOST:8080/', true],
    ['http://[0:0:0:0:0:0:0:1]/', true],
    ['http://127.0.0.1@example.com/', false],
    ['http://localhost%2eexample.com/', false],
  ])('D13 returns for the parsed host of %s: %s', (url, expected) => {
    expect(isLoopback(new URL(url).hostname)).toBe(expected);
  });
});
