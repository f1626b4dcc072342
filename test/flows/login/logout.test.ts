import { beforeEach, describe, expect, it } from 'vitest';
import { TransportError } from '../../../src/errors.ts';
import { deleteLogin, type FoundLogin, findLogins, revokeToken } from '../../../src/flows/login/logout.ts';
import type { FamilyRecord } from '../../../src/flows/records.ts';
import { withLock } from '../../support/store.ts';
import { publishing } from './browser-fixture.ts';
import { custom, gitlab, loginProfile, StoredLogins } from './fixture.ts';

let logins: StoredLogins;
beforeEach(() => {
  logins = new StoredLogins();
});

/** Revokes refresh tokens as a profile `lab` with these fields does, whose server publishes this metadata. */
const revokeWith = (fields: Readonly<Record<string, unknown>>, metadata?: unknown) => (family: FamilyRecord) => {
  const client = { callApi: publishing(metadata), ports: logins.ports };
  return revokeToken(loginProfile('lab', fields), family, client, logins.store, undefined);
};

async function firstLogin(profile?: string): Promise<FoundLogin> {
  const [found] = await findLogins(logins.store, profile);
  if (found === undefined) expect.fail('no login is stored');
  return found;
}

describe('stored logins', () => {
  it('are found with their profile and account', async () => {
    await logins.logIn('lab', gitlab, { account: 'ada' });
    await logins.logIn('svc', custom, { refreshToken: 'rt-other' });
    expect(await findLogins(logins.store)).toMatchObject([
      { profile: 'lab', account: 'ada' },
      { profile: 'svc', account: undefined },
    ]);
    expect(await findLogins(logins.store, 'svc')).toMatchObject([{ profile: 'svc' }]);
  });

  it('are found although their refresh token was deleted', async () => {
    await logins.logIn('lab', gitlab, { account: 'ada' });
    await withLock(logins.store, (await firstLogin()).family, (lock) => lock.remove());
    expect(await findLogins(logins.store)).toMatchObject([{ profile: 'lab', account: undefined }]);
    await deleteLogin(await firstLogin(), logins.store, () => expect.fail('no refresh token can be revoked'));
    expect(await logins.store.list()).toEqual([]);
  });

  it('are found although their profile was changed', async () => {
    await logins.logIn('lab', gitlab);
    await logins.logIn('lab', { ...gitlab, client_id: 'other-app' }, { refreshToken: 'rt-other' });
    expect(await findLogins(logins.store, 'lab')).toHaveLength(2);
  });
});

describe('a logout', () => {
  it('deletes everything of one login, and nothing of the others', async () => {
    await logins.logIn('lab', gitlab);
    await logins.logIn('svc', custom, { refreshToken: 'rt-other' });
    await deleteLogin(await firstLogin('lab'), logins.store);
    expect(await findLogins(logins.store)).toMatchObject([{ profile: 'svc' }]);
    expect(await logins.refreshToken('svc', custom)).toBe('rt-other');
    await deleteLogin(await firstLogin(), logins.store);
    expect(await logins.store.list()).toEqual([]);
  });

  it('is not undone by a caller that loaded the profile before', async () => {
    await logins.logIn('lab', gitlab);
    const profile = await logins.profile('lab', gitlab);
    await deleteLogin(await firstLogin(), logins.store);
    await expect(logins.getToken(profile, { forceRefresh: true })).rejects.toMatchObject({ code: 'login_required' });
    expect(logins.sent).toEqual([]);
    expect(await logins.store.list()).toEqual([]);
  });
});

