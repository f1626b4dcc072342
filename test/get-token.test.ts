import { describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../src/errors.ts';
import { parseRecord } from '../src/flows/records.ts';
import { findFamily } from '../src/flows/token-family.ts';
import type { Send, StoredRecord, TokenStore } from '../src/ports.ts';
import { Secret } from '../src/redaction/secret.ts';
import { settle } from './support/manual-clock.ts';
import { profileOf } from './support/profile-of.ts';
import { json, type RotatingProvider } from './support/rotating-provider.ts';
import {
  createTokenFixture,
  FIRST,
  familyOf,
  machineProfile,
  refreshProfile,
  TestProcess,
} from './support/token-fixture.ts';
import { errorOf } from './support/wire-request.ts';

/** A promise that a test keeps when it likes. */
function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((keep) => {
    resolve = keep;
  });
  return { promise, resolve };
}

describe('a kept token', () => {
  it('is handed out again while it is fresh, with the seconds that it has left (D4)', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    const one = start();
    expect((await one.getToken(profile)).fromCache).toBe(false);
    await clock.advance(1_000_000);
    const { token, fromCache } = await start().getToken(profile);
    expect(fromCache).toBe(true);
    expect(reply.response).toMatchObject({ access_token: 'access-token-1', expires_in: 2600 });
    expect(reply.refreshToken?.reveal()).toBe(provider.current);
    expect(provider.requests).toHaveLength(1);
  });

  it('ends in the time of this machineProfile, also where the store’s clock is another', async () => {
    const { start, profile, store, clock, provider } = createTokenFixture();
    await start().get(profile);
    const skewed = { ...store, now: () => store.now() + 1_800_000 };
    const { token, fromCache } = await new TestProcess(provider, skewed, clock).getToken(profile);
    expect(fromCache).toBe(true);
    expect(reply.expiresAt).toBe(clock.time + Number(reply.response['expires_in']) * 1000);
    const anew = await new TestProcess(provider, skewed, clock).getToken(profile, { forceRefresh: true });
    expect(anew.fromCache).toBe(false);
    expect(anew.reply.expiresAt).toBe(clock.time + 3_600_000);
  });

  it('is replaced once no more than min_ttl is left', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    await start().get(profile);
    await clock.advance(3_540_000);
    expect(await start().get(profile)).toBe('access-token-2');
    expect(provider.revoked).toBe(false);
  });

  it('without expires_in is fromCache only where default_ttl says how long', async () => {
    const plain = createTokenFixture(machineProfile);
    plain.provider.expiresIn = undefined;
    await plain.start().get(plain.profile);
    await plain.start().get(plain.profile);
    expect(plain.provider.requests).toHaveLength(2);
    const told = createTokenFixture({ ...machineProfile, options: { default_ttl: '1h' } });
    told.provider.expiresIn = undefined;
    await told.start().get(told.profile);
    const { token, fromCache } = await told.start().getToken(told.profile);
    expect([reply.expiresAt, fromCache]).toEqual([undefined, true]);
    expect(told.provider.requests).toHaveLength(1);
  });

  it('of a password grant is kept without its refresh token', async () => {
    const { start, profile, provider, store } = createTokenFixture({
      ...machineProfile,
      grant_type: 'password',
      username: 'ada',
      password: 'pass-word-1',
    });
    provider.next.push(json(200, { access_token: 'a-1', refresh_token: 'must-not-be-kept', expires_in: 3600 }));
    await start().get(profile);
    const kept = await store.list();
    expect(kept.map(({ kept: { content } }) => content.reveal()).join()).not.toContain('must-not-be-kept');
  });

  it.each([
    ['scope', { scope: 'other' }],
    ['client', { client_id: 'other' }],
    ['URL', { url: 'https://other.test/token' }],
    ['field', { audience: 'other' }],
  ])('is not handed out for another %s', async (_, change) => {
    const { start, profile, provider } = createTokenFixture(machineProfile);
    await start().get(profile);
    await start().get(profileOf({ ...machineProfile, ...change }));
    expect(provider.requests).toHaveLength(2);
  });

  it('is not handed out where the profile looks for it in another place by now', async () => {
    const { start, profile, provider } = createTokenFixture(machineProfile);
    await start().get(profile);
    const moved = profileOf({ ...machineProfile, options: { token_path: 'data.token' } });
    provider.next.push(json(200, { data: { token: 'moved' } }));
    expect(await start().get(moved, { rejectedToken: new Secret('refused before') })).toBe('moved');
  });

  it('that an API has refused is replaced once, however many callers were refused', async () => {
    const { start, profile, provider } = createTokenFixture();
    const token = new Secret(await start().get(profile));
    const [one, other] = [start(), start()];
    const tokens = await Promise.all(
      [one, one, other].map((process) => process.get(profile, { rejectedToken: token })),
    );
    expect(new Set(tokens)).toEqual(new Set(['access-token-2']));
    expect(provider.requests).toHaveLength(2);
  });
});

