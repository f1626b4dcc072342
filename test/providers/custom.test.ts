import { describe, expect, it } from 'vitest';
import { faultsOf, readAcme, refusalOf, replyWith, seen } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const url = 'https://id.example.com/token';

describe('custom', () => {
  it('R1.6 R2.2 sends every variable as given, even when empty, and applies no default', () => {
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
    expect(seen(profile)).toEqual({
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

  it('R4.2 D9 leaves out type and url only', () => {
    expect(seen(readAcme({ type: 'custom', url }))).toEqual({ url, form: [], basic: undefined });
  });

  it('R2.2 sends the fields of every grant side by side', () => {
    const { form } = seen(
      readAcme({ type: 'custom', url, grant_type: 'refresh_token', username: 'u', password: 'p', code: 'c' }),
    );
    expect(form.map(([name]) => name)).toEqual(['grant_type', 'username', 'password', 'code']);
  });

  it('R2.2 sends an empty grant_type as given', () => {
    expect(seen(readAcme({ type: 'custom', url, grant_type: '', a: '1' })).form).toEqual([
      ['grant_type', ''],
      ['a', '1'],
    ]);
  });

  it('R2.2 cannot do without url', () => {
    for (const given of [undefined, '', null]) {
      expect(faultsOf(() => readAcme({ type: 'custom', url: given }))).toMatchObject([
        { variable: 'acme.url', message: 'is missing', hint: expect.stringContaining('acme.url') },
      ]);
    }
  });

  it('D12 sends id and secret as they are given', () => {
    const { form, basic } = seen(readAcme(samples.custom));
    expect(basic).toBeUndefined();
    expect(form.map(([name]) => name)).toEqual(['grant_type', 'client_id', 'client_secret']);
  });

  it('D18 fears the worst of a refresh token used twice, unless told otherwise', () => {
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
  ])('D15 the standard error %s for %s names what to change', (error, grant_type, variable) => {
    const refused = refusalOf(readAcme({ type: 'custom', url, grant_type }), replyWith(400, { error }));
    expect(refused.hint).toContain(variable);
    expect(refused.message).toBe(`id.example.com refused profile acme (HTTP 400, ${error})`);
  });

  it.each(['invalid_request', 'invented_here', 'toString', '__proto__'])('D15 has no hint for %s', (error) => {
    const refused = refusalOf(readAcme(samples.custom), replyWith(400, { error, error_description: 'Own words.' }));
    expect(refused.hint).toBeUndefined();
    expect(refused.message).toContain(`${error}: Own words.`);
  });
});
