import { describe, expect, it } from 'vitest';
import { readAcme, seen } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const builtIn = Object.entries(samples).filter(([name]) => name !== 'custom');

describe('the fields that are sent', () => {
  it.each(builtIn)('R2.2 %s: every further field, except where to send', (_, sample) => {
    const more = { scope: 's', audience: 'a', resource: 'r', claims: '{}', 'x-own': 'o' };
    const { form } = seen(readAcme({ ...sample, ...more, tenant_id: 'contoso.com', url: 'https://id.example.com/' }));
    expect(Object.fromEntries(form)).toMatchObject(more);
    for (const name of ['type', 'url', 'tenant_id']) expect(form.map(([field]) => field)).not.toContain(name);
  });

  it.each(builtIn)('%s: an empty value counts as absent', (_, sample) => {
    const more = { audience: '', resource: null, claims: '', client_assertion: '', redirect_uri: '' };
    expect(seen(readAcme({ ...sample, ...more }))).toEqual(seen(readAcme(sample)));
  });

  it.each(Object.entries(samples))('D14 %s: grant_type comes first and once', (_, sample) => {
    const names = seen(readAcme({ a: 'b', ...sample })).form.map(([name]) => name);
    expect(names[0]).toBe('grant_type');
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(Object.entries(samples))('says where each field of %s came from', (_, sample) => {
    for (const { source } of readAcme(sample).fields) expect(source).toMatch(/^(?:data|default of \w+( with .*)?)$/);
  });

  it('D16 wonders about a field that looks misspelt, and sends it', () => {
    const profile = readAcme({ ...samples.google, scopes: 'openid', 'Redirect-Uri': 'x' });
    expect(profile.notes).toEqual([
      'acme.scopes is sent as it is: did you mean acme.scope?',
      'acme.Redirect-Uri is sent as it is: did you mean acme.redirect_uri?',
    ]);
    expect(seen(profile).form.map(([name]) => name)).toContain('scopes');
  });

  it('does not wonder about a field beside the one that it looks like, nor in a custom profile', () => {
    expect(readAcme({ ...samples.google, scope: 'a', scopes: 'b' }).notes).toEqual([]);
    expect(readAcme({ ...samples.custom, scopes: 'b', clientid: 'x' }).notes).toEqual([]);
  });

  it('does not wonder about fields that the standards define', () => {
    const more = Object.fromEntries(
      'code code_verifier device_code assertion client_assertion_type subject_token subject_token_type actor_token actor_token_type requested_token_type claims nonce prompt login_hint domain_hint requested_token_use acr_values auth_req_id authorization_details'
        .split(' ')
        .map((name) => [name, 'x']),
    );
    const profile = readAcme({ ...samples.google, ...more, grant_type: 'urn:example:any' });
    expect(profile.notes).toEqual([]);
  });

  it('warns of the password grant', () => {
    expect(readAcme(samples.gitlabPassword).notes).toEqual([
      'the password grant is deprecated (RFC 9700 §2.4) and fails with multi-factor authentication: prefer a refresh token or client_credentials',
    ]);
    expect(readAcme(samples.gitlabRefresh).notes).toEqual([]);
  });
});

describe('what the provider will most likely refuse', () => {
  const machine = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', client_secret: 's' };
  const form = 'one API with /.default behind it, such as https://graph.microsoft.com/.default';
  const note = `acme.scope should be ${form}, with the grant client_credentials`;

  it.each([
    ['https://graph.microsoft.com/.default', []],
    ['api://11111111-2222-4333-8444-555555555555/.default', []],
    ['https://graph.microsoft.com/User.Read', [note]],
    ['https://a.example/.default https://b.example/.default', [note]],
    ['', [note]],
  ])('is noted of the scope %j of a Microsoft application', (scope, notes) => {
    expect(readAcme({ ...machine, grant_type: 'client_credentials', scope }).notes).toEqual(notes);
  });

  it.each([
    ['client_credential', ['acme.grant_type is client_credential: did you mean client_credentials?']],
    ['Password', ['acme.grant_type is Password: did you mean password?']],
    ['client_credentials', []],
    ['authorization_code', []],
    ['urn:ietf:params:oauth:grant-type:device_code', []],
  ])('is noted of the grant %s', (grant_type, notes) => {
    for (const sample of [samples.custom, samples.google]) {
      const { notes: found } = readAcme({ ...sample, grant_type });
      expect(found.filter((text) => text.includes('did you mean'))).toEqual(notes);
    }
  });
});