describe('many callers', () => {
  it.each([refreshProfile, machine])('in eight processes cause one request ($grant_type)', async (fields) => {
    const { start, profile, provider } = createTokenFixture(fields);
    const processes = Array.from({ length: 8 }, start);
    const tokens = await Promise.all(processes.flatMap((one) => Array.from({ length: 20 }, () => one.get(profile))));
    expect(new Set(tokens)).toEqual(new Set(['access-token-1']));
    expect(provider.requests).toHaveLength(1);
    expect(provider.revoked).toBe(false);
  });

  it('who queued before an attempt began share its failure', async () => {
    const { start, profile, provider } = createTokenFixture({ ...machineProfile, options: { timeout: '5s' } });
    provider.next.push(json(403, { error: 'access_denied' }));
    const processes = Array.from({ length: 4 }, start);
    const errors = await Promise.all(
      processes.flatMap((one) => [errorOf(one.get(profile)), errorOf(one.get(profile))]),
    );
    expect(new Set(errors.map((error) => (error as OAuthProfileError).code))).toEqual(new Set(['provider_rejected']));
    expect(provider.requests).toHaveLength(1);
  });

  it('who want it anew share an attempt that began after they asked, and no older one', async () => {
    const { start, profile, provider } = createTokenFixture();
    const one = start();
    const tokens = await Promise.all([
      one.get(profile, { forceRefresh: true }),
      one.get(profile, { forceRefresh: true }),
    ]);
    expect(new Set(tokens).size).toBe(1);
    expect(await one.get(profile, { forceRefresh: true })).toBe('access-token-2');
    expect(provider.revoked).toBe(false);
  });

  it('of one process share nothing where they want different tokens', async () => {
    const { start, profile } = createTokenFixture(machineProfile);
    const one = start();
    const wanted = [profile, profileOf({ ...machineProfile, scope: 'other' })];
    expect(await Promise.all(wanted.map((each) => one.get(each)))).toEqual(['access-token-1', 'access-token-2']);
  });

  it('of one process share nothing where one of them was refused what serves the other', async () => {
    const { start, profile, provider, store, clock } = createTokenFixture();
    const { promise: gate, resolve: open } = withResolvers();
    const slow: TokenStore = { ...store, update: (...args) => gate.then(() => store.update(...args)) };
    const one = new TestProcess(provider, slow, clock);
    const content = one.get(profile);
    await settle();
    const rejected = new Secret(await start().get(profile));
    const refused = one.get(profile, { rejected });
    await settle();
    open();
    expect(await Promise.all([content, refused])).toEqual(['access-token-1', 'access-token-2']);
  });

  it('who came while an attempt was under way take what it brings', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    const { promise, resolve: open } = withResolvers();
    provider.gate = promise;
    const first = start().get(profile);
    await settle();
    await clock.advance(1_000);
    const second = start().getToken(profile);
    await settle();
    open();
    expect(await first).toBe('access-token-1');
    expect(await second).toMatchObject({ fromCache: true });
    expect(provider.requests).toHaveLength(1);
  });

  it('are satisfied by a new token whose life is shorter than their min_ttl', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.expiresIn = 30;
    const processes = Array.from({ length: 4 }, start);
    await Promise.all(processes.map((one) => one.get(profile)));
    expect(provider.requests).toHaveLength(1);
  });
});

