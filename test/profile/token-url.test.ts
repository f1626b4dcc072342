import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidProfileError } from '../../src/errors.ts';
import { anyUnits } from '../support/any-text.ts';
import { faultsOf, faultyIn, outsideWith, readAcme } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const { microsoftRefresh, oktaRefresh, gitlabPassword, custom } = samples;

/** What a person or an attacker may write for a tenant; every one leads astray somewhere. */
const badTenants = [
  'evil.com/',
  'evil.com#',
  'evil.com?',
  'evil.com\\',
  'x@evil.com/',
  'evil.com:443/',
  '..',
  '.',
  '%2e%2e',
  'a/../../b',
  'a\tb',
  'еvil',
  'a\nb',
  'a\r\nb',
  'contoso\n',
  '\ncontoso',
  ' contoso',
  'contoso ',
  'a b',
  'a\u0000b',
  'a\u00adb',
  'a\u200bb',
  'a\u202eb',
  'a%2fb',
  'a%00',
  '-a',
  'a-',
  'a_b',
  'a..b.com',
  'a.b.',
  '.a.b',
  '//evil.com',
  '[::1]',
  'user:pw@host',
  'а.okta.com',
  'ｅvil',
  'evil。com',
  '\u017f',
  '\u212a',
  '{tenant_id}',
  '$&',
  `${'a'.repeat(64)}`,
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(127)}aa`,
];

describe('the address of a built-in type', () => {
  it.each(badTenants)('D13 microsoft refuses tenant_id %j', (tenant_id) => {
    expect(faultsOf(() => readAcme({ ...microsoftRefresh, tenant_id }))).toMatchObject([
      { variable: 'acme.tenant_id', message: 'cannot be part of the token URL' },
    ]);
  });

  it.each([...badTenants, 'a.b', 'acme.okta.com', 'evil.com', 'acme-admin', 'ACME-Admin', 'xn--0', 'xn--a'])(
    'D13 okta refuses tenant_id %j',
    (tenant_id) => {
      expect(faultsOf(() => readAcme({ ...oktaRefresh, tenant_id }))).toMatchObject([
        { variable: 'acme.tenant_id', message: 'cannot be part of the token URL' },
      ]);
    },
  );

  it.each([
    'organizations',
    'common',
    'CONSUMERS',
    '72f988bf-86f1-41af-91ab-2d7cd011db47',
    '72F988BF-86F1-41AF-91AB-2D7CD011DB47',
    'contoso.com',
    'Contoso.OnMicrosoft.com',
    'a-b.c-d.e',
  ])('R4.2 microsoft puts tenant_id %s into the path', (tenant_id) => {
    expect(readAcme({ ...microsoftRefresh, tenant_id }).url.href).toBe(
      `https://login.microsoftonline.com/${tenant_id}/oauth2/v2.0/token`,
    );
  });

  it.each(['acme', 'trial-1234567', 'a', '1', 'Acme', 'a'.repeat(63), 'admin', 'acme-admins'])(
    'R4.2 okta puts tenant_id %s into the host',
    (tenant_id) => {
      expect(readAcme({ ...oktaRefresh, tenant_id }).url.href).toBe(
        `https://${tenant_id.toLowerCase()}.okta.com/oauth2/default/v1/token`,
      );
    },
  );

  it.each(['common', 'consumers', 'Common'])('D13 the password grant is not served on %s', (tenant_id) => {
    expect(faultyIn({ ...samples.microsoftPassword, tenant_id })).toEqual(['acme.tenant_id']);
    expect(readAcme({ ...microsoftRefresh, tenant_id }).url.pathname).toBe(`/${tenant_id}/oauth2/v2.0/token`);
  });

  it.each(['microsoft', 'okta'])('R4.2 %s cannot do without tenant_id', (type) => {
    const fields = { type, client_id: 'c', refresh_token: 'r' };
    expect(faultyIn(fields)).toEqual(['acme.tenant_id']);
    expect(faultyIn({ ...fields, tenant_id: '' })).toEqual(['acme.tenant_id']);
  });

  const pieces = fc.constantFrom(
    ...['evil.com', 'acme', 'contoso.com', '/', '\\', '#', '?', '@', ':', ':443', '..', '.', '%2e', '%2f', '\t', '\n'],
    ...[' ', 'е', '-', '-admin', 'xn--', '\u00ad', '\u200b', '。', '[', ']', '\u0000', '%00', '_', 'common', 'A', '0'],
  );
  const tenants = fc.oneof(
    fc.array(pieces, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
    anyUnits.filter((text) => text !== ''),
    fc.stringMatching(/^[a-z0-9.-]{1,12}$/),
  );

  it('D13 whatever the tenant_id, okta goes to that label of okta.com or nowhere', () => {
    fc.assert(
      fc.property(tenants, (tenant_id) => {
        const url = urlOrNothing({ ...oktaRefresh, tenant_id });
        if (url === undefined) return;
        expect(tenant_id).toMatch(/^[A-Za-z0-9-]+$/);
        expect(url.href).toBe(`https://${tenant_id.toLowerCase()}.okta.com/oauth2/default/v1/token`);
      }),
      { numRuns: 1000 },
    );
  });

  it('D13 whatever the tenant_id, microsoft goes to that tenant of login.microsoftonline.com or nowhere', () => {
    fc.assert(
      fc.property(tenants, (tenant_id) => {
        const url = urlOrNothing({ ...microsoftRefresh, tenant_id });
        if (url === undefined) return;
        expect(url.href).toBe(`https://login.microsoftonline.com/${tenant_id}/oauth2/v2.0/token`);
        expect([url.host, url.pathname]).toEqual(['login.microsoftonline.com', `/${tenant_id}/oauth2/v2.0/token`]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the address that a profile gives', () => {
  it.each(Object.entries(samples))('D8 overrides the address of %s, and no tenant_id is needed', (_, sample) => {
    const url = 'https://login.microsoftonline.us/x/oauth2/v2.0/token?p=1';
    expect(readAcme({ ...sample, url, tenant_id: undefined }).url.href).toBe(url);
  });

  it('D8 an empty url is none', () => {
    expect(readAcme({ ...gitlabPassword, url: '' }).url.href).toBe('https://gitlab.com/oauth/token');
  });

  it('D8 a url that cannot be read does not fall back to the default address', () => {
    for (const sample of [gitlabPassword, custom, oktaRefresh]) {
      expect(faultyIn({ ...sample, url: '${env:NONE}' })).toEqual(['acme.url']);
    }
    expect(faultyIn({ type: 'okta', client_id: 'c', refresh_token: 'r', url: ['https://a.example'] })).toEqual([
      'acme.url',
    ]);
  });

  it.each([
    'http://id.example.com/token',
    'http://127.0.0.1.evil.com/token',
    'http://localhost.evil.com/token',
    'http://evil.com/localhost',
    'http://0.0.0.0/token',
    'http://10.0.0.1/token',
    'http://128.0.0.1/token',
    'http://[::2]/token',
  ])('D13 sends no secret without TLS to %s, unless told so', (url) => {
    for (const sample of [custom, gitlabPassword]) {
      expect(faultsOf(() => readAcme({ ...sample, url }))).toMatchObject([
        { variable: 'acme.url', hint: expect.stringContaining('acme.options.allow_http: true') },
      ]);
      expect(faultyIn({ ...sample, url, options: { allow_http: false } })).toEqual(['acme.url']);
      expect(readAcme({ ...sample, url, options: { allow_http: true } }).url.href).toBe(url);
    }
  });

  it.each(['http://localhost/t', 'http://127.0.0.1:8080/t', 'http://127.9.9.9/t', 'http://[::1]:1/t'])(
    'D13 reaches this machine without TLS at %s',
    (url) => {
      expect(readAcme({ ...custom, url }).url.href).toBe(url);
    },
  );

  it('D13 allow_http does not allow anything else', () => {
    for (const url of ['ftp://a.example/', 'http://u:p@a.example/', 'http://a.example/#x', 'http://1/']) {
      expect(faultyIn({ ...custom, url, options: { allow_http: true } })).toEqual(['acme.url']);
    }
  });

  it('D13 is never made from a secret', () => {
    const outside = outsideWith({}, { MY_TOKEN: 'https://id.example.com/' });
    const [fault] = faultsOf(() => readAcme({ ...custom, url: '${env:MY_TOKEN}' }, outside));
    expect(fault).toMatchObject({ variable: 'acme.url', message: expect.stringContaining('secret') });
  });

  const schemes = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('https://', 'http://', 'HTTPS://') },
    { weight: 1, arbitrary: fc.constantFrom('https:/', 'https:', 'https:\\\\', '//', 'ftp://') },
  );
  const pieces = fc.constantFrom(
    ...['good.example', 'evil.com', 'localhost', '127.0.0.1', '[::1]', '2130706433', '0x7f.1', '0177.0.0.1', '/', '//'],
    ...['\\', '#', '?', '@', ':', ':443', ':80', ':0443', 'u:p@', '..', '.', '%2e', '%2f', '%40', '%00', '\t', '\n'],
    ...[
      ' ',
      'е',
      'ｅ',
      '。',
      '．',
      '／',
      '＠',
      '\u00ad',
      '\u200b',
      '\u202e',
      '\u0000',
      '\u0001',
      'ß',
      'xn--',
      '-',
      '_',
    ],
  );

  it('D13 whatever the url, the host is the one that a person reads in it, or nothing is sent', () => {
    fc.assert(
      fc.property(schemes, fc.array(pieces, { maxLength: 6 }), fc.boolean(), (scheme, parts, allow_http) => {
        const text = scheme + parts.join('');
        const url = urlOrNothing({ ...custom, url: text, options: { allow_http } });
        if (url === undefined) return;
        const [, read = '', rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(text) ?? [];
        const port = url.protocol === 'https:' ? ':443' : ':80';
        const host = read.toLowerCase();
        expect([host, host.endsWith(port) ? host.slice(0, -port.length) : host]).toContain(url.host);
        expect(read).toMatch(/^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::\d+)?$/i);
        expect(rest).not.toMatch(/[#\\\s]/);
        expect([url.username, url.password, url.hash]).toEqual(['', '', '']);
        if (url.protocol === 'http:' && !allow_http) {
          expect(url.hostname).toMatch(/^(?:(?:.*\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

function urlOrNothing(fields: Record<string, unknown>): URL | undefined {
  try {
    return readAcme(fields).url;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidProfileError);
    return undefined;
  }
}