describe('a revocation', () => {
  it('RFC 7009 sends the newest refresh token before it is deleted', async () => {
    await logins.logIn('lab', gitlab);
    logins.ports.clock.time++;
    await logins.getToken(await logins.profile('lab', gitlab), { forceRefresh: true });
    await deleteLogin(await firstLogin(), logins.store, revokeWith(gitlab));
    expect(logins.sent.slice(1).map(({ url, body }) => [url.href, body])).toEqual([
      [
        'https://gitlab.com/oauth/revoke',
        'token=rt-next&token_type_hint=refresh_token&client_id=app&client_secret=app-secret',
      ],
    ]);
    expect(await logins.store.list()).toEqual([]);
  });

  it('sends the access token if the login has no refresh token', async () => {
    await logins.logIn('lab', gitlab, { refreshToken: null });
    await deleteLogin(await firstLogin(), logins.store, revokeWith(gitlab));
    expect(new URLSearchParams(logins.sent[0]?.body)).toEqual(
      new URLSearchParams('token=at-first&token_type_hint=access_token&client_id=app&client_secret=app-secret'),
    );
    expect(await logins.store.list()).toEqual([]);
  });

  it.each([200, 204, 299])('succeeds with status %i, whatever the body is', async (status) => {
    await logins.logIn('lab', gitlab);
    logins.response = { status, body: 'anything' };
    await deleteLogin(await firstLogin(), logins.store, revokeWith(gitlab));
    expect(await logins.store.list()).toEqual([]);
  });

  it.each([
    [503, 'provider_unavailable', 3],
    [429, 'rate_limited', 3],
    [401, 'provider_rejected', 1],
    [302, 'redirected', 1],
    [300, 'redirected', 1],
  ])('that fails with status %i leaves the login, and is %s after %i attempts', async (status, code, attempts) => {
    await logins.logIn('lab', gitlab);
    logins.response = { status, body: '' };
    await expect(deleteLogin(await firstLogin(), logins.store, revokeWith(gitlab))).rejects.toMatchObject({ code });
    expect(logins.sent).toHaveLength(attempts);
    expect(await logins.refreshToken('lab', gitlab)).toBe('rt-first');
  });

  it('that fails releases the lock of the login', async () => {
    await logins.logIn('lab', gitlab);
    logins.response = { status: 401, body: '' };
    await expect(deleteLogin(await firstLogin(), logins.store, revokeWith(gitlab))).rejects.toBeDefined();
    await deleteLogin(await firstLogin(), logins.store);
    expect(await logins.store.list()).toEqual([]);
  });

  it.each([
    ['client', { client_id: 'other' }],
    ['server', { url: 'https://evil.example/oauth/token' }],
  ])('is not sent if the profile now has another %s', async (_, changes) => {
    await logins.logIn('lab', gitlab);
    const revoke = revokeWith({ ...gitlab, ...changes });
    await expect(deleteLogin(await firstLogin(), logins.store, revoke)).rejects.toMatchObject({
      code: 'profile_invalid',
      hint: expect.stringContaining('--revoke'),
    });
    expect(logins.sent).toEqual([]);
  });

  const published = {
    issuer: 'https://id.example.com',
    token_endpoint: 'https://id.example.com/token',
    authorization_endpoint: 'https://id.example.com/authorize',
    revocation_endpoint: 'https://id.example.com/revoke',
  };
  const realm = 'https://id.example.com/realms/demo';

  it.each([
    ['documented by a built-in provider', gitlab, undefined, 'https://gitlab.com/oauth/revoke'],
    [
      'that the profile sets',
      { ...custom, options: { revocation_url: 'https://revoke.example.com/' } },
      undefined,
      'https://revoke.example.com/',
    ],
    ['named by the metadata of the server', custom, published, 'https://id.example.com/revoke'],
    [
      'of a server whose login page is configured',
      { ...custom, options: { authorization_url: 'https://id.example.com/authorize' } },
      published,
      'https://id.example.com/revoke',
    ],
    [
      'of an issuer with a path',
      { ...custom, url: `${realm}/token` },
      { issuer: realm, token_endpoint: `${realm}/token`, revocation_endpoint: `${realm}/token/revocation` },
      `${realm}/token/revocation`,
    ],
  ])('is sent to the endpoint %s', async (_, fields, metadata, expected) => {
    await logins.logIn('lab', fields);
    await deleteLogin(await firstLogin(), logins.store, revokeWith(fields, metadata));
    expect(logins.sent.map(({ url }) => url.href)).toEqual([expected]);
    expect(await logins.store.list()).toEqual([]);
  });

  it.each([
    ['there is no metadata', custom, undefined, 'usage'],
    ['the metadata names none', custom, { ...published, revocation_endpoint: undefined }, 'usage'],
    [
      'it is on another server than the token URL',
      {
        ...custom,
        url: 'https://api.example.com/token',
        options: { authorization_url: 'https://id.example.com/authorize' },
      },
      published,
      'usage',
    ],
    [
      'the server cannot be reached',
      custom,
      new TransportError('connection_failed', 'no network', { sent: false }),
      'connection_failed',
    ],
  ])('leaves the login and fails if it has no endpoint because %s', async (_, fields, metadata, code) => {
    await logins.logIn('lab', fields);
    const revoking = deleteLogin(await firstLogin(), logins.store, revokeWith(fields, metadata));
    await expect(revoking).rejects.toMatchObject({ code });
    expect(logins.sent).toEqual([]);
    expect(await logins.refreshToken('lab', fields)).toBe('rt-first');
  });
});
