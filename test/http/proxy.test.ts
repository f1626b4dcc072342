import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../src/http/proxy.ts';
import { errorOf } from '../support/errors.ts';

const https = new URL('https://login.example.test/token');
const http = new URL('http://login.example.test/token');
const href = (url: URL, env: Record<string, string>) => proxyFor(url, env)?.url.href;

describe('the proxy for a URL', () => {
  it.each<[string, URL, Record<string, string>, string | undefined]>([
    ['no proxy without variables', https, {}, undefined],
    ['HTTPS_PROXY for https', https, { HTTPS_PROXY: 'http://p:1' }, 'http://p:1/'],
    ['https_proxy for https', https, { https_proxy: 'http://p:1' }, 'http://p:1/'],
    [
      'the lower-case variable if both are set',
      https,
      { https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' },
      'http://a:1/',
    ],
    [
      'the upper-case variable if the lower-case one is empty',
      https,
      { https_proxy: '', HTTPS_PROXY: 'http://b:1' },
      'http://b:1/',
    ],
    [
      'no proxy for https if only HTTP_PROXY is set',
      https,
      { HTTP_PROXY: 'http://p:1', http_proxy: 'http://p:1' },
      undefined,
    ],
    ['HTTP_PROXY for http', http, { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://q:1' }, 'http://p:1/'],
    ['http_proxy for http', http, { http_proxy: 'http://p:1' }, 'http://p:1/'],
    ['ALL_PROXY for https', https, { ALL_PROXY: 'http://p:1' }, 'http://p:1/'],
    ['all_proxy for http', http, { all_proxy: 'http://p:1' }, 'http://p:1/'],
    [
      'HTTPS_PROXY if ALL_PROXY is set too',
      https,
      { all_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' },
      'http://b:1/',
    ],
    ['HTTPS_PROXY if ALL_PROXY is a SOCKS proxy', https, { ALL_PROXY: 'socks://a', HTTPS_PROXY: 'b:1' }, 'http://b:1/'],
    [
      'a host and port without a scheme',
      https,
      { HTTPS_PROXY: 'proxy.example.test:3128' },
      'http://proxy.example.test:3128/',
    ],
    ['a host without scheme and port', https, { HTTPS_PROXY: 'proxy.example.test' }, 'http://proxy.example.test/'],
    ['an https proxy', https, { HTTPS_PROXY: 'https://proxy.example.test' }, 'https://proxy.example.test/'],
    ['an IPv6 address', https, { HTTPS_PROXY: 'http://[2001:db8::1]:3128' }, 'http://[2001:db8::1]:3128/'],
    ['a URL surrounded by spaces', https, { HTTPS_PROXY: ' http://p:1 ' }, 'http://p:1/'],
  ])('D19 is %s', (_what, url, env, expected) => {
    expect(href(url, env)).toBe(expected);
  });

  it.each([
    'http://localhost/token',
    'http://127.0.0.1:8080/token',
    'http://127.8.9.10/token',
    'https://[::1]:8443/token',
  ])('D19 is never set for a loopback host: %s', (url) => {
    expect(proxyFor(new URL(url), { ALL_PROXY: 'http://p:1', HTTPS_PROXY: 'http://p:1' })).toBeUndefined();
  });

  it.each(['http://localhost.example.test/', 'http://127.example.test/', 'http://128.0.0.1/'])(
    'D19 is set for a host that only resembles a loopback host: %s',
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
  ])('D19 must be an HTTP proxy, and the error names the variable without its value: %s', async (value) => {
    const error = await errorOf((async () => proxyFor(https, { ALL_PROXY: value }))());
    expect(error.code).toBe('data_invalid');
    expect(error.message).toContain('ALL_PROXY');
    expect(inspect(error)).not.toContain('c4n4ry');
  });
});

describe('NO_PROXY', () => {
  const proxied = (url: string, list: string) =>
    proxyFor(new URL(url), { ALL_PROXY: 'http://p:1', NO_PROXY: list }) !== undefined;

  it.each([
    ['every host', '*', 'https://login.example.test/'],
    ['every host, in a list', 'a.test, *', 'https://login.example.test/'],
    ['a host', 'login.example.test', 'https://login.example.test/'],
    ['a host in another case', 'LOGIN.Example.TEST', 'https://login.example.test/'],
    ['a domain with a leading dot', '.example.test', 'https://login.example.test/'],
    ['a domain', 'example.test', 'https://login.example.test/'],
    ['a domain with a leading wildcard', '*.example.test', 'https://login.example.test/'],
    ['the domain itself, with a leading dot', '.example.test', 'https://example.test/'],
    ['a top-level domain', 'test', 'https://login.example.test/'],
    ['a host with its port', 'login.example.test:8443', 'https://login.example.test:8443/'],
    ['a host with the default port', 'login.example.test:443', 'https://login.example.test/'],
    ['a host with the default port of http', 'login.example.test:80', 'http://login.example.test/'],
    ['a domain with a port', '.example.test:443', 'https://login.example.test/'],
    ['an entry after spaces and empty entries', ' a.test ,, b.test   example.test', 'https://login.example.test/'],
    ['an entry after a tab', 'a.test\texample.test', 'https://login.example.test/'],
    ['an IP address', '10.1.2.3', 'https://10.1.2.3/'],
    ['an IP address with its port', '10.1.2.3:8443', 'https://10.1.2.3:8443/'],
    ['an IPv6 address', '2001:db8::1', 'https://[2001:db8::1]/'],
    ['an IPv6 address in brackets', '[2001:db8::1]', 'https://[2001:db8::1]/'],
    ['an IPv6 address with its port', '[2001:db8::1]:8443', 'https://[2001:db8::1]:8443/'],
    ['an IPv6 address written in another way', '2001:DB8:0:0::0001', 'https://[2001:db8::1]/'],
    ['a network', '10.0.0.0/8', 'https://10.255.1.2/'],
    ['a network of one IP address', '10.1.2.3/32', 'https://10.1.2.3/'],
    ['all IPv4 addresses', '0.0.0.0/0', 'https://203.0.113.9/'],
    ['a network given by any of its IP addresses', '10.1.2.3/8', 'https://10.255.1.2/'],
    ['an IPv6 network', '2001:db8::/32', 'https://[2001:db8:ffff::1]/'],
  ])('D19 exempts %s', (_what, list, url) => {
    expect(proxied(url, list)).toBe(false);
  });

  it.each([
    ['no entry', '', 'https://login.example.test/'],
    ['only separators', ' , ,', 'https://login.example.test/'],
    ['a single dot', '.', 'https://login.example.test/'],
    ['another host', 'other.example.test', 'https://login.example.test/'],
    ['a suffix that is not a domain', 'ample.test', 'https://login.example.test/'],
    ['a subdomain of the host', 'a.login.example.test', 'https://login.example.test/'],
    ['another port', 'login.example.test:8443', 'https://login.example.test/'],
    ['only a port', ':443', 'https://login.example.test/'],
    ['the end of an IP address', '2.3', 'https://10.1.2.3/'],
    ['another network', '10.0.0.0/8', 'https://11.1.2.3/'],
    ['a network, and the host is a name', '0.0.0.0/0', 'https://login.example.test/'],
    ['a network of the other IP version', '::/0', 'https://10.1.2.3/'],
    ['a network with too many bits', '10.0.0.0/99', 'https://10.1.2.3/'],
    ['a network without bits', '10.0.0.0/', 'https://10.1.2.3/'],
    ['a network of a name', 'example.test/8', 'https://login.example.test/'],
    ['another IPv6 network', '2001:db8::/32', 'https://[2001:db9::1]/'],
    ['another port of an IPv6 address', '[2001:db8::1]:8443', 'https://[2001:db8::1]/'],
  ])('D19 does not exempt a host with %s', (_what, list, url) => {
    expect(proxied(url, list)).toBe(true);
  });

  it('D19 is read from no_proxy first', () => {
    const env = { ALL_PROXY: 'http://p:1', no_proxy: 'a.test', NO_PROXY: '*' };
    expect(href(https, env)).toBe('http://p:1/');
    expect(href(https, { ...env, no_proxy: '' })).toBeUndefined();
  });

  it('D19 prevents an error about an invalid proxy', () => {
    expect(proxyFor(https, { ALL_PROXY: 'socks://p', NO_PROXY: 'example.test' })).toBeUndefined();
  });

  it('D19 accepts any string', () => {
    fc.assert(
      fc.property(fc.string(), (list) => {
        proxyFor(https, { HTTPS_PROXY: 'http://p:1', NO_PROXY: list });
      }),
    );
  });

  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
  const domain = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => `${labels.join('.')}.test`);
  const separator = fc.constantFrom(',', ' ', ', ', ' ,', '\t', ',,');

  it('D19 exempts a domain and its subdomains wherever it is in the list, and no other domain', () => {
    fc.assert(
      fc.property(
        domain,
        label,
        fc.array(domain),
        separator,
        fc.constantFrom('', '.', '*.'),
        (host, sub, others, between, prefix) => {
          const list = [...others.map((other) => `x${other}`), prefix + host.toUpperCase(), ...others].join(between);
          expect(proxied(`https://${host}/`, list)).toBe(false);
          expect(proxied(`https://${sub}.${host}/`, list)).toBe(false);
          expect(proxied(`https://${sub}-${host}/`, `${prefix}${host}`)).toBe(true);
        },
      ),
    );
  });

  it('D19 exempts a host only at the port of its entry', () => {
    const port = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(domain, port, port, (host, actual, listed) => {
        expect(proxied(`https://${host}:${actual}/`, `${host}:${listed}`)).toBe(actual !== listed);
      }),
    );
  });

  it('D19 exempts an IPv4 host exactly if its first bits are those of the network', () => {
    const ipv4 = fc.integer({ min: 0, max: 0xffff_ffff }).filter((bits) => bits >>> 24 !== 127);
    const format = (bits: number) => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
    fc.assert(
      fc.property(ipv4, ipv4, fc.integer({ min: 0, max: 32 }), fc.boolean(), (ip, other, bits, near) => {
        const network = near ? (ip ^ (other & 0xff)) >>> 0 : other;
        const mask = bits === 0 ? 0 : (-1 << (32 - bits)) >>> 0;
        const inside = (ip & mask) >>> 0 === (network & mask) >>> 0;
        expect(proxied(`https://${format(ip)}/`, `${format(network)}/${bits}`)).toBe(!inside);
      }),
    );
  });
});

describe('the credentials in a proxy URL', () => {
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

  it('D19 are not in the URL, JSON and strings of the proxy', () => {
    const proxy = proxyFor(https, { HTTPS_PROXY: 'http://me:c4n4ry-password@p:1' });
    expect(`${JSON.stringify(proxy)} ${proxy?.url.href} ${proxy?.authorization}`).not.toMatch(/c4n4ry|bWU6/);
  });

  it('D19 are sent unchanged, whatever user and password are', () => {
    const value = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(value, value, (user, password) => {
        fc.pre(user !== '' || password !== '');
        expect(sent(`http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@p:1`)).toBe(
          `${user}:${password}`,
        );
      }),
    );
  });

  it('D19 are never in the error about an invalid URL', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        try {
          const proxy = proxyFor(https, { HTTPS_PROXY: `${before}c4n4ry:c4n4ry@${after}` });
          expect(proxy?.url.username).toBe('');
          expect(proxy?.url.password).toBe('');
        } catch (error) {
          expect(error).toMatchObject({ code: 'data_invalid' });
          expect(inspect(error)).not.toContain('c4n4ry');
        }
      }),
    );
  });
});