describe('a refresh token', () => {
  it('is followed through its rotations from whichever member a profile holds', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    await start().get(profile);
    const second = provider.current;
    await clock.advance(3_600_000);
    await start().get(profile);
    await clock.advance(3_600_000);
    expect(await start().get(profileOf({ ...refreshProfile, refresh_token: second }))).toBe('access-token-3');
    expect(provider.revoked).toBe(false);
  });

  it('is sent for no other client and to no other server', async () => {
    const { start, profile, provider } = createTokenFixture();
    await start().get(profile);
    for (const change of [{ client_id: 'thief' }, { url: 'https://thief.test/token' }]) {
      await errorOf(start().get(profileOf({ ...refreshProfile, refresh_token: FIRST, ...change })));
      expect(provider.requests.at(-1)?.get('refresh_token')).toBe(FIRST);
    }
  });

  it('is kept when the reply has none', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    provider.next.push(json(200, { access_token: 'a-1', expires_in: 3600 }));
    await start().get(profile);
    await clock.advance(3_600_000);
    await start().get(profile);
    expect(provider.requests.map((form) => form.get('refresh_token'))).toEqual([FIRST, FIRST]);
  });

  it('of a reply that is otherwise unusable is kept', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.next.push(json(200, { refresh_token: 'the-only-living-one' }));
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'response_unreadable' });
    provider.current = 'the-only-living-one';
    expect(await start().get(profile, { forceRefresh: true })).toBe('access-token-1');
  });

  it('of a reply that is otherwise unusable is kept, also beside where the token should be', async () => {
    const { start, profile, provider, store } = createTokenFixture({
      ...refreshProfile,
      options: { token_path: 'data.token' },
    });
    provider.next.push(json(200, { data: { refresh_token: 'the-only-living-one' } }));
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'response_unreadable' });
    expect((await familyOf(profile, store)).refreshToken.reveal()).toBe('the-only-living-one');
  });

  it('is exchanged to the end when its caller leaves', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    let open = (): void => {};
    provider.gate = new Promise((resolve) => {
      open = resolve;
    });
    const controller = new AbortController();
    const left = errorOf(start().get(profile, { signal: controller.signal }));
    await settle();
    controller.abort();
    expect(await left).toMatchObject({ code: 'aborted' });
    open();
    provider.gate = undefined;
    await settle();
    expect(await start().get(profile)).toBe('access-token-1');
    await clock.advance(3_600_000);
    expect(await start().get(profile)).toBe('access-token-2');
    expect(provider.revoked).toBe(false);
  });

  it('is not sent by a caller who left before its turn', async () => {
    const { start, profile, provider } = createTokenFixture();
    const controller = new AbortController();
    controller.abort();
    expect(await errorOf(start().get(profile, { signal: controller.signal }))).toMatchObject({ code: 'aborted' });
    await settle();
    expect(provider.requests).toHaveLength(0);
  });

  it('that gitlab refreshes ends the family’s other access tokens', async () => {
    const fields = { type: 'gitlab', client_id: 'app', refresh_token: FIRST, client_secret: 'app-secret-1' };
    const { start, provider } = createTokenFixture(fields);
    await start().get(profileOf({ ...fields, scope: 'api' }));
    await start().get(profileOf({ ...fields, scope: 'read_user' }));
    await start().get(profileOf({ ...fields, scope: 'api' }));
    expect(provider.requests).toHaveLength(3);
  });
});

