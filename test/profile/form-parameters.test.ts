import { describe, expect, it } from 'vitest';
import { decodeRequest, readAcme, samples } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';

const builtIn = Object.entries(samples).filter(([name]) => name !== 'custom');

describe('selectFormParameters()', () => {
  it.each(builtIn)('R2.2 returns every field of %s except type, url and tenant_id', (_, sample) => {
    const more = { scope: 's', audience: 'a', resource: 'r', claims: '{}', 'x-own': 'o' };
    const { form } = decodeRequest(
      readAcme({ ...sample, ...more, tenant_id: 'contoso.com', url: 'https://id.example.com/' }),
    );
    expect(Object.fromEntries(form)).toMatchObject(more);
    for (const name of ['type', 'url', 'tenant_id']) expect(form.map(([field]) => field)).not.toContain(name);
  });

  it.each(builtIn)('ignores empty values of %s', (_, sample) => {
    const more = { audience: '', resource: null, claims: '', client_assertion: '', redirect_uri: '' };
    expect(decodeRequest(readAcme({ ...sample, ...more }))).toEqual(decodeRequest(readAcme(sample)));
  });

  it.each(Object.entries(samples))('D14 returns grant_type of %s first and once', (_, sample) => {
    const names = decodeRequest(readAcme({ a: 'b', ...sample })).form.map(([name]) => name);
    expect(names[0]).toBe('grant_type');
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(Object.entries(samples))('returns the source of each field of %s', (_, sample) => {
    for (const { source } of readAcme(sample).fields) expect(source).toMatch(/^(?:data|default of \w+( with .*)?)$/);
  });

  it('D16 adds a warning about a field that may be misspelled, and sends it', () => {
    const profile = readAcme({ ...samples.google, scopes: 'openid', 'Redirect-Uri': 'x' });
    expect(profile.warnings).toEqual([
      'acme.scopes is sent as is: did you mean acme.scope?',
      'acme.Redirect-Uri is sent as is: did you mean acme.redirect_uri?',
    ]);
    expect(decodeRequest(profile).form.map(([name]) => name)).toContain('scopes');
  });

  it('adds no warning if the similar field is set too, or for a custom profile', () => {
    expect(readAcme({ ...samples.google, scope: 'a', scopes: 'b' }).warnings).toEqual([]);
    expect(readAcme({ ...samples.custom, scopes: 'b', clientid: 'x' }).warnings).toEqual([]);
  });

  it('adds no warning about fields that the standards define', () => {
    const more = Object.fromEntries(
      'code code_verifier device_code assertion client_assertion_type subject_token subject_token_type actor_token actor_token_type requested_token_type claims nonce prompt login_hint domain_hint requested_token_use acr_values auth_req_id authorization_details'
        .split(' ')
        .map((name) => [name, 'x']),
    );
    const profile = readAcme({ ...samples.google, ...more, grant_type: 'urn:example:any' });
    expect(profile.warnings).toEqual([]);
  });

  it('adds a note about the password grant', () => {
    expect(readAcme(samples.gitlabPassword).notes).toEqual([expect.stringContaining('RFC 9700 §2.4')]);
    expect(readAcme(samples.gitlabRefresh).notes).toEqual([]);
  });
});

describe('warnings about values that the provider probably rejects', () => {
  const application = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', client_secret: 's' };
  const note = expect.stringMatching(/^acme\.scope .*\/\.default.* client_credentials$/);

  it.each([
    ['https://graph.microsoft.com/.default', []],
    ['api://11111111-2222-4333-8444-555555555555/.default', []],
    ['https://graph.microsoft.com/User.Read', [note]],
    ['https://a.example/.default https://b.example/.default', [note]],
    ['', [note]],
  ])('are added for the scope %j of a Microsoft application', (scope, notes) => {
    expect(readAcme({ ...application, grant_type: 'client_credentials', scope }).warnings).toEqual(notes);
  });

  it('are not added for a scope that is a secret', () => {
    const fields = { ...application, grant_type: 'client_credentials', scope: '${env:MY_TOKEN}' };
    expect(readAcme(fields, createSources({}, { MY_TOKEN: 'hidden' })).warnings).toEqual([]);
  });

  it('are not added for the scope of another grant', () => {
    expect(readAcme({ ...application, refresh_token: 'r', scope: 'User.Read' }).warnings).toEqual([]);
  });

  it.each([
    ['client_credential', ['acme.grant_type is client_credential: did you mean client_credentials?']],
    ['Password', ['acme.grant_type is Password: did you mean password?']],
    ['client_credentials', []],
    ['authorization_code', []],
    ['urn:ietf:params:oauth:grant-type:device_code', []],
  ])('are added for the grant %s', (grant_type, notes) => {
    for (const sample of [samples.custom, samples.google]) {
      const { warnings: found } = readAcme({ ...sample, grant_type });
      expect(found.filter((text) => text.includes('did you mean'))).toEqual(notes);
    }
  });

  it.each(['client_credentials', 'password'])('are added for a google profile with the grant %s', (grant_type) => {
    const fields = { ...samples.google, username: 'u', password: 'p', grant_type };
    expect(readAcme(fields).warnings).toEqual([expect.stringMatching(/^acme\.grant_type .*oauth-profile login acme$/)]);
    expect(readAcme({ ...fields, url: 'https://id.example.com/token' }).warnings).toEqual([]);
    expect(readAcme(samples.google).warnings).toEqual([]);
  });
});
