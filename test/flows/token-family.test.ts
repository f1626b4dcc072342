import { describe, expect, it } from 'vitest';
import { type FamilyRecord, type LoginRecord, serializeRecord } from '../../src/flows/records.ts';
import {
  assertBoundTo,
  createFamily,
  familyKey,
  findFamily,
  findLogin,
  findStoredGrant,
  hasRefreshToken,
  loginKey,
} from '../../src/flows/token-family.ts';
import type { TokenStore } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { failureOf } from '../support/errors.ts';
import { profileOf } from '../support/profiles.ts';
import { createPlainMemoryStore, put } from '../support/store.ts';

const fields = { type: 'custom', url: 'https://id.test/token', grant_type: 'refresh_token', client_id: 'app' };
const profile = profileOf({ ...fields, refresh_token: 'first' });
const binding = { origin: 'https://id.test', clientId: 'app' };

/** The family of `first` and its successor `newest`. */
function familyIn(store: TokenStore, changes: Partial<FamilyRecord> = {}): FamilyRecord {
  return {
    ...createFamily(profile, new Secret('newest'), store),
    tokenHashes: ['first', 'newest'].map((token) => familyKey(binding, token, store)),
    ...changes,
  };
}

const write = (store: TokenStore, key: string, record: FamilyRecord | LoginRecord): Promise<void> =>
  put(store, key, serializeRecord(record));

describe('a token family', () => {
  it('is found by its first refresh token, by a later one, and by the key of a login', async () => {
    const store = createPlainMemoryStore();
    const key = familyKey(binding, 'first', store);
    await write(store, key, familyIn(store));
    const expected = { key, record: { version: familyKey(binding, 'newest', store) } };
    expect(await findFamily(profile, store)).toMatchObject(expected);
    expect(await findFamily(profileOf({ ...fields, refresh_token: 'newest' }), store)).toMatchObject(expected);
    expect(await findFamily({ ...profile, family: key, fields: [] }, store)).toMatchObject(expected);
  });

  it('is found among records of other kinds', async () => {
    const store = createPlainMemoryStore();
    const tokenRecord = { kind: 'token', profile: 'svc', tokens: {}, failure: undefined } as const;
    await put(store, 'another-kind', serializeRecord(tokenRecord));
    await write(store, familyKey(binding, 'first', store), familyIn(store));
    expect(await findFamily(profileOf({ ...fields, refresh_token: 'newest' }), store)).toMatchObject({
      record: { version: familyKey(binding, 'newest', store) },
    });
  });

  it('and a login have keys that do not change between versions', () => {
    const store = createPlainMemoryStore();
    const keys = [familyKey(binding, 'first', store), loginKey('svc', binding, store)];
    const values = ['["family","https://id.test","app","first"]', '["login","svc","https://id.test","app"]'];
    expect(keys).toEqual(values.map(store.fingerprint));
  });

  it.each([
    ['an unknown refresh token', { refresh_token: 'unknown' }],
    ['another client', { refresh_token: 'newest', client_id: 'other' }],
    ['another server', { refresh_token: 'newest', url: 'https://other.test/token' }],
  ])('is a new one for %s', async (_, changes) => {
    const store = createPlainMemoryStore();
    await write(store, familyKey(binding, 'first', store), familyIn(store));
    const other = profileOf({ ...fields, ...changes });
    const clientId = 'client_id' in changes ? String(changes.client_id) : 'app';
    expect(await findFamily(other, store)).toEqual({
      key: familyKey({ origin: other.url.origin, clientId }, changes.refresh_token, store),
      record: undefined,
    });
  });

  it.each([
    ['with a refresh token', { ...fields, refresh_token: 'first' }, true],
    ['without a refresh token', fields, false],
    ['with an empty refresh token', { ...fields, refresh_token: '' }, false],
    ['with another grant', { ...fields, grant_type: 'client_credentials', refresh_token: 'first' }, false],
  ])('belongs to a profile %s: %s', (_, changed, expected) => {
    expect(hasRefreshToken(profileOf(changed))).toBe(expected);
  });

  it('is rejected if it is bound to another server or client', () => {
    const store = createPlainMemoryStore();
    expect(() => assertBoundTo(familyIn(store), profile, store)).not.toThrow();
    for (const change of [{ origin: 'https://other.test' }, { client: store.fingerprint('other') }]) {
      const error = failureOf(() => assertBoundTo(familyIn(store, change), profile, store));
      expect(error.code).toBe('store_unreadable');
      expect(error.hint).toContain('oauth-profile login svc');
    }
  });
});

describe('a stored login', () => {
  /** The grant of a login that replaced the configured refresh token `before`. */
  async function storedGrant(configured?: string, changes: Partial<FamilyRecord> = {}) {
    const store = createPlainMemoryStore();
    const login: LoginRecord = {
      kind: 'login',
      profile: 'svc',
      family: 'the-family',
      replaced: [store.fingerprint('before')],
      at: 0,
    };
    await write(store, loginKey('svc', binding, store), login);
    await write(store, 'the-family', familyIn(store, changes));
    return findStoredGrant('svc', binding, configured, store);
  }

  it.each([undefined, 'before', 'first', 'newest'])(
    'is used if the configured refresh token is %s',
    async (configured) => {
      const grant = await storedGrant(configured);
      expect([grant?.family, grant?.refreshToken?.reveal()]).toEqual(['the-family', 'newest']);
    },
  );

  it('is not used if another refresh token was configured after it', async () => {
    expect(await storedGrant('configured later')).toBeUndefined();
  });

  it('is not used if its family is bound to another server or client', async () => {
    expect(await storedGrant(undefined, { origin: 'https://other.test' })).toBeUndefined();
    expect(await storedGrant(undefined, { client: 'other' })).toBeUndefined();
  });

  it('is not found without its family or for another profile', async () => {
    const store = createPlainMemoryStore();
    const login: LoginRecord = { kind: 'login', profile: 'svc', family: 'deleted', replaced: [], at: 0 };
    await write(store, loginKey('svc', binding, store), login);
    expect(await findLogin('svc', binding, store)).toBeUndefined();
    await write(store, 'deleted', familyIn(store));
    expect(await findLogin('svc', binding, store)).toMatchObject({ login, family: { origin: 'https://id.test' } });
    expect(await findLogin('other', binding, store)).toBeUndefined();
  });
});
