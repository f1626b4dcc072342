import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesOrigin, parseOrigin, parseOriginPattern } from '../../../src/profile/options/origins.ts';
import { parseUrl } from '../../../src/profile/url.ts';
import { invalidVariables, readAcme, samples } from '../../support/profiles.ts';

const { custom, microsoftRefresh, gitlabRefresh, google } = samples;
const matches = (origins: string[], url: string) => matchesOrigin(origins, new URL(url));

describe('parseOriginPattern()', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://API.example.com:443/', 'https://api.example.com'],
    ['https://*.example.com', 'https://*.example.com'],
    ['https://*.EXAMPLE.com:8443', 'https://*.example.com:8443'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ])('parses %s as %s', (text, origin) => {
    expect(parseOriginPattern(text)).toBe(origin);
  });

  it.each([
    'https://*.com',
    'https://*.com.',
    'https://*',
    'https://*.*.example.com',
    'https://a*.example.com',
    'https://api.*.com',
    'https://*.*.*',
    'https://*.0.0.1',
    'http://*.example.com',
    'http://*.localhost',
    'https://user@*.example.com',
    'https://*.example.com/path',
    '*.example.com',
    'https://*.ex\u{e4}mple.com',
    'https://x://*.example.com',
    'null',
    '',
  ])('rejects %j', (text) => {
    expect(parseOriginPattern(text)).toBeUndefined();
  });

  it('accepts a wildcard only where one is meant', () => {
    expect(parseOrigin('https://*.example.com')).toBeUndefined();
  });
});

describe('matchesOrigin()', () => {
  const origins = ['https://api.example.com', 'https://*.example.org', 'http://127.0.0.1:3000'];

  it.each([
    'https://api.example.com/v1?x=1#y',
    'https://API.EXAMPLE.COM:443/',
    'https://a.example.org/',
    'https://a-1.example.org/',
    'http://127.0.0.1:3000/',
  ])('accepts %s', (url) => {
    expect(matches(origins, url)).toBe(true);
  });

  it.each([
    'https://example.com/',
    'https://evil-api.example.com/',
    'https://evilapi.example.com/',
    'https://api.example.com.evil.net/',
    'https://api.example.com./',
    'https://api.example.com:444/',
    'http://api.example.com/',
    'wss://api.example.com/',
    'ftp://api.example.com/',
    'https://user@api.example.com/',
    'https://user:password@api.example.com/',
    'https://api.example.com@evil.net/',
    'https://example.org/',
    'https://.example.org/',
    'https://a.b.example.org/',
    'https://evilexample.org/',
    'https://a.example.org./',
    'https://a.example.org:8443/',
    'http://127.0.0.1:3001/',
    'http://localhost:3000/',
    'https://127.0.0.1:3000/',
    'data:text/plain,x',
    'file:///etc/passwd',
  ])('rejects %s', (url) => {
    expect(matches(origins, url)).toBe(false);
  });

  it('accepts a URL only if its scheme, host and port are those of the origin', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9-]{0,6}[a-z0-9]$/);
    const host = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'));
    const port = fc.constantFrom('', ':8443');
    const userinfo = fc.constantFrom('', 'user@', 'user:password@', ':@');
    const url = fc.tuple(fc.constantFrom('https', 'http', 'wss'), userinfo, host, port, fc.webPath());
    const related = fc.tuple(url, fc.constantFrom('', 'x', 'x.', 'x.y.', '*.'), fc.boolean());
    fc.assert(
      fc.property(related, host, ([[scheme, user, urlHost, urlPort, path], prefix, isRelated], other) => {
        const base = isRelated ? urlHost : other;
        for (const isWildcard of [false, true]) {
          const origin = parseOriginPattern(`https://${isWildcard ? '*.' : ''}${base}${urlPort}`);
          const target = parseUrl(`${scheme}://${user}${prefix}${urlHost}${urlPort}${path}`);
          if (origin === undefined || target === undefined) continue;
          const labels = target.hostname.split('.');
          const expected = isWildcard ? ['*', ...labels.slice(1)].join('.') : target.hostname;
          const isSame = expected === `${isWildcard ? '*.' : ''}${base}`;
          expect(matchesOrigin([origin], target)).toBe(
            isSame && scheme === 'https' && target.username === '' && target.password === '',
          );
        }
      }),
    );
  });
});

describe('options.origins', () => {
  const originsOf = (fields: object) => readAcme(fields as typeof custom).options.origins;

  it.each([[['https://a.example.com', 'https://*.example.org']], [' https://a.example.com  https://*.example.org\n']])(
    'is a list, or a string with spaces: %j',
    (origins) => {
      expect(originsOf({ ...custom, options: { origins } })).toEqual([
        'https://a.example.com',
        'https://*.example.org',
      ]);
    },
  );

  it.each([
    [['https://a.example.com', 'b']],
    ['https://a.example.com,https://b.example.com'],
    [[['https://a.b']]],
    'x',
  ])('D16 is an issue if it contains anything else: %j', (origins) => {
    expect(invalidVariables({ ...custom, options: { origins } })).toEqual(['acme.options.origins']);
  });

  it('has the default of the provider', () => {
    expect(originsOf(custom)).toEqual([]);
    expect(originsOf(microsoftRefresh)).toEqual(['https://graph.microsoft.com']);
    expect(originsOf(google)).toEqual(['https://*.googleapis.com']);
    expect(originsOf(gitlabRefresh)).toEqual(['https://gitlab.com']);
    const url = 'https://lab.example.com:8443/oauth/token';
    expect(originsOf({ ...gitlabRefresh, url })).toEqual(['https://lab.example.com:8443']);
  });

  it('has no default for another token endpoint, or for one without TLS', () => {
    expect(originsOf({ ...microsoftRefresh, url: 'https://login.example.com/token' })).toEqual([]);
    const options = { allow_http: true };
    expect(originsOf({ ...gitlabRefresh, url: 'http://lab.example.com/oauth/token', options })).toEqual([]);
  });

  it('contains the authorize_origin', () => {
    const origins = 'https://*.example.com';
    const options = { origins, authorize_origin: 'https://a.example.com' };
    expect(readAcme({ ...custom, options }).options.authorizeOrigin).toBe('https://a.example.com');
    expect(invalidVariables({ ...custom, options: { origins, authorize_origin: 'https://example.com' } })).toEqual([
      'acme.options.authorize_origin',
    ]);
    const vault = 'https://vault.azure.net';
    expect(readAcme({ ...microsoftRefresh, options: { authorize_origin: vault } }).options.authorizeOrigin).toBe(vault);
  });
});