describe('a refusal', () => {
  it('is remembered for five minutes, and the same request is not sent again', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    provider.current = 'somebody-else-rotated';
    for (let call = 0; call < 3; call++) {
      expect(await errorOf(start().get(profile))).toMatchObject({ code: 'login_required' });
    }
    expect(provider.requests).toHaveLength(1);
    await clock.advance(300_001);
    await errorOf(start().get(profile));
    expect(provider.requests).toHaveLength(2);
  });

  it('is forgotten by whoever asks for a fresh token', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.current = 'somebody-else-rotated';
    await errorOf(start().get(profile));
    await errorOf(start().get(profile, { forceRefresh: true }));
    expect(provider.requests).toHaveLength(2);
  });

  it.each([{ suberror: 'basic_action' }, { claims: '{"access_token":{}}' }])(
    'that a person can cure at the provider is not remembered (%o)',
    async (more) => {
      const { start, profile, provider } = createTokenFixture();
      provider.next.push(json(400, { error: 'invalid_grant', ...more }));
      await errorOf(start().get(profile));
      expect(await start().get(profile)).toBe('access-token-1');
    },
  );

  it('beside another machine’s rotation is no cachedError: the newer token is used', async () => {
    const { start, profile, provider, store, clock } = createTokenFixture();
    await start().get(profile);
    await clock.advance(3_600_000);
    const { name } = await findFamily(profile, store);
    let rotated: StoredRecord | undefined;
    // Another machineProfile, past its lease, rotates and writes while our request is under way.
    const shared: TokenStore = {
      ...store,
      update: (family, change, wait) =>
        store.update(family, (held) => change({ ...held, reload: async () => rotated ?? held.reload() }), wait),
    };
    const send: Send = async (...args) => {
      if (rotated !== undefined) return provider.send(...args);
      const kept = await store.read(name);
      const record = JSON.parse(kept?.content.reveal() ?? '');
      provider.current = 'rotated-elsewhere-1';
      const head = store.fingerprint(provider.current);
      const next = {
        ...record,
        refreshToken: provider.current,
        tokenHashes: [...record.tokenHashes, head],
        attempt: undefined,
      };
      rotated = { head, content: new Secret(JSON.stringify(next)) };
      return json(400, { error: 'invalid_grant' });
    };
    const waiting = new TestProcess({ ...provider, send } as RotatingProvider, shared, clock).get(profile);
    await settle();
    await clock.advance(11_000);
    expect(await waiting).toBe('access-token-2');
    expect(provider.requests.at(-1)?.get('refresh_token')).toBe('rotated-elsewhere-1');
  });
});

describe('a lost reply', () => {
  it('of a provider that revokes is not repeated, and the next caller waits until it cannot arrive any more', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    provider.next.push('lose');
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'timeout' });
    const process = start();
    const later = errorOf(process.get(profile));
    await settle();
    expect(provider.requests).toHaveLength(1);
    expect(process.lines).toEqual(['another request with this refresh token may be under way: waiting 10 s']);
    await clock.advance(10_000);
    expect(await later).toMatchObject({ code: 'login_required' });
    expect(provider.requests).toHaveLength(2);
  });

  it('leaves the access tokens that are still good to be used up first', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    await start().get(profile);
    await clock.advance(3_560_000);
    provider.next.push('lose');
    await errorOf(start().get(profile));
    expect(await start().get(profile)).toBe('access-token-1');
    expect(provider.requests).toHaveLength(2);
  });

  it('is counted from its first send, however often it is tried again', async () => {
    const { start, profile, clock, provider, store } = createTokenFixture({
      ...refreshProfile,
      options: { refresh_token_reuse: 'rejected' },
    });
    provider.next.push('lose');
    await errorOf(start().get(profile));
    const first = clock.time - 1;
    await clock.advance(60_000);
    provider.next.push('lose');
    await errorOf(start().get(profile));
    const { kept } = await findFamily(profile, store);
    expect(kept && parseRecord(kept)).toMatchObject({ attempt: { sentAt: first } });
  });

  it('stays noted when a later request never leaves', async () => {
    const { start, profile, provider, clock, store } = createTokenFixture();
    provider.next.push('lose');
    await errorOf(start().get(profile));
    const first = clock.time - 1;
    await clock.advance(60_000);
    const sending = errorOf(start().get(profile));
    provider.next.push('unreachable', 'unreachable', 'unreachable');
    for (let round = 0; round < 3; round++) {
      await settle();
      await clock.advance(5_000);
    }
    expect(await sending).toMatchObject({ code: 'connection_failed' });
    const { kept } = await findFamily(profile, store);
    expect(kept && parseRecord(kept)).toMatchObject({ attempt: { sentAt: first } });
  });

  it('ends no later than the journal says, however long that took to write', async () => {
    const { profile, provider, clock, store } = createTokenFixture();
    const slow: TokenStore = {
      ...store,
      update: (name, change, wait) =>
        store.update(
          name,
          (held) =>
            change({
              ...held,
              write: async (next, options) => {
                clock.time += 4_000;
                return held.write(next, options);
              },
            }),
          wait,
        ),
    };
    const ends: number[] = [];
    const original = provider.send;
    Object.assign(provider, {
      send: (...args: Parameters<typeof original>) => {
        ends.push(clock.time + args[1].timeoutMs);
        return original(...args);
      },
    });
    const startedAt = clock.time;
    await new TestProcess(provider, slow, clock).get(profile);
    expect(ends).toEqual([startedAt + 10_000]);
  });

  it('is journalled before the request leaves', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    let seen: unknown;
    const original = provider.send;
    Object.assign(provider, {
      send: async (...args: Parameters<typeof original>) => {
        const { name } = await findFamily(profile, store);
        const kept = await store.read(name);
        seen = kept && parseRecord(kept);
        return original(...args);
      },
    });
    await start().get(profile);
    expect(seen).toMatchObject({ kind: 'family', attempt: { sentAt: expect.any(Number), until: expect.any(Number) } });
  });
});

