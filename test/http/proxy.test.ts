import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../src/errors.ts';
import { proxyFor } from '../../src/http/proxy.ts';

const https = new URL('https://login.example.test/token');
const http = new URL('http://login.example.test/token');
const href = (url: URL, env: Record<string, string>) => proxyFor(url, env)?.url.href;

describe('which proxy', () => {
  it.each<[string, URL, Record<string, string>, string | undefined]>([
    ['none without variables', https, {}, undefined],
    ['HTTPS_PROXY for https', https, { HTTPS_PROXY: 'http://p:1' }, 'http://p:1/'],
    ['https_proxy for https', https, { https_proxy: 'http://p:1' }, 'http://p:1/'],
    ['the lower-case one of both', https, { https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' }, 'http://a:1/'],
    ['the other one if the first is empty', https, { https_proxy: '', HTTPS_PROXY: 'http://b:1' }, 'http://b:1/'],
    ['not HTTP_PROXY for https', https, { HTTP_PROXY: 'http://p:1', http_proxy: 'http://p:1' }, undefined],
    ['HTTP_PROXY for http', http, { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://q:1' }, 'http://p:1/'],
    ['http_proxy for http', http, { http_proxy: 'http://p:1' }, 'http://p:1/'],
    ['ALL_PROXY for either', https, { ALL_PROXY: 'http://p:1' }, 'http://p:1/'],
    ['all_proxy for either', http, { all_proxy: 'http://p:1' }, 'http://p:1/'],
    ['the special one before ALL_PROXY', https, { all_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' }, 'http://b:1/'],
    ['the special one before a socks ALL_PROXY', https, { ALL_PROXY: 'socks://a', HTTPS_PROXY: 'b:1' }, 'http://b:1/'],
    ['one without a scheme', https, { HTTPS_PROXY: 'proxy.example.test:3128' }, 'http://proxy.example.test:3128/'],
    ['one without scheme and port', https, { HTTPS_PROXY: 'proxy.example.test' }, 'http://proxy.example.test/'],
    ['one over TLS', https, { HTTPS_PROXY: 'https://proxy.example.test' }, 'https://proxy.example.test/'],
    ['one at an IPv6 address', https, { HTTPS_PROXY: 'http://[2001:db8::1]:3128' }, 'http://[2001:db8::1]:3128/'],
    ['one with blanks around', https, { HTTPS_PROXY: ' http://p:1 ' }, 'http://p:1/'],
  ])('D19 %s', (_what, url, env, expected) => {
    expect(href(url, env)).toBe(expected);
  });

  it.each([
    'http://localhost/token',
    'http://127.0.0.1:8080/token',
    'http://127.8.9.10/token',
    'https://[::1]:8443/token',
  ])('D19 never for this machine: %s', (url) => {
    expect(proxyFor(new URL(url), { ALL_PROXY: 'http://p:1', HTTPS_PROXY: 'http://p:1' })).toBeUndefined();
  });

  it.each(['http://localhost.example.test/', 'http://127.example.test/', 'http://128.0.0.1/'])(
    'D19 one for a host that only looks like this machine: %s',
    (url) => {
      expect(href(new URL(url), { ALL_PROXY: 'http://p:1' })).toBe('http://p:1/');
    },
  );

  it.each([
    ['socks://127.0.0.1:1080'],
    ['socks5://me:c4n4ry-password@127.0.0.1:1080'],
    ['ftp://proxy'],
    ['http://me:c4n4ry-password@proxy:99999'],
    ['http://me:c4n4ry-password@'],
    ['::'],
  ])('D19 refuses what is no HTTP proxy without quoting it: %s', (value) => {
    const attempt = () => proxyFor(https, { ALL_PROXY: value });
    expect(attempt).toThrow(OAuthProfileError);
    expect(attempt).toThrow(
      expect.objectContaining({
        code: 'data_invalid',
        message: 'ALL_PROXY is not the address of an HTTP proxy',
        hint: 'set ALL_PROXY to http://host:port',
      }),
    );
  });
});

describe('NO_PROXY', () => {
  const proxied = (url: string, list: string) =>
    proxyFor(new URL(url), { ALL_PROXY: 'http://p:1', NO_PROXY: list }) !== undefined;

  it.each([
    ['everything', '*', 'https://login.example.test/'],
    ['everything among others', 'a.test, *', 'https://login.example.test/'],
    ['a host', 'login.example.test', 'https://login.example.test/'],
    ['a host in other case', 'LOGIN.Example.TEST', 'https://login.example.test/'],
    ['a suffix with a dot', '.example.test', 'https://login.example.test/'],
    ['a suffix without a dot', 'example.test', 'https://login.example.test/'],
    ['a suffix with a star', '*.example.test', 'https://login.example.test/'],
    ['the suffix itself', '.example.test', 'https://example.test/'],
    ['a top level', 'test', 'https://login.example.test/'],
    ['a host with its port', 'login.example.test:8443', 'https://login.example.test:8443/'],
    ['a host with the default port', 'login.example.test:443', 'https://login.example.test/'],
    ['a plain host with the default port', 'login.example.test:80', 'http://login.example.test/'],
    ['a suffix with a port', '.example.test:443', 'https://login.example.test/'],
    ['one after blanks and commas', ' a.test ,, b.test   example.test', 'https://login.example.test/'],
    ['one after a tab', 'a.test\texample.test', 'https://login.example.test/'],
    ['an address', '10.1.2.3', 'https://10.1.2.3/'],
    ['an address with its port', '10.1.2.3:8443', 'https://10.1.2.3:8443/'],
    ['an IPv6 address', '2001:db8::1', 'https://[2001:db8::1]/'],
    ['an IPv6 address in brackets', '[2001:db8::1]', 'https://[2001:db8::1]/'],
    ['an IPv6 address with its port', '[2001:db8::1]:8443', 'https://[2001:db8::1]:8443/'],
    ['an IPv6 address in another spelling', '2001:DB8:0:0::0001', 'https://[2001:db8::1]/'],
    ['a network', '10.0.0.0/8', 'https://10.255.1.2/'],
    ['a network of one', '10.1.2.3/32', 'https://10.1.2.3/'],
    ['all addresses', '0.0.0.0/0', 'https://203.0.113.9/'],
    ['a network that does not begin at its beginning', '10.1.2.3/8', 'https://10.255.1.2/'],
    ['an IPv6 network', '2001:db8::/32', 'https://[2001:db8:ffff::1]/'],
  ])('D19 leaves out %s', (_what, list, url) => {
    expect(proxied(url, list)).toBe(false);
  });

  it.each([
    ['nothing', '', 'https://login.example.test/'],
    ['only commas', ' , ,', 'https://login.example.test/'],
    ['a lone dot', '.', 'https://login.example.test/'],
    ['another host', 'other.example.test', 'https://login.example.test/'],
    ['the end of another name', 'ample.test', 'https://login.example.test/'],
    ['a longer name', 'a.login.example.test', 'https://login.example.test/'],
    ['another port', 'login.example.test:8443', 'https://login.example.test/'],
    ['a port alone', ':443', 'https://login.example.test/'],
    ['the end of an address', '2.3', 'https://10.1.2.3/'],
    ['another network', '10.0.0.0/8', 'https://11.1.2.3/'],
    ['a network for a name', '0.0.0.0/0', 'https://login.example.test/'],
    ['a network of the other family', '::/0', 'https://10.1.2.3/'],
    ['a network too narrow', '10.0.0.0/99', 'https://10.1.2.3/'],
    ['a network without a width', '10.0.0.0/', 'https://10.1.2.3/'],
    ['a network that is none', 'example.test/8', 'https://login.example.test/'],
    ['another IPv6 network', '2001:db8::/32', 'https://[2001:db9::1]/'],
    ['another port of an IPv6 address', '[2001:db8::1]:8443', 'https://[2001:db8::1]/'],
  ])('D19 does not mean the host: %s', (_what, list, url) => {
    expect(proxied(url, list)).toBe(true);
  });

  it('D19 is read in lower case first', () => {
    const env = { ALL_PROXY: 'http://p:1', no_proxy: 'a.test', NO_PROXY: '*' };
    expect(href(https, env)).toBe('http://p:1/');
    expect(href(https, { ...env, no_proxy: '' })).toBeUndefined();
  });

  it('D19 makes a wrong proxy harmless', () => {
    expect(proxyFor(https, { ALL_PROXY: 'socks://p', NO_PROXY: 'example.test' })).toBeUndefined();
  });

  it('D19 of any text is read without failing', () => {
    fc.assert(
      fc.property(fc.string(), (list) => {
        proxyFor(https, { HTTPS_PROXY: 'http://p:1', NO_PROXY: list });
      }),
    );
  });
});

describe('credentials in the address', () => {
  const sent = (value: string): string | undefined => {
    const authorization = proxyFor(https, { HTTPS_PROXY: value })?.authorization;
    return authorization && Buffer.from(authorization.reveal().replace(/^Basic /, ''), 'base64').toString();
  };

  it.each([
    ['http://me:secret@p:1', 'me:secret'],
    ['me:secret@p:1', 'me:secret'],
    ['http://dom%5Cme:p%40ss%3Aw%2Ford@p:1', 'dom\\me:p@ss:w/ord'],
    ['http://J%C3%BCrgen:%E2%82%AC@p:1', 'Jürgen:€'],
    ['http://me:p@ss@p:1', 'me:p@ss'],
    ['http://me:100%25@p:1', 'me:100%'],
    ['http://me:100%@p:1', 'me:100%'],
    ['http://me@p:1', 'me:'],
    ['http://:secret@p:1', ':secret'],
    ['http://p:1', undefined],
  ])('D19 are sent decoded: %s', (value, expected) => {
    expect(sent(value)).toBe(expected);
  });

  it('D19 are in no text that is made of the proxy', () => {
    const proxy = proxyFor(https, { HTTPS_PROXY: 'http://me:c4n4ry-password@p:1' });
    expect(`${JSON.stringify(proxy)} ${proxy?.url.href} ${proxy?.authorization}`).not.toMatch(/c4n4ry|bWU6/);
  });

  it('D19 of any user and password arrive unchanged', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, text, (user, password) => {
        fc.pre(user !== '' || password !== '');
        expect(sent(`http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@p:1`)).toBe(
          `${user}:${password}`,
        );
      }),
    );
  });
});
