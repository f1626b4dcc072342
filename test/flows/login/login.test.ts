import { beforeEach, describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../../src/errors.ts';
import { type LoginResult, login } from '../../../src/flows/login/login.ts';
import { findLogins, forget, revocationEndpoint, revokeToken } from '../../../src/flows/login/logout.ts';
import { obtainToken } from '../../../src/flows/obtain-token.ts';
import { parseRecord } from '../../../src/flows/records.ts';
import { SingleFlight } from '../../../src/flows/single-flight.ts';
import type { Obtained } from '../../../src/flows/wish.ts';
import type { Ports, TokenStore, WireRequest } from '../../../src/ports.ts';
import { completeProfile } from '../../../src/profile/complete-profile.ts';
import { toLoginProfile } from '../../../src/profile/login-profile.ts';
import { parseProfile } from '../../../src/profile/parse-profile.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { Session } from '../../../src/session.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { fakePorts } from '../../support/fake-ports.ts';
import { variablesWith } from '../../support/profile-of.ts';

const { outside } = new Session({ env: {}, cwd: '/' });
const lab = { type: 'gitlab', client_id: 'app', client_secret: 'app-secret', scope: 'api' };
const custom = { type: 'custom', url: 'https://id.example.com/token', client_id: 'tool' };

let store: TokenStore;
let ports: Ports;
let sent: WireRequest[];
let answer: { status: number; body: string };
beforeEach(() => {
  sent = [];
  answer = {
    status: 200,
    body: JSON.stringify({ access_token: 'refreshed', refresh_token: 'rt-next', expires_in: 60 }),
  };
  ports = fakePorts({
    send: async (request) => {
      sent.push(request);
      return { ...answer, headers: {} };
    },
  });
  store = createMemoryStore(ports.clock);
});

const idToken = (account: string): string =>
  `e30.${Buffer.from(JSON.stringify({ preferred_username: account })).toString('base64url')}.x`;

/** A person signs in. */
function signIn(
  name: string,
  fields: object,
  {
    refreshToken = 'rt-first',
    account,
    replace = false,
    lifetimeMs = 3_600_000,
    scope = 'api',
  }: { refreshToken?: string; account?: string; replace?: boolean; lifetimeMs?: number | null; scope?: unknown } = {},
): Promise<LoginResult & { asked: string[] }> {
  const variables = variablesWith(name, fields as Record<string, unknown>);
  const asked: string[] = [];
  return login(
    {
      login: toLoginProfile(parseProfile(name, variables, outside)),
      signIn: async () => ({
        response: {
          access_token: 'at-first',
          refresh_token: refreshToken,
          expires_in: 3600,
          scope,
          ...(account === undefined ? {} : { id_token: idToken(account) }),
        },
        accessToken: new Secret('at-first'),
        refreshToken: new Secret(refreshToken),
        otherSecrets: [],
        tokenType: 'Bearer',
        expiresAt: lifetimeMs === null ? undefined : ports.clock.now() + lifetimeMs,
      }),
      readWith: (brought) => completeProfile(parseProfile(name, variables, outside), brought),
      mayReplace: async (former, next) => {
        asked.push(former, next);
        return replace;
      },
    },
    ports,
    store,
  ).then((kept) => ({ ...kept, asked }));
}

/** The profile as every other command reads it. */
async function profileOf(name: string, fields: object) {
  const { findLogin } = await import('../../../src/flows/token-family.ts');
  const variables = variablesWith(name, fields as Record<string, unknown>);
  const parsed = parseProfile(name, variables, outside);
  return completeProfile(parsed, parsed.binding && (await findLogin(parsed, parsed.binding, store)));
}

/** The refresh token that the profile is going to send. */
async function tokenOf(name: string, fields: object): Promise<string | undefined> {
  const value = (await profileOf(name, fields)).fields.find((field) => field.name === 'refresh_token')?.value;
  return value instanceof Secret ? value.reveal() : value;
}

describe('a login', () => {
  it('keeps the refresh token for the profile, and who signed in', async () => {
    const kept = await signIn('lab', lab, { account: 'ada@example.com' });
    expect(kept).toMatchObject({ account: 'ada@example.com', scope: 'api', replaced: false });
    expect(await tokenOf('lab', lab)).toBe('rt-first');
  });

  it('D24 implies the grant of a custom profile that names none', async () => {
    await signIn('svc', custom);
    expect(await profileOf('svc', custom)).toMatchObject({ grant: 'refresh_token' });
  });

  it('is replaced by the next one, and nothing is left of it', async () => {
    await signIn('lab', lab, { refreshToken: 'rt-one' });
    expect(await signIn('lab', lab, { refreshToken: 'rt-two' })).toMatchObject({ replaced: true });
    expect(await tokenOf('lab', lab)).toBe('rt-two');
    expect(await store.list()).toHaveLength(2);
  });

  it('with the refresh token that is kept already leaves it in place', async () => {
    await signIn('lab', lab, { refreshToken: 'rt-same' });
    await signIn('lab', lab, { refreshToken: 'rt-same' });
    expect(await tokenOf('lab', lab)).toBe('rt-same');
  });

  it('replaces one whose refresh token is gone', async () => {
    await signIn('lab', lab, { refreshToken: 'rt-one' });
    const { family = '' } = await profileOf('lab', lab);
    await store.update(family, (held) => held.remove(), { timeoutMs: 1_000, signal: undefined });
    expect(await signIn('lab', lab, { refreshToken: 'rt-two' })).toMatchObject({ replaced: false });
    expect(await tokenOf('lab', lab)).toBe('rt-two');
  });

  it('of another account is asked about first', async () => {
    await signIn('lab', lab, { refreshToken: 'rt-one', account: 'ada@example.com' });
    const refused = signIn('lab', lab, { refreshToken: 'rt-two', account: 'bob@example.com' });
    await expect(refused).rejects.toMatchObject({
      code: 'usage',
      message: 'bob@example.com signed in, but lab is signed in as ada@example.com; nothing was changed',
      hint: 'to replace it, run: oauth-profile login lab --force',
    });
    expect(await tokenOf('lab', lab)).toBe('rt-one');
    const { asked } = await signIn('lab', lab, { refreshToken: 'rt-two', account: 'bob@example.com', replace: true });
    expect(asked).toEqual(['ada@example.com', 'bob@example.com']);
    expect(await tokenOf('lab', lab)).toBe('rt-two');
  });

  it.each([
    ['the same account', 'ada', 'ada'],
    ['an account that is not known', 'ada', undefined],
    ['a former account that is not known', undefined, 'ada'],
  ])('of %s is not asked about', async (_, former, account) => {
    await signIn('lab', lab, { refreshToken: 'rt-one', ...(former && { account: former }) });
    expect((await signIn('lab', lab, { refreshToken: 'rt-two', ...(account && { account }) })).asked).toEqual([]);
  });

  it('replaces the pasted value that is there, and gives way to a newer one: the newest act wins', async () => {
    await signIn('lab', { ...lab, refresh_token: 'pasted-before' });
    expect(await tokenOf('lab', { ...lab, refresh_token: 'pasted-before' })).toBe('rt-first');
    expect(await tokenOf('lab', lab)).toBe('rt-first');
    expect(await tokenOf('lab', { ...lab, refresh_token: 'pasted-after' })).toBe('pasted-after');
    await signIn('lab', { ...lab, refresh_token: 'pasted-after' }, { refreshToken: 'rt-second' });
    expect(await tokenOf('lab', { ...lab, refresh_token: 'pasted-after' })).toBe('rt-second');
    expect(await tokenOf('lab', { ...lab, refresh_token: 'pasted-before' })).toBe('rt-second');
  });

  it('serves no other client, no other server, and no other profile', async () => {
    await signIn('svc', custom);
    const pasted = { refresh_token: 'own', grant_type: 'refresh_token' };
    expect(await tokenOf('svc', { ...custom, ...pasted, client_id: 'other' })).toBe('own');
    expect(await tokenOf('svc', { ...custom, ...pasted, url: 'https://evil.example/token' })).toBe('own');
    expect(await tokenOf('svc', { ...custom, ...pasted, url: 'https://id.example.com:444/token' })).toBe('own');
    expect(await tokenOf('two', { ...custom, ...pasted })).toBe('own');
  });

  it('asks nobody to sign in where the result could not be kept', async () => {
    store = {
      ...store,
      update: () => Promise.reject(new OAuthProfileError('store_unwritable', 'the disk is read-only')),
    };
    let asked = false;
    const variables = variablesWith('lab', lab);
    const task = {
      login: toLoginProfile(parseProfile('lab', variables, outside)),
      signIn: () => {
        asked = true;
        return Promise.reject(new Error('never'));
      },
      readWith: () => completeProfile(parseProfile('lab', variables, outside)),
      mayReplace: async () => true,
    };
    await expect(login(task, ports, store)).rejects.toMatchObject({ code: 'store_unwritable' });
    expect(asked).toBe(false);
  });
});

describe('what a login leaves', () => {
  const records = async () => (await store.list()).map(({ kept }) => parseRecord(kept));

  it('is a family with its first access token, and that it is of this profile', async () => {
    await signIn('lab', { ...lab, refresh_token: 'pasted' }, { account: 'ada' });
    const [one, two] = await records();
    const [family, kept] = one?.kind === 'family' ? [one, two] : [two, one];
    expect(family).toMatchObject({
      kind: 'family',
      profile: 'lab',
      origin: 'https://gitlab.com',
      client: store.fingerprint('app'),
      tokenHashes: [store.fingerprint('rt-first')],
      account: 'ada',
      scope: 'api',
    });
    expect(kept).toEqual({
      kind: 'login',
      profile: 'lab',
      family: expect.any(String),
      replaced: [store.fingerprint('pasted')],
      at: store.now(),
    });
    const profile = await profileOf('lab', lab);
    const tokens = family?.kind === 'family' ? Object.values(family.tokens) : [];
    expect(tokens).toMatchObject([{ startedAt: store.now(), expiresAt: store.now() + 3_600_000 }]);
    expect(JSON.parse(tokens[0]?.response.reveal() ?? '')).toMatchObject({ access_token: 'at-first' });
    expect(profile.family).toBe(kept?.kind === 'login' ? kept.family : undefined);
  });

  it('is written under the newest refresh token, which others compare, and nowhere else', async () => {
    const { update } = store;
    const names = new Set<string>();
    store = {
      ...store,
      update: (name, ...rest) => {
        names.add(name);
        return update(name, ...rest);
      },
    };
    await signIn('lab', lab);
    const kept = await store.list();
    expect([...names].sort()).toEqual(kept.map(({ name }) => name).sort());
    const { family = '' } = await profileOf('lab', lab);
    expect(kept.map(({ kept: { head } }) => head).sort()).toEqual([store.fingerprint('rt-first'), family].sort());
  });

  it('says of no pasted value that it was replaced, where there was none', async () => {
    await signIn('lab', lab);
    expect((await records()).find((record) => record.kind === 'login')).toMatchObject({ replaced: [] });
  });

  it('has no end and no scope where the provider names none', async () => {
    expect(await signIn('lab', lab, { lifetimeMs: null, scope: ['api'] })).toMatchObject({ scope: undefined });
    const family = (await records()).find((record) => record.kind === 'family');
    expect(family).not.toHaveProperty('scope');
    expect(Object.values(family?.tokens ?? {})[0]).not.toHaveProperty('expiresAt');
  });

  it('serves for its first access token without a refresh', async () => {
    await signIn('lab', lab);
    const profile = await profileOf('lab', lab);
    const wish = { minTtlMs: 0, anew: false, keep: true, forgetRefusal: false, rejected: undefined, signal: undefined };
    const keeping = { openStore: async () => store, flights: new SingleFlight<Obtained>(ports.clock), warn: () => {} };
    const { token, fromCache } = await obtainToken(profile, wish, ports, keeping);
    expect([reply.accessToken.reveal(), fromCache]).toEqual(['at-first', true]);
    expect(sent).toEqual([]);
  });

  it('remembers the last 32 values that logins replaced', async () => {
    for (let time = 0; time < 34; time++) await signIn('lab', { ...lab, refresh_token: `pasted-${time}` });
    const login = (await records()).find((record) => record.kind === 'login');
    expect(login?.replaced).toHaveLength(32);
    expect(login?.replaced).toContain(store.fingerprint('pasted-33'));
    expect(login?.replaced).not.toContain(store.fingerprint('pasted-1'));
  });

  it('is not taken for kept where another process wrote at the same time', async () => {
    const { update } = store;
    store = {
      ...store,
      update: (name, change, wait) => update(name, (held) => change({ ...held, write: async () => false }), wait),
    };
    await expect(signIn('lab', lab)).rejects.toMatchObject({
      code: 'store_locked',
      message: 'another process changed the login at the same time',
      hint: 'log in again',
    });
  });

  it('says when the first access token ends', async () => {
    expect(await signIn('lab', lab)).toMatchObject({ expiresAt: ports.clock.now() + 3_600_000, account: undefined });
  });
});

describe('a logout', () => {
  const revokeOf = (fields: object) => {
    const profile = toLoginProfile(
      parseProfile('lab', variablesWith('lab', fields as Record<string, unknown>), outside),
    );
    return (token: Secret, kept: Parameters<typeof revokeToken>[3]) =>
      revokeToken(profile, profile.endpoints.revocationUrl as URL, token, kept, ports, store, undefined);
  };
  const only = async (name?: string) => {
    const [found] = await findLogins(store, name);
    if (found === undefined) expect.fail('no login is kept');
    return found;
  };

  it('forgets everything of one profile, and nothing of the others', async () => {
    await signIn('lab', lab, { account: 'ada' });
    await signIn('svc', custom, { refreshToken: 'rt-other' });
    expect(await findLogins(store, 'svc')).toMatchObject([{ profile: 'svc' }]);
    await forget(await only('lab'), store);
    expect(await findLogins(store)).toMatchObject([{ profile: 'svc' }]);
    expect(await tokenOf('svc', custom)).toBe('rt-other');
    await forget(await only(), store);
    expect(await store.list()).toEqual([]);
  });

  it('finds who signed in, and where', async () => {
    await signIn('lab', lab, { account: 'ada' });
    expect(await findLogins(store, 'lab')).toMatchObject([
      { profile: 'lab', account: 'ada', origin: 'https://gitlab.com' },
    ]);
    const { family } = await only();
    await store.update(family, (held) => held.remove(), { timeoutMs: 1_000, signal: undefined });
    expect(await findLogins(store)).toMatchObject([{ profile: 'lab', account: undefined, origin: undefined }]);
    await forget(await only(), store, () => expect.fail('there is nothing to revoke'));
    expect(await store.list()).toEqual([]);
  });

  it.each([200, 204, 299])('is over when the provider answers with %i, whatever else it says', async (status) => {
    await signIn('lab', lab);
    answer = { status, body: 'anything' };
    await forget(await only(), store, revokeOf(lab));
    expect(await store.list()).toEqual([]);
  });

  it('asks where the provider is known to take tokens back, else where the server of the tokens says', async () => {
    const endpoint = (fields: object, revocation_endpoint?: string) =>
      revocationEndpoint(
        toLoginProfile(parseProfile('svc', variablesWith('svc', fields as Record<string, unknown>), outside)),
        ports,
        {
          readDocument: async () => ({
            issuer: 'https://id.example.com',
            token_endpoint: 'https://id.example.com/token',
            authorization_endpoint: 'https://id.example.com/authorize',
            revocation_endpoint,
          }),
        },
        undefined,
      );
    expect((await endpoint(lab))?.href).toBe('https://gitlab.com/oauth/revoke');
    expect((await endpoint(custom, 'https://id.example.com/revoke'))?.href).toBe('https://id.example.com/revoke');
    expect(await endpoint(custom)).toBeUndefined();
    const elsewhere = { ...custom, options: { authorization_url: 'https://id.example.com/authorize' } };
    expect((await endpoint(elsewhere, 'https://id.example.com/revoke'))?.href).toBe('https://id.example.com/revoke');
    const apart = { ...elsewhere, url: 'https://api.example.com/token' };
    expect(await endpoint(apart, 'https://id.example.com/revoke')).toBeUndefined();
  });

  it('is not undone by a caller who had read the login before', async () => {
    await signIn('lab', lab);
    const profile = await profileOf('lab', lab);
    await forget(await only(), store);
    const wish = { minTtlMs: 0, anew: true, keep: true, forgetRefusal: false, rejected: undefined, signal: undefined };
    const flights = new SingleFlight<Obtained>({ ...ports.clock, sleep: () => new Promise(() => {}) });
    const keeping = { openStore: async () => store, flights, warn: () => {} };
    await expect(obtainToken(profile, wish, ports, keeping)).rejects.toMatchObject({ code: 'login_required' });
    expect(sent).toEqual([]);
    expect(await store.list()).toEqual([]);
  });

  it('finds a login whose profile was changed since', async () => {
    await signIn('lab', lab);
    await signIn('lab', { ...lab, client_id: 'other-app' }, { refreshToken: 'rt-other' });
    expect(await findLogins(store, 'lab')).toHaveLength(2);
  });

  it('RFC 7009 tells the provider, with the newest token, before it is forgotten', async () => {
    await signIn('lab', lab);
    await forget(await only(), store, revokeOf(lab));
    expect(sent.map(({ url, body }) => [url.href, body])).toEqual([
      [
        'https://gitlab.com/oauth/revoke',
        'token=rt-first&token_type_hint=refresh_token&client_id=app&client_secret=app-secret',
      ],
    ]);
    expect(await store.list()).toEqual([]);
  });

  it.each([
    [503, 'provider_unavailable'],
    [429, 'rate_limited'],
    [401, 'provider_rejected'],
    [302, 'redirected'],
    [300, 'redirected'],
  ])('that the provider answers with %i keeps the login, so that it can be tried again', async (status, code) => {
    await signIn('lab', lab);
    answer = { status, body: '' };
    await expect(forget(await only(), store, revokeOf(lab))).rejects.toMatchObject({ code });
    expect(await tokenOf('lab', lab)).toBe('rt-first');
  });

  it('sends no token to a profile that points elsewhere by now', async () => {
    await signIn('lab', lab);
    for (const changed of [
      { ...lab, client_id: 'other' },
      { ...lab, url: 'https://evil.example/oauth/token' },
    ]) {
      await expect(forget(await only(), store, revokeOf(changed))).rejects.toMatchObject({
        code: 'profile_invalid',
        message: 'lab is not the profile any more that was signed in for',
        hint: 'bring its former address and client back, or log out without --revoke',
      });
    }
    expect(sent).toEqual([]);
  });
});
