import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { InvalidProfileError } from '../../src/errors.ts';
import { faultsOf, faultyIn, outsideWith, readAcme, seen } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const base: Record<string, DataObject> = {
  microsoft: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', client_secret: 's' },
  'microsoft-refresh': { type: 'microsoft-refresh', tenant_id: 'contoso.com', client_id: 'c', client_secret: 's' },
  google: { type: 'google', client_id: 'c', client_secret: 's' },
  okta: { type: 'okta', tenant_id: 'acme', client_id: 'c', client_secret: 's' },
  gitlab: { type: 'gitlab', client_id: 'c', client_secret: 's' },
  twitter: { type: 'twitter', client_id: 'c', client_secret: 's' },
};

/** The rule in words of its own, to compare with. */
function expected(type: string, user: boolean, password: boolean, refresh: boolean): string {
  if (type === 'microsoft-refresh' || type === 'google') return 'refresh_token';
  if (type === 'twitter') return 'client_credentials';
  if (type === 'microsoft') return refresh ? 'refresh_token' : 'password';
  return user && password ? 'password' : refresh ? 'refresh_token' : 'password';
}

const owners: Record<string, string> = { username: 'password', password: 'password', refresh_token: 'refresh_token' };
const flags = [false, true];
const combinations = Object.keys(base).flatMap((type) =>
  flags.flatMap((user) => flags.flatMap((password) => flags.map((refresh) => ({ type, user, password, refresh })))),
);

describe('which grant', () => {
  it.each(combinations)('D6 $type with user $user, password $password, refresh token $refresh', (combination) => {
    const { type, user, password, refresh } = combination;
    const grant = expected(type, user, password, refresh);
    for (const absent of [undefined, '', null]) {
      const given = {
        username: user ? 'ada' : absent,
        password: password ? 'pass' : absent,
        refresh_token: refresh ? 'refr' : absent,
      };
      const lacking = Object.entries(given).filter(([name, value]) => !value && owners[name] === grant);
      const fields = { ...base[type], ...given };
      if (lacking.length > 0) {
        const issues = faultsOf(() => readAcme(fields));
        // Without a scope Google lets nobody sign in.
        const awaitsLogin = !user && !password && !refresh && type !== 'google';
        expect(issues.map(({ variable, message }) => [variable, message])).toEqual(
          awaitsLogin
            ? [['acme.refresh_token', 'is missing: nobody has signed in for acme yet']]
            : lacking.map(([name]) => [`acme.${name}`, `is missing; the grant ${grant} needs it`]),
        );
        if (awaitsLogin && grant === 'password') expect(issues[0]?.hint).toContain('grant_type: client_credentials');
        continue;
      }
      const { form } = seen(readAcme(fields));
      expect(form[0]).toEqual(['grant_type', grant]);
      const sent = form.map(([name]) => name).filter((name) => name in owners);
      expect(sent).toEqual(Object.keys(owners).filter((name) => owners[name] === grant));
    }
  });

  it.each(Object.keys(base))('R5.1 D6 %s takes grant_type from the profile', (type) => {
    const all = { ...base[type], username: 'u', password: 'p', refresh_token: 'r', code: 'c', code_verifier: 'v' };
    const sentFor = (grant_type: string) => seen(readAcme({ ...all, grant_type })).form.map(([name]) => name);
    const grantFields = ['username', 'password', 'refresh_token', 'code', 'code_verifier'];
    const only = (grant: string) => sentFor(grant).filter((name) => grantFields.includes(name));
    expect(only('password')).toEqual(['username', 'password']);
    expect(only('refresh_token')).toEqual(['refresh_token']);
    expect(only('client_credentials')).toEqual([]);
  });

  it('D6 says which fields it does not send', () => {
    const { notes } = readAcme({ ...samples.microsoftRefresh, username: 'u', password: 'p' });
    expect(notes).toEqual([
      'acme.username belongs to the grant password and is not sent',
      'acme.password belongs to the grant password and is not sent',
    ]);
  });

  it.each(Object.keys(base))('D7 %s passes any other grant through with all fields', (type) => {
    for (const grant_type of [
      'authorization_code',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      'urn:ietf:params:oauth:grant-type:token-exchange',
      'urn:ietf:params:oauth:grant-type:device_code',
      'invented by a provider',
      'constructor',
      '__proto__',
      'toString',
    ]) {
      const more = { username: 'u', password: 'p', refresh_token: 'r', code: 'c', assertion: 'a', subject_token: 's' };
      const profile = readAcme({ ...base[type], ...more, grant_type });
      expect(profile.grant).toBe(grant_type);
      const { form } = seen(profile);
      expect(form[0]).toEqual(['grant_type', grant_type]);
      expect(Object.fromEntries(form)).toMatchObject(more);
    }
  });

  it.each(['microsoft', 'okta', 'gitlab'])(
    'D6 %s with id and secret but no user is advised to client_credentials',
    (type) => {
      for (const { hint } of faultsOf(() => readAcme({ ...base[type] }))) {
        expect(hint).toContain('acme.grant_type: client_credentials');
      }
      expect(seen(readAcme({ ...base[type], grant_type: 'client_credentials' })).form[0]).toEqual([
        'grant_type',
        'client_credentials',
      ]);
    },
  );

  it('D6 a Basic pair counts as id and secret for that hint', () => {
    const fields = { type: 'okta', tenant_id: 'acme', basic: { user: 'u', password: 'p' } };
    for (const { hint } of faultsOf(() => readAcme(fields))) expect(hint).toContain('client_credentials');
  });

  it('D6 a user without a password is not advised to client_credentials', () => {
    const issues = faultsOf(() => readAcme({ ...base['gitlab'], username: 'ada' }));
    expect(issues).toMatchObject([{ variable: 'acme.password', hint: 'set acme.password' }]);
  });

  it('D16 a refresh token that cannot be read is the fault, not the lack of a user', () => {
    const fields = { ...base['microsoft'], refresh_token: '${env:RT}' };
    expect(faultyIn(fields)).toEqual(['acme.refresh_token']);
    expect(readAcme(fields, outsideWith({}, { RT: 'refresh' })).grant).toBe('refresh_token');
  });

  it('D16 a grant_type that cannot be read is the only fault', () => {
    expect(faultyIn({ ...base['okta'], grant_type: ['password', 'refresh_token'] })).toEqual(['acme.grant_type']);
  });

  it('takes no grant from a secret', () => {
    expect(() => readAcme({ ...base['okta'], grant_type: '${acme.client_secret}' })).toThrow(InvalidProfileError);
  });

  it('says where the grant came from', () => {
    const reason = (fields: DataObject) => readAcme(fields).fields[0]?.source;
    expect(reason(samples.microsoftPassword)).toBe('default of microsoft');
    expect(reason(samples.microsoftRefresh)).toBe('default of microsoft with refresh_token');
    expect(reason({ ...samples.microsoftRefresh, type: 'microsoft-refresh' })).toBe('type microsoft-refresh');
    expect(reason(samples.microsoftClient)).toBe('data');
  });
});
