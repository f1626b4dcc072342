import { beforeEach, describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../../src/errors.ts';
import { login } from '../../../src/flows/login/login.ts';
import { familyKey } from '../../../src/flows/token-family.ts';
import type { GetTokenOptions } from '../../../src/get-token.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { parsedProfileOf } from '../../support/profiles.ts';
import { withLock, withLockFunctions } from '../../support/store.ts';
import { custom, gitlab, loginProfile, StoredLogins } from './fixture.ts';

let logins: StoredLogins;
beforeEach(() => {
  logins = new StoredLogins();
});

describe('a login', () => {
  it('stores the refresh token of the profile and the account', async () => {
    const result = await logins.logIn('lab', gitlab, { account: 'ada@example.com' });
    expect(result).toMatchObject({
      account: 'ada@example.com',
      scope: 'api',
      replaced: false,
      expiresAt: logins.ports.clock.now() + 3_600_000,
    });
    expect(await logins.refreshToken('lab', gitlab)).toBe('rt-first');
  });

  it('D24 implies the grant of a custom profile that sets none', async () => {
    await logins.logIn('svc', custom);
    expect(await logins.profile('svc', custom)).toMatchObject({ grant: 'refresh_token' });
  });

  it('replaces the earlier login and removes its records', async () => {
    await logins.logIn('lab', gitlab, { refreshToken: 'rt-one' });
    expect(await logins.logIn('lab', gitlab, { refreshToken: 'rt-two' })).toMatchObject({ replaced: true });
    expect(await logins.refreshToken('lab', gitlab)).toBe('rt-two');
    expect(await logins.store.list()).toHaveLength(2);
  });

  it('may return the refresh token that is already stored', async () => {
    await logins.logIn('lab', gitlab, { refreshToken: 'rt-same' });
    await logins.logIn('lab', gitlab, { refreshToken: 'rt-same' });
    expect(await logins.refreshToken('lab', gitlab)).toBe('rt-same');
  });

  it('replaces a login whose refresh token was deleted', async () => {
    await logins.logIn('lab', gitlab, { refreshToken: 'rt-one' });
    const { family = '' } = await logins.profile('lab', gitlab);
    await withLock(logins.store, family, (lock) => lock.remove());
    expect(await logins.logIn('lab', gitlab, { refreshToken: 'rt-two' })).toMatchObject({ replaced: false });
    expect(await logins.refreshToken('lab', gitlab)).toBe('rt-two');
  });

  it('with another account requires the consent of the user', async () => {
    await logins.logIn('lab', gitlab, { refreshToken: 'rt-one', account: 'ada@example.com' });
    const other = { refreshToken: 'rt-two', account: 'bob@example.com' };
    await expect(logins.logIn('lab', gitlab, other)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/bob@example\.com.*ada@example\.com/),
      hint: expect.stringContaining('oauth-profile login lab --force'),
    });
    expect(await logins.refreshToken('lab', gitlab)).toBe('rt-one');
    const { prompts } = await logins.logIn('lab', gitlab, { ...other, replace: true });
    expect(prompts).toEqual(['ada@example.com', 'bob@example.com']);
    expect(await logins.refreshToken('lab', gitlab)).toBe('rt-two');
  });

  it.each([
    ['the same account', { account: 'ada' }, { account: 'ada' }],
    ['an unknown account', { account: 'ada' }, {}],
    ['an unknown former account', {}, { account: 'ada' }],
  ])('with %s requires no consent', async (_, former, next) => {
    await logins.logIn('lab', gitlab, { refreshToken: 'rt-one', ...former });
    expect((await logins.logIn('lab', gitlab, { refreshToken: 'rt-two', ...next })).prompts).toEqual([]);
  });

  it('replaces the configured refresh token, until another one is configured', async () => {
    const before = { ...gitlab, refresh_token: 'configured-before' };
    const after = { ...gitlab, refresh_token: 'configured-after' };
    await logins.logIn('lab', before);
    expect(await logins.refreshToken('lab', before)).toBe('rt-first');
    expect(await logins.refreshToken('lab', gitlab)).toBe('rt-first');
    expect(await logins.refreshToken('lab', after)).toBe('configured-after');
    await logins.logIn('lab', after, { refreshToken: 'rt-second' });
    expect(await logins.refreshToken('lab', after)).toBe('rt-second');
    expect(await logins.refreshToken('lab', before)).toBe('rt-second');
  });

  it.each([
    ['client', 'svc', { client_id: 'other' }],
    ['server', 'svc', { url: 'https://evil.example/token' }],
    ['port', 'svc', { url: 'https://id.example.com:444/token' }],
    ['profile', 'two', {}],
  ])('is not used for another %s', async (_, name, changes) => {
    await logins.logIn('svc', custom);
    const configured = { ...custom, refresh_token: 'configured', grant_type: 'refresh_token', ...changes };
    expect(await logins.refreshToken(name, configured)).toBe('configured');
  });

  it('does not begin if its result could not be stored', async () => {
    const error = new OAuthProfileError('store_unwritable', 'the file system is read-only');
    const store = { ...logins.store, lock: () => Promise.reject(error) };
    let began = false;
    const task = {
      parsed: parsedProfileOf('lab', gitlab),
      login: loginProfile('lab', gitlab),
      authenticate: () => {
        began = true;
        return Promise.reject(new Error('not reached'));
      },
      mayReplace: async () => true,
    };
    await expect(login(task, logins.ports, store)).rejects.toBe(error);
    expect(began).toBe(false);
  });

  it('fails if another process writes at the same time', async () => {
    logins.store = withLockFunctions(logins.store, () => ({ write: async () => false }));
    await expect(logins.logIn('lab', gitlab)).rejects.toMatchObject({ code: 'store_locked' });
  });
});