describe('what a reply leaves in the family', () => {
  it('is the successor, the token and its scope, and nothing of the attempt', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(json(200, { access_token: 'a', refresh_token: 'next', expires_in: 60, scope: 'read' }));
    await start().get(profile);
    const record = await familyOf(profile, store);
    expect(record).toMatchObject({
      profile: 'svc',
      origin: 'https://id.test',
      client: store.fingerprint('app'),
      tokenHashes: [store.fingerprint(FIRST), store.fingerprint('next')],
      scope: 'read',
    });
    expect(record.refreshToken.reveal()).toBe('next');
    expect([record.attempt, record.failure, record.cachedError, record.account]).toEqual(Array(4).fill(undefined));
    expect(Object.keys(record.tokens)).toHaveLength(1);
  });

  it('keeps the scope of before where the reply names none', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(json(200, { access_token: 'a', expires_in: 60, scope: 'read' }));
    await start().get(profile);
    await start().get(profile, { forceRefresh: true });
    expect((await familyOf(profile, store)).scope).toBe('read');
  });

  it('knows the last 32 members, and does not count one twice', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(json(200, { access_token: 'a', refresh_token: FIRST }));
    await start().get(profile, { forceRefresh: true });
    expect((await familyOf(profile, store)).tokenHashes).toHaveLength(1);
    for (let time = 0; time < 33; time++) await start().get(profile, { forceRefresh: true });
    const { members } = await familyOf(profile, store);
    expect(members).toHaveLength(32);
    expect(members.at(-1)).toBe(store.fingerprint(provider.current));
    expect(members).not.toContain(store.fingerprint(FIRST));
  });

  it('holds the living tokens of 16 wishes, the newest', async () => {
    const { start, clock, store, profile } = createTokenFixture();
    const other = (scope: string) => profileOf({ ...refreshProfile, refresh_token: FIRST, scope });
    await start().get(other('dead'));
    await clock.advance(3_600_000);
    for (let scope = 0; scope < 17; scope++) {
      await start().get(other(`s${scope}`));
      await clock.advance(1_000);
    }
    const { tokens } = await familyOf(profile, store);
    expect(Object.keys(tokens)).toHaveLength(16);
    const process = start();
    expect((await process.getToken(other('s1'))).fromCache).toBe(true);
    expect((await process.getToken(other('s0'))).fromCache).toBe(false);
  });

  it('is a refusal with its end, and how the attempt failed', async () => {
    const { start, profile, provider, store, clock } = createTokenFixture();
    provider.next.push(json(400, { error: 'invalid_grant' }));
    await errorOf(start().get(profile));
    const record = await familyOf(profile, store);
    const error = { code: 'login_required', provider: { status: 400, error: 'invalid_grant' } };
    expect(record.cachedError).toMatchObject({ until: clock.time + 300_000, error });
    expect(record.failure).toMatchObject({ key: record.cachedError?.key, error });
    expect(record.attempt).toBeUndefined();
  });

  it.each([
    ['another status', json(401, { error: 'invalid_grant' })],
    ['another error', json(400, { error: 'invalid_client' })],
  ])('is no refusal for good with %s', async (_, reply) => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(reply);
    await errorOf(start().get(profile));
    expect((await familyOf(profile, store)).cachedError).toBeUndefined();
  });

  it('is the attempt, where its outcome is not known', async () => {
    const { start, profile, provider, store, clock } = createTokenFixture();
    provider.next.push('lose');
    await errorOf(start().get(profile));
    expect((await familyOf(profile, store)).attempt).toEqual({ sentAt: clock.time - 1, until: clock.time + 9_999 });
  });
});

