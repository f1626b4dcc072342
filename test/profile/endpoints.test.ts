import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { InvalidProfileError } from '../../src/errors.ts';
import { anyUnits } from '../support/arbitraries.ts';
import { invalidVariables, issuesOf, readAcme, samples } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';

const { microsoftRefresh, oktaRefresh, gitlabPassword, custom } = samples;

/** Tenants by mistake or by an attacker; each of them would change some URL. */
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

describe('the token URL of a built-in type', () => {
  it.each(badTenants)('D13 of microsoft cannot contain the tenant_id %j', (tenant_id) => {
    expect(issuesOf(() => readAcme({ ...microsoftRefresh, tenant_id }))).toMatchObject([
      { variable: 'acme.tenant_id', hint: expect.stringMatching(/contoso\.onmicrosoft\.com|did you mean/) },
    ]);
  });

  it.each([
    [oktaRefresh, 'acme.okta.com', 'acme'],
    [oktaRefresh, 'https://acme.okta.com/', 'acme'],
    [oktaRefresh, 'https://acme.okta.com/oauth2/default', 'acme'],
    [oktaRefresh, 'acme ', 'acme'],
    [oktaRefresh, 'acme.oktapreview.com', undefined],
    [oktaRefresh, 'a/../../b', undefined],
    [microsoftRefresh, 'https://contoso.com/', 'contoso.com'],
    [microsoftRefresh, 'https://login.microsoftonline.com/contoso.com/oauth2', 'contoso.com'],
    [microsoftRefresh, 'contoso.com ', 'contoso.com'],
    [microsoftRefresh, 'contoso', undefined],
  ])('suggests the tenant in the URL or host: %#', (sample, tenant_id, expected) => {
    const [issue] = issuesOf(() => readAcme({ ...sample, tenant_id }));
    expect(issue?.message).toContain(`"${tenant_id}"`);
    expect(/^did you mean (.*)\?$/.exec(issue?.hint ?? '')?.[1]).toBe(expected);
  });

  it.each([...badTenants, 'a.b', 'acme.okta.com', 'evil.com', 'acme-admin', 'ACME-Admin', 'xn--0', 'xn--a'])(
    'D13 of okta cannot contain the tenant_id %j',
    (tenant_id) => {
      expect(issuesOf(() => readAcme({ ...oktaRefresh, tenant_id }))).toMatchObject([
        { variable: 'acme.tenant_id', hint: expect.stringMatching(/trial-1234567|did you mean/) },
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
  ])('R4.2 of microsoft contains the tenant_id %s in its path', (tenant_id) => {
    expect(readAcme({ ...microsoftRefresh, tenant_id }).url.href).toBe(
      `https://login.microsoftonline.com/${tenant_id}/oauth2/v2.0/token`,
    );
  });

  it.each(['acme', 'trial-1234567', 'a', '1', 'Acme', 'a'.repeat(63), 'admin', 'acme-admins'])(
    'R4.2 of okta contains the tenant_id %s in its host',
    (tenant_id) => {
      expect(readAcme({ ...oktaRefresh, tenant_id }).url.href).toBe(
        `https://${tenant_id.toLowerCase()}.okta.com/oauth2/default/v1/token`,
      );
    },
  );

  it.each(['common', 'consumers', 'Common'])(
    'D13 of microsoft cannot contain %s with the password grant',
    (tenant_id) => {
      expect(invalidVariables({ ...samples.microsoftPassword, tenant_id })).toEqual(['acme.tenant_id']);
      expect(readAcme({ ...microsoftRefresh, tenant_id }).url.pathname).toBe(`/${tenant_id}/oauth2/v2.0/token`);
    },
  );

  it.each(['microsoft', 'okta'])('R4.2 of %s requires tenant_id', (type) => {
    const fields = { type, client_id: 'c', refresh_token: 'r' };
    expect(invalidVariables(fields)).toEqual(['acme.tenant_id']);
    expect(invalidVariables({ ...fields, tenant_id: '' })).toEqual(['acme.tenant_id']);
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

  it('D13 of okta has a host below okta.com, whatever the tenant_id', () => {
    fc.assert(
      fc.property(tenants, (tenant_id) => {
        const url = urlOrUndefined({ ...oktaRefresh, tenant_id });
        if (url === undefined) return;
        expect(tenant_id).toMatch(/^[A-Za-z0-9-]+$/);
        expect(url.href).toBe(`https://${tenant_id.toLowerCase()}.okta.com/oauth2/default/v1/token`);
      }),
      { numRuns: 1000 },
    );
  });

  it('D13 of microsoft has the host login.microsoftonline.com, whatever the tenant_id', () => {
    fc.assert(
      fc.property(tenants, (tenant_id) => {
        const url = urlOrUndefined({ ...microsoftRefresh, tenant_id });
        if (url === undefined) return;
        expect(url.href).toBe(`https://login.microsoftonline.com/${tenant_id}/oauth2/v2.0/token`);
        expect([url.host, url.pathname]).toEqual(['login.microsoftonline.com', `/${tenant_id}/oauth2/v2.0/token`]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the issue of an invalid tenant_id', () => {
  it('shows whitespace, escapes control characters and truncates the value', () => {
    const messageFor = (tenant_id: string) =>
      issuesOf(() => readAcme({ ...microsoftRefresh, tenant_id })).map(({ message }) => message)[0];
    expect(messageFor(' contoso')).toContain('" contoso"');
    expect(messageFor('a\u001b[2J')).toContain('"a\\u001b[2J"');
    expect(messageFor(`/${'a'.repeat(1000)}`)).toContain(`"/${'a'.repeat(99)}"`);
  });
});

describe('the url of a profile', () => {
  it.each(Object.entries(samples))(
    'D8 overrides the token URL of %s, which then requires no tenant_id',
    (_, sample) => {
      const url = 'https://login.microsoftonline.us/x/oauth2/v2.0/token?p=1';
      expect(readAcme({ ...sample, url, tenant_id: undefined }).url.href).toBe(url);
    },
  );

  it('D8 is ignored if it is empty', () => {
    expect(readAcme({ ...gitlabPassword, url: '' }).url.href).toBe('https://gitlab.com/oauth/token');
  });

  it('D8 does not fall back to the default if it cannot be resolved', () => {
    for (const sample of [gitlabPassword, custom, oktaRefresh]) {
      expect(invalidVariables({ ...sample, url: '${env:NONE}' })).toEqual(['acme.url']);
    }
    expect(invalidVariables({ type: 'okta', client_id: 'c', refresh_token: 'r', url: ['https://a.example'] })).toEqual([
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
  ])('D13 cannot be %s without options.allow_http', (url) => {
    for (const sample of [custom, gitlabPassword]) {
      expect(issuesOf(() => readAcme({ ...sample, url }))).toMatchObject([
        { variable: 'acme.url', hint: expect.stringContaining('acme.options.allow_http: true') },
      ]);
      expect(invalidVariables({ ...sample, url, options: { allow_http: false } })).toEqual(['acme.url']);
      expect(readAcme({ ...sample, url, options: { allow_http: true } }).url.href).toBe(url);
    }
  });

  it.each(['http://localhost/t', 'http://127.0.0.1:8080/t', 'http://127.9.9.9/t', 'http://[::1]:1/t'])(
    'D13 can be the loopback URL %s',
    (url) => {
      expect(readAcme({ ...custom, url }).url.href).toBe(url);
    },
  );

  it('D13 is checked for everything else with options.allow_http', () => {
    for (const url of ['ftp://a.example/', 'http://u:p@a.example/', 'http://a.example/#x', 'http://1/']) {
      expect(invalidVariables({ ...custom, url, options: { allow_http: true } })).toEqual(['acme.url']);
    }
  });

  it('D13 cannot come from a secret', () => {
    const sources = createSources({}, { MY_TOKEN: 'https://id.example.com/' });
    const [issue] = issuesOf(() => readAcme({ ...custom, url: '${env:MY_TOKEN}' }, sources));
    expect(issue).toMatchObject({ variable: 'acme.url', message: expect.stringContaining('secret') });
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

  it('D13 has exactly the host that is written, whatever the string', () => {
    fc.assert(
      fc.property(schemes, fc.array(pieces, { maxLength: 6 }), fc.boolean(), (scheme, parts, allow_http) => {
        const text = scheme + parts.join('');
        const url = urlOrUndefined({ ...custom, url: text, options: { allow_http } });
        if (url === undefined) return;
        const [, written = '', rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(text) ?? [];
        const port = url.protocol === 'https:' ? ':443' : ':80';
        const host = written.toLowerCase();
        expect([host, host.endsWith(port) ? host.slice(0, -port.length) : host]).toContain(url.host);
        expect(written).toMatch(/^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::\d+)?$/i);
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

function urlOrUndefined(fields: DataObject): URL | undefined {
  try {
    return readAcme(fields).url;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidProfileError);
    return undefined;
  }
}
