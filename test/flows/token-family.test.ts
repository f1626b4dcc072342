import { describe, expect, it } from 'vitest';
import { type FamilyRecord, type LoginRecord, serializeRecord } from '../../src/flows/records.ts';
import {
  createFamily,
  familyName,
  findFamily,
  findLogin,
  loginName,
  refuseForeign,
} from '../../src/flows/token-family.ts';
import type { TokenStore } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { FakeClock } from '../support/fake-ports.ts';
import { profileOf } from '../support/profile-of.ts';
import { failureOf } from '../support/resolving.ts';

const fields = { type: 'custom', url: 'https://id.test/token', grant_type: 'refresh_token', client_id: 'app' };
const profile = profileOf({ ...fields, refresh_token: 'first' });
const binding = { origin: 'https://id.test', clientId: 'app' };

function chainOf(store: TokenStore, changes: Partial<FamilyRecord> = {}): FamilyRecord {
  return {
    ...createFamily(profile, new Secret('newest'), store),
    tokenHashes: [store.fingerprint('first'), store.fingerprint('newest')],
    ...changes,
  };
}

const keep = (store: TokenStore, name: string, record: FamilyRecord | LoginRecord): Promise<boolean> =>
  store.update(name, (held) => held.write(serializeRecord(record)), { timeoutMs: 1_000, signal: undefined });

describe('the family of a refresh token', () => {
  it('is found by its first member, by any other, and by the name that a login gave', async () => {
    const store = createMemoryStore(new FakeClock());
    const name = familyName(binding, 'first', store);
    await keep(store, name, chainOf(store));
    expect(await findFamily(profile, store)).toMatchObject({ name, kept: { head: 'head' } });
    expect(await findFamily(profileOf({ ...fields, refresh_token: 'newest' }), store)).toMatchObject({
      name,
      kept: { head: 'head' },
    });
    expect(await findFamily({ ...profile, family: name, fields: [] }, store)).toMatchObject({
      name,
      kept: { head: 'head' },
    });
  });

  it('is found among records of other kinds', async () => {
    const store = createMemoryStore(new FakeClock());
    const token = { kind: 'token', profile: 'svc', tokens: {}, failure: undefined } as const;
    const wait = { timeoutMs: 1_000, signal: undefined };
    await store.update('of-another-kind', (held) => held.write(serializeRecord(token)), wait);
    await keep(store, familyName(binding, 'first', store), chainOf(store));
    expect(await findFamily(profileOf({ ...fields, refresh_token: 'newest' }), store)).toMatchObject({
      kept: { head: 'head' },
    });
  });

  it('is kept, as a login is, under a name that other versions know', () => {
    const store = createMemoryStore(new FakeClock());
    const names = [familyName(binding, 'first', store), loginName('svc', binding, store)];
    const texts = ['["family","https://id.test","app","first"]', '["login","svc","https://id.test","app"]'];
    expect(names).toEqual(texts.map(store.fingerprint));
  });

  it('begins with a value that nobody knows, is of another client, or of another server', async () => {
    const store = createMemoryStore(new FakeClock());
    await keep(store, familyName(binding, 'first', store), chainOf(store));
    for (const other of [
      { refresh_token: 'unknown' },
      { refresh_token: 'newest', client_id: 'other' },
      { refresh_token: 'newest', url: 'https://other.test/token' },
    ]) {
      const asked = profileOf({ ...fields, ...other });
      const { name, kept } = await findFamily(asked, store);
      expect(kept).toBeUndefined();
      const own = { origin: asked.url.origin, clientId: other.client_id ?? 'app' };
      expect(name).toBe(familyName(own, other.refresh_token, store));
    }
  });

  it('cannot be of a profile without a refresh token', async () => {
    const store = createMemoryStore(new FakeClock());
    await expect(findFamily({ ...profile, fields: [] }, store)).rejects.toThrow(
      new TypeError('a profile without a refresh token was not checked'),
    );
  });

  it('is never sent elsewhere', () => {
    const store = createMemoryStore(new FakeClock());
    expect(() => refuseForeign(chainOf(store), profile, store)).not.toThrow();
    for (const change of [{ origin: 'https://other.test' }, { client: store.fingerprint('other') }]) {
      expect(failureOf(() => refuseForeign(chainOf(store, change), profile, store))).toMatchObject({
        code: 'store_unreadable',
        message: 'the kept refresh token of svc is bound elsewhere',
        hint: 'run: oauth-profile login svc',
      });
    }
  });
});

describe('a login that is kept', () => {
  async function found(pasted?: string, changes: Partial<FamilyRecord> = {}, replaced = ['before']) {
    const store = createMemoryStore(new FakeClock());
    const name = loginName('svc', binding, store);
    const login = {
      kind: 'login',
      profile: 'svc',
      family: 'the-family',
      replaced: replaced.map(store.fingerprint),
      at: 0,
    };
    await keep(store, name, login as LoginRecord);
    await keep(store, 'the-family', chainOf(store, changes));
    return findLogin({ name: 'svc', configuredRefreshToken: pasted }, binding, store);
  }

  it.each([undefined, 'before', 'first', 'newest'])('serves a profile that holds %s', async (pasted) => {
    const login = await found(pasted);
    expect([login?.family, login?.refreshToken.reveal()]).toEqual(['the-family', 'newest']);
  });

  it('gives way to what was pasted since', async () => {
    expect(await found('pasted since')).toBeUndefined();
  });

  it('does not serve where its family is of another server or client, or gone', async () => {
    expect(await found(undefined, { origin: 'https://other.test' })).toBeUndefined();
    expect(await found(undefined, { client: 'other' })).toBeUndefined();
    const store = createMemoryStore(new FakeClock());
    const login: LoginRecord = { kind: 'login', profile: 'svc', family: 'gone', replaced: [], at: 0 };
    await keep(store, loginName('svc', binding, store), login);
    expect(await findLogin({ name: 'svc', configuredRefreshToken: undefined }, binding, store)).toBeUndefined();
    expect(await findLogin({ name: 'other', configuredRefreshToken: undefined }, binding, store)).toBeUndefined();
  });
});
