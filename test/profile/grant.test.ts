import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { InvalidProfileError } from '../../src/errors.ts';
import { decodeRequest, invalidVariables, issuesOf, readAcme, samples } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';

const base: Record<string, DataObject> = {
  microsoft: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', client_secret: 's' },
  'microsoft-refresh': { type: 'microsoft-refresh', tenant_id: 'contoso.com', client_id: 'c', client_secret: 's' },
  google: { type: 'google', client_id: 'c', client_secret: 's' },
  okta: { type: 'okta', tenant_id: 'acme', client_id: 'c', client_secret: 's' },
  gitlab: { type: 'gitlab', client_id: 'c', client_secret: 's' },
  twitter: { type: 'twitter', client_id: 'c', client_secret: 's' },
};

/** The rule D6, written a second time. */
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

describe('selectGrant()', () => {
  it.each(combinations)(
    'D6 for $type with username: $user, password: $password, refresh token: $refresh',
    (combination) => {
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
          const issues = issuesOf(() => readAcme(fields));
          // A login at Google requires a scope.
          const lacksLogin = !user && !password && !refresh && type !== 'google';
          expect(issues.map(({ variable }) => variable)).toEqual(
            lacksLogin ? ['acme.refresh_token'] : lacking.map(([name]) => `acme.${name}`),
          );
          for (const { message } of issues) expect(message).toContain(lacksLogin ? 'logged in' : `the ${grant} grant`);
          if (lacksLogin && grant === 'password') expect(issues[0]?.hint).toContain('grant_type: client_credentials');
          continue;
        }
        const { form } = decodeRequest(readAcme(fields));
        expect(form[0]).toEqual(['grant_type', grant]);
        const sent = form.map(([name]) => name).filter((name) => name in owners);
        expect(sent).toEqual(Object.keys(owners).filter((name) => owners[name] === grant));
      }
    },
  );

  it.each(Object.keys(base))('R5.1 D6 uses grant_type of a %s profile', (type) => {
    const all = { ...base[type], username: 'u', password: 'p', refresh_token: 'r', code: 'c', code_verifier: 'v' };
    const sentFor = (grant_type: string) => decodeRequest(readAcme({ ...all, grant_type })).form.map(([name]) => name);
    const grantFields = ['username', 'password', 'refresh_token', 'code', 'code_verifier'];
    const only = (grant: string) => sentFor(grant).filter((name) => grantFields.includes(name));
    expect(only('password')).toEqual(['username', 'password']);
    expect(only('refresh_token')).toEqual(['refresh_token']);
    expect(only('client_credentials')).toEqual([]);
  });

  it('D6 adds notes about the fields of other grants, which are not sent', () => {
    const { notes } = readAcme({ ...samples.microsoftRefresh, username: 'u', password: 'p' });
    expect(notes).toEqual([
      'acme.username belongs to the grant password and is not sent',
      'acme.password belongs to the grant password and is not sent',
    ]);
  });

  it.each(Object.keys(base))('D7 sends any other grant of %s with all fields', (type) => {
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
      const { form } = decodeRequest(profile);
      expect(form[0]).toEqual(['grant_type', grant_type]);
      expect(Object.fromEntries(form)).toMatchObject(more);
    }
  });

  it.each(['microsoft', 'okta', 'gitlab'])(
    'D6 suggests client_credentials for %s with client id and secret but no user',
    (type) => {
      for (const { hint } of issuesOf(() => readAcme({ ...base[type] }))) {
        expect(hint).toContain('acme.grant_type: client_credentials');
      }
      expect(decodeRequest(readAcme({ ...base[type], grant_type: 'client_credentials' })).form[0]).toEqual([
        'grant_type',
        'client_credentials',
      ]);
    },
  );

  it('D6 suggests client_credentials for Basic credentials without a user', () => {
    const fields = { type: 'okta', tenant_id: 'acme', basic: { user: 'u', password: 'p' } };
    for (const { hint } of issuesOf(() => readAcme(fields))) expect(hint).toContain('client_credentials');
  });

  it('D6 does not suggest client_credentials for a username without a password', () => {
    const issues = issuesOf(() => readAcme({ ...base['gitlab'], username: 'ada' }));
    expect(issues.map(({ variable }) => variable)).toEqual(['acme.password']);
    expect(issues[0]?.hint).not.toContain('client_credentials');
  });

  it('D16 selects refresh_token if the refresh token cannot be resolved', () => {
    const fields = { ...base['microsoft'], refresh_token: '${env:RT}' };
    expect(invalidVariables(fields)).toEqual(['acme.refresh_token']);
    expect(readAcme(fields, createSources({}, { RT: 'refresh' })).grant).toBe('refresh_token');
  });

  it('D16 reports only grant_type if it cannot be resolved', () => {
    expect(invalidVariables({ ...base['okta'], grant_type: ['password', 'refresh_token'] })).toEqual([
      'acme.grant_type',
    ]);
  });

  it('rejects a grant that comes from a secret', () => {
    expect(() => readAcme({ ...base['okta'], grant_type: '${acme.client_secret}' })).toThrow(InvalidProfileError);
  });

  it('returns why the grant was selected', () => {
    const reason = (fields: DataObject) => readAcme(fields).fields[0]?.source;
    expect(reason(samples.microsoftPassword)).toBe('default of microsoft');
    expect(reason(samples.microsoftRefresh)).toBe('default of microsoft with refresh_token');
    expect(reason({ ...samples.microsoftRefresh, type: 'microsoft-refresh' })).toBe('type microsoft-refresh');
    expect(reason(samples.microsoftClient)).toBe('data');
  });
});
