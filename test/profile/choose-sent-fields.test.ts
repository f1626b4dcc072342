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