describe('a family that another process changes at the same time', () => {
  /** Every write from the `lost`th on finds that somebody else was there first. */
  const contested = (store: TokenStore, lost: number): TokenStore => {
    let writes = 0;
    return {
      ...store,
      update: (name, change, wait) =>
        store.update(
          name,
          (held) => change({ ...held, write: async (...args) => (++writes >= lost ? false : held.write(...args)) }),
          wait,
        ),
    };
  };

  it('is left alone before anything is sent', async () => {
    const { profile, provider, store, clock } = createTokenFixture();
    const error = await errorOf(new TestProcess(provider, contested(store, 1), clock).get(profile));
    expect(error).toMatchObject({
      code: 'store_locked',
      message: 'another process changed the refresh token at the same time',
      hint: 'try again',
    });
    expect(provider.requests).toHaveLength(0);
    expect(await store.list()).toEqual([]);
  });

  it('keeps what the other wrote, where our reply is there already', async () => {
    const { profile, provider, store, clock } = createTokenFixture();
    const process = new TestProcess(provider, contested(store, 2), clock);
    expect(await process.get(profile)).toBe('access-token-1');
    expect(process.lines).toEqual(['another process changed the refresh token at the same time; its own is kept']);
  });
});

describe('a caller who waits', () => {
  it('gives up two seconds after the time of the profile, and is told why', async () => {
    const { start, clock, provider, profile } = createTokenFixture({ ...refreshProfile, options: { timeout: '5s' } });
    provider.gate = new Promise(() => {});
    let over = false;
    const waiting = errorOf(start().get(profile)).finally(() => {
      over = true;
    });
    await settle();
    await clock.advance(6_998);
    expect(over).toBe(false);
    await clock.advance(1);
    expect(await waiting).toMatchObject({
      code: 'timeout',
      message: 'no token came within 5 s',
      hint: 'try again, or raise svc.options.timeout',
      sent: false,
    });
  });

  it.each([
    ['is not taken off', machineProfile, 499, 8_000],
    ['is taken off', machineProfile, 500, 7_500],
    ['is taken off', machineProfile, 3_000, 5_000],
    ['is not taken off', refreshProfile, 499, 8_000],
    ['is not taken off', refreshProfile, 3_000, 8_000],
  ])('has a time in the queue that %s the time of the request: %o, %i ms', async (_, fields, waitedMs, leftMs) => {
    const { profile, provider, store, clock } = createTokenFixture({ ...fields, options: { timeout: '8s' } });
    const crowded: TokenStore = {
      ...store,
      update: (...args) => {
        clock.time += waitedMs;
        return store.update(...args);
      },
    };
    const bounds: number[] = [];
    const send: Send = (request, { timeoutMs }) => {
      bounds.push(timeoutMs);
      return provider.send(request, { timeoutMs, signal: undefined });
    };
    await new TestProcess({ ...provider, send } as RotatingProvider, crowded, clock).get(profile);
    expect(bounds).toEqual([leftMs]);
  });
});

