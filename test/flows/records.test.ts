import { describe, expect, it } from 'vitest';
import { OAuthProfileError, ProviderError } from '../../src/errors.ts';
import {
  type CachedError,
  type FamilyRecord,
  type LoginRecord,
  parseError,
  parseRecord,
  parseRecordOf,
  serializeError,
  serializeRecord,
  type TokenRecord,
} from '../../src/flows/records.ts';
import { Secret } from '../../src/redaction/secret.ts';

const token = {
  response: new Secret('{"access_token":"a"}'),
  hadRefreshToken: true,
  startedAt: 1,
  receivedAt: 2,
  expiresAt: 3,
};
const tokenRecord: TokenRecord = { kind: 'token', profile: 'svc', tokens: { k: token }, failure: undefined };
const family: FamilyRecord = {
  ...tokenRecord,
  kind: 'family',
  origin: 'https://id.test',
  client: 'c',
  refreshToken: new Secret('r'),
  tokenHashes: ['older', 'newest'],
  attempt: { sentAt: 1, until: 2 },
  cachedError: undefined,
  account: 'ada',
  scope: undefined,
};
const login: LoginRecord = { kind: 'login', profile: 'svc', family: 'x', replaced: ['y'], at: 7 };

describe('a record', () => {
  it.each([
    [tokenRecord, ''],
    [family, 'newest'],
    [login, 'x'],
  ] as const)('of the kind $kind can be stored and read, and its version is "%s"', (record, version) => {
    const stored = serializeRecord(record);
    expect(stored.version).toBe(version);
    const read = parseRecord(stored);
    expect(JSON.stringify(read)).toBe(JSON.stringify(record));
    expect(serializeRecord(read).content.reveal()).toBe(stored.content.reveal());
    if (read.kind !== 'login') expect(read.tokens['k']?.response).toBeInstanceOf(Secret);
    if (read.kind === 'family') expect(read.refreshToken?.reveal()).toBe('r');
  });

  it('is not returned as a record of another kind', () => {
    expect(parseRecordOf('token', serializeRecord(tokenRecord))).toMatchObject({ kind: 'token', profile: 'svc' });
    expect(parseRecordOf('family', serializeRecord(tokenRecord))).toBeUndefined();
    expect(parseRecordOf('family', serializeRecord(login))).toBeUndefined();
    expect(parseRecordOf('login', undefined)).toBeUndefined();
  });
});

describe('a stored error', () => {
  it.each([
    new OAuthProfileError('timeout', 'no response', { hint: 'wait' }),
    new ProviderError('provider_rejected', 'no', { hint: 'change it', provider: { status: 400, error: 'x' } }),
  ])('is restored with its class and data: $name', (error) => {
    const restored = parseError(serializeError(error) as CachedError);
    expect(restored).toBeInstanceOf(error.constructor);
    expect(JSON.stringify(restored)).toBe(JSON.stringify(error));
  });

  it('is never a bug', () => {
    expect(serializeError(new TypeError('a bug'))).toBeUndefined();
  });
});
