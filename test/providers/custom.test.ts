import { describe, expect, it } from 'vitest';
import { createResponse, decodeRequest, issuesOf, providerErrorFor, readAcme, samples } from '../support/profiles.ts';

const url = 'https://id.example.com/token';

describe('custom', () => {
  it('R1.6 R2.2 sends every variable as given, even if empty, and has no defaults', () => {
    const profile = readAcme({
      type: 'custom',
      url,
      client_id: '',
      tenant_id: 'not a tenant/..',
      username: 'ada',
      refresh_token: '',
      code: 'x',
      'odd name': ' y ',
    });
    expect(profile.grant).toBeUndefined();
    expect(decodeRequest(profile)).toEqual({
      url,
      form: [
        ['client_id', ''],
        ['tenant_id', 'not a tenant/..'],
        ['username', 'ada'],
        ['refresh_token', ''],
        ['code', 'x'],
        ['odd name', ' y '],
      ],
      basic: undefined,
    });
  });

  it('R4.2 D9 does not send type and url', () => {
    expect(decodeRequest(readAcme({ type: 'custom', url }))).toEqual({ url, form: [], basic: undefined });
  });

  it('R2.2 sends the fields of all grants', () => {
    const { form } = decodeRequest(
      readAcme({ type: 'custom', url, grant_type: 'refresh_token', username: 'u', password: 'p', code: 'c' }),
    );
    expect(form.map(([name]) => name)).toEqual(['grant_type', 'username', 'password', 'code']);
  });

  it('R2.2 sends an empty grant_type as given', () => {
    expect(decodeRequest(readAcme({ type: 'custom', url, grant_type: '', a: '1' })).form).toEqual([
      ['grant_type', ''],
      ['a', '1'],
    ]);
  });

  it('R2.2 requires url', () => {
    for (const given of [undefined, '', null]) {
      expect(issuesOf(() => readAcme({ type: 'custom', url: given }))).toMatchObject([
        { variable: 'acme.url', hint: expect.stringContaining('acme.url') },
      ]);
    }
  });

  it('D12 sends client id and secret as given', () => {
    const { form, basic } = decodeRequest(readAcme(samples.custom));
    expect(basic).toBeUndefined();
    expect(form.map(([name]) => name)).toEqual(['grant_type', 'client_id', 'client_secret']);
  });

  it('D18 assumes by default that reuse of a refresh token revokes its family', () => {
    expect(readAcme(samples.custom).options.refreshTokenReuse).toBe('revokes_family');
    expect(readAcme({ ...samples.custom, options: { refresh_token_reuse: 'allowed' } }).options.refreshTokenReuse).toBe(
      'allowed',
    );
  });

  it.each([
    ['invalid_client', 'client_credentials', 'acme.client_id and acme.client_secret'],
    ['invalid_grant', 'password', 'acme.username and acme.password'],
    ['invalid_grant', 'refresh_token', 'acme.refresh_token'],
    ['invalid_grant', 'authorization_code', 'acme.code'],
    ['unauthorized_client', 'password', 'acme.client_id and acme.grant_type'],
    ['unsupported_grant_type', 'password', 'acme.grant_type'],
    ['invalid_scope', 'password', 'acme.scope'],
    ['invalid_target', 'client_credentials', 'acme.resource'],
  ])('D15 has a hint for the standard error %s of the grant %s', (error, grant_type, variable) => {
    const found = providerErrorFor(readAcme({ type: 'custom', url, grant_type }), createResponse(400, { error }));
    expect(found.hint).toContain(variable);
    expect(found.message).toMatch(new RegExp(`^id\\.example\\.com .* acme \\(HTTP 400, ${error}\\)$`));
  });

  it.each(['invented_here', 'toString', '__proto__'])('D15 has no hint for %s', (error) => {
    const body = { error, error_description: 'A description.' };
    const found = providerErrorFor(readAcme(samples.custom), createResponse(400, body));
    expect(found.hint).toBeUndefined();
    expect(found.message).toContain(`${error}: A description.`);
  });
});