describe('the records of a login', () => {
  it('are a family with the first access token, and a login that refers to it', async () => {
    const { store } = logins;
    await logins.logIn('lab', { ...gitlab, refresh_token: 'configured' }, { account: 'ada' });
    const { login, family } = await logins.records();
    expect(family).toMatchObject({
      profile: 'lab',
      origin: 'https://gitlab.com',
      client: store.fingerprint('app'),
      tokenHashes: [familyKey({ origin: 'https://gitlab.com', clientId: 'app' }, 'rt-first', store)],
      account: 'ada',
      scope: 'api',
    });
    expect(login).toEqual({
      kind: 'login',
      profile: 'lab',
      family: (await logins.profile('lab', gitlab)).family,
      replaced: [store.fingerprint('configured')],
      at: store.now(),
    });
    const tokens = Object.values(family.tokens);
    expect(tokens).toMatchObject([{ startedAt: store.now(), expiresAt: store.now() + 3_600_000 }]);
    expect(JSON.parse(tokens[0]?.response.reveal() ?? '')).toMatchObject({ access_token: 'at-first' });
  });

  it('have the refresh token and the family as versions, and no other record is locked', async () => {
    const { store } = logins;
    const keys = new Set<string>();
    logins.store = {
      ...store,
      lock: (key, options) => {
        keys.add(key);
        return store.lock(key, options);
      },
    };
    await logins.logIn('lab', gitlab);
    const stored = await store.list();
    expect([...keys].sort()).toEqual(stored.map(({ key }) => key).sort());
    const { family = '' } = await logins.profile('lab', gitlab);
    // The family has its key from the refresh token.
    expect(stored.map(({ version }) => version)).toEqual([family, family]);
  });

  it('name no replaced refresh token if none was configured', async () => {
    await logins.logIn('lab', gitlab);
    expect((await logins.records()).login.replaced).toEqual([]);
  });

  it('name the last 32 replaced refresh tokens', async () => {
    for (let time = 0; time < 34; time++) await logins.logIn('lab', { ...gitlab, refresh_token: `configured-${time}` });
    const { replaced } = (await logins.records()).login;
    expect(replaced).toHaveLength(32);
    expect(replaced).toContain(logins.store.fingerprint('configured-33'));
    expect(replaced).not.toContain(logins.store.fingerprint('configured-1'));
  });

  it('have no expiry and no scope if the provider sends none', async () => {
    const result = await logins.logIn('lab', gitlab, { expires: false, scope: ['api'] });
    expect(result).toMatchObject({ scope: undefined, expiresAt: undefined });
    const { family } = await logins.records();
    expect(family).not.toHaveProperty('scope');
    expect(Object.values(family.tokens)[0]).not.toHaveProperty('expiresAt');
  });

  it('provide the first access token without a refresh', async () => {
    await logins.logIn('lab', gitlab);
    const { token, fromCache } = await logins.getToken(await logins.profile('lab', gitlab), { minTtlMs: 0 });
    expect([token.accessToken.reveal(), fromCache]).toEqual(['at-first', true]);
    expect(logins.sent).toEqual([]);
  });
});