describe('a caller whose store looks while it waits', () => {
  /** Looks once, after the turn of somebody else, and counts the turns that are needed all the same. */
  function looking(fields: typeof refreshProfile = refreshProfile) {
    const all = createTokenFixture(fields);
    const { promise: gate, resolve: open } = withResolvers();
    const waits: number[] = [];
    let turns = 0;
    const store: TokenStore = {
      ...all.store,
      async update(name, change, wait) {
        const queuedAt = all.clock.now();
        waits.push(wait.timeoutMs);
        await gate;
        const content = wait.contentWith?.(await all.store.read(name), queuedAt);
        if (content !== undefined) return content;
        turns++;
        return all.store.update(name, change, wait);
      },
    };
    const process = new TestProcess(all.provider, store, all.clock);
    return { ...all, process, open, waits, turns: () => turns };
  }

  it.each([refreshProfile, machine])('is content with a token that came since ($grant_type)', async (fields) => {
    const { process, profile, provider, start, open, turns } = looking(fields);
    const waiting = process.getToken(profile, { forceRefresh: true });
    await settle();
    await start().get(profile);
    open();
    const { token, fromCache } = await waiting;
    expect([reply.accessToken.reveal(), fromCache]).toEqual(['access-token-1', true]);
    expect([provider.requests.length, turns()]).toEqual([1, 0]);
  });

  it('shares a failure that came since', async () => {
    const { process, profile, provider, start, open, turns } = looking(machineProfile);
    const waiting = errorOf(process.get(profile));
    await settle();
    provider.next.push(json(403, { error: 'access_denied' }));
    await errorOf(start().get(profile));
    open();
    expect(await waiting).toMatchObject({ code: 'provider_rejected' });
    expect([provider.requests.length, turns()]).toEqual([1, 0]);
  });

  it('takes its turn where nothing came, within the time of the profile', async () => {
    const { process, profile, open, turns, waits } = looking();
    const waiting = process.get(profile);
    open();
    expect(await waiting).toBe('access-token-1');
    expect([turns(), waits]).toEqual([1, [30_000]]);
  });
});

describe('a profile that keeps nothing', () => {
  it('asks each time, and opens no store', async () => {
    const { start, profile, provider, store } = createTokenFixture(machineProfile);
    expect((await start().getToken(profile, { reuse: false })).fromCache).toBe(false);
    expect((await start().getToken(profile, { reuse: false })).fromCache).toBe(false);
    expect(provider.requests).toHaveLength(2);
    expect(await store.list()).toEqual([]);
  });

  it.each([{ refresh_token: '' }, {}])('may say refresh_token and hold none: %o', async (none) => {
    const { start, provider, store } = createTokenFixture();
    provider.next.push(json(200, { access_token: 'a' }));
    expect(await start().get(profileOf({ ...refreshProfile, ...none }), { reuse: false })).toBe('a');
    expect(await store.list()).toEqual([]);
  });

  it('may send a refresh token that another grant has no use for', async () => {
    const { start, store } = createTokenFixture();
    const beside = profileOf({ ...machineProfile, refresh_token: 'beside' });
    expect(await start().get(beside, { reuse: false })).toBe('access-token-1');
    expect(await store.list()).toEqual([]);
  });
});

describe('a store that fails', () => {
  const broken = (store: TokenStore): TokenStore => ({
    ...store,
    update: async () => {
      throw new OAuthProfileError('store_unwritable', 'no room is left');
    },
  });

  it('stops a refresh before anything is sent', async () => {
    const { profile, provider, store, clock } = createTokenFixture();
    const error = await errorOf(new TestProcess(provider, broken(store), clock).get(profile));
    expect(error).toMatchObject({ code: 'store_unwritable' });
    expect(provider.requests).toHaveLength(0);
  });

  it('draws a warning for other grants, which go on', async () => {
    const { profile, provider, store, clock } = createTokenFixture(machineProfile);
    const process = new TestProcess(provider, broken(store), clock);
    expect(await process.get(profile)).toBe('access-token-1');
    expect(process.warnings).toEqual(['the token is not kept: no room is left']);
  });

  it('draws the same warning where only the writing fails, and asks once', async () => {
    const { profile, provider, store, clock } = createTokenFixture(machineProfile);
    const full: TokenStore = {
      ...store,
      update: (name, change, wait) => {
        const write = async (): Promise<boolean> => {
          throw new OAuthProfileError('store_unwritable', 'no room is left');
        };
        return store.update(name, (held) => change({ ...held, write }), wait);
      },
    };
    const process = new TestProcess(provider, full, clock);
    expect(await process.get(profile)).toBe('access-token-1');
    expect(process.warnings).toEqual(['the token is not kept: no room is left']);
    expect(provider.requests).toHaveLength(1);
  });
});