describe('a login without a refresh token', () => {
  const withLogin = { ...custom, options: { authorization_url: 'https://id.example.com/authorize' } };
  const get = async (options: GetTokenOptions = {}) =>
    (await logins.getToken(await logins.profile('svc', withLogin), options)).token.accessToken.reveal();

  it('stores the access token, which every caller gets until it expires', async () => {
    await logins.logIn('svc', withLogin, { refreshToken: null });
    expect(await get()).toBe('at-first');
    expect(await get({ reuse: false })).toBe('at-first');
    logins.ports.clock.time += 3_599_000;
    expect(await get()).toBe('at-first');
    logins.ports.clock.time += 1_000;
    await expect(get()).rejects.toMatchObject({ code: 'login_required', hint: 'run: oauth-profile login svc' });
    expect(logins.sent).toEqual([]);
  });

  it('stores an access token that does not expire', async () => {
    expect(await logins.logIn('svc', withLogin, { refreshToken: null, expires: false })).toMatchObject({
      expiresAt: undefined,
    });
    logins.ports.clock.time += 365 * 86_400_000;
    expect(await get()).toBe('at-first');
  });

  it.each([{ forceRefresh: true }, { rejectedToken: new Secret('at-first') }])(
    'must be repeated for a caller that needs another token: %j',
    async (options) => {
      await logins.logIn('svc', withLogin, { refreshToken: null, expires: false });
      logins.ports.clock.time++;
      await expect(get(options)).rejects.toMatchObject({ code: 'login_required' });
      expect(logins.sent).toEqual([]);
    },
  );

  it.each([
    [
      'with offline_access, to request consent (OpenID Connect Core §11)',
      custom,
      'openid offline_access',
      /svc\.prompt/,
    ],
    ['without offline_access, to request it', custom, 'openid', /offline_access.*svc\.scope/],
    [
      'with the hint of the provider',
      { type: 'google', client_id: 'c', client_secret: 's' },
      'email',
      /Google.*consent/,
    ],
  ])('has a hint %s', async (_, fields, scope, expected) => {
    const { refreshHint } = await logins.logIn('svc', { ...fields, scope }, { refreshToken: null });
    expect(refreshHint).toMatch(expected);
    expect((await logins.logIn('svc', { ...fields, scope })).refreshHint).toBeUndefined();
  });
});

describe('the scope of a refresh after a login', () => {
  const withScope = (scope?: string) => ({ ...custom, ...(scope === undefined ? {} : { scope }) });
  /** Logs in and refreshes with another scope in the profile. Returns the scope that was sent. */
  const refreshScope = async (requested: string | undefined, granted: unknown, configured = requested) => {
    await logins.logIn('svc', withScope(requested), { scope: granted });
    logins.ports.clock.time++;
    await logins.getToken(await logins.profile('svc', withScope(configured)), { forceRefresh: true });
    expect(logins.sent).toHaveLength(1);
    return new URLSearchParams(logins.sent[0]?.body).get('scope');
  };

  it.each([
    ['the requested one, if all of it was granted', 'read write', 'write read', undefined, 'read write'],
    ['the requested one, if the response did not say what was granted', 'read write', null, undefined, 'read write'],
    ['omitted if less was granted (RFC 6749 §6)', 'read write', 'read', undefined, null],
    ['a part of the granted one, if the profile was changed to it', 'read write', 'read write', 'read', 'read'],
    ['one that was granted although it was not requested', 'read', 'read write', 'read write', 'read write'],
  ])('is %s', async (_, requested, granted, configured, sent) => {
    expect(await refreshScope(requested, granted, configured)).toBe(sent);
  });

  it.each([
    ['added', 'read', 'read', 'read write'],
    ['set for the first time', undefined, null, 'write'],
  ])('requires another login if it was %s after the login', async (_, requested, granted, configured) => {
    await expect(refreshScope(requested, granted, configured)).rejects.toMatchObject({
      code: 'login_required',
      message: expect.stringContaining('write'),
      hint: 'run: oauth-profile login svc',
    });
    expect(logins.sent).toEqual([]);
  });

  it('is the requested one for Microsoft, whose responses name scopes differently', async () => {
    const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app', scope: 'user.read offline_access' };
    await logins.logIn('svc', graph, { scope: 'User.Read openid' });
    const changed = { ...graph, scope: 'user.read mail.read offline_access' };
    await logins.getToken(await logins.profile('svc', changed), { forceRefresh: true });
    expect(new URLSearchParams(logins.sent[0]?.body).get('scope')).toBe(changed.scope);
  });
});
