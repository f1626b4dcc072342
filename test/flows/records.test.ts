import { describe, expect, it } from 'vitest';
import { OAuthProfileError, ProviderError } from '../../src/errors.ts';
import {
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
  obtainedAt: 2,
  expiresAt: 3,
};
const machine: TokenRecord = { kind: 'token', profile: 'svc', tokens: { k: token }, failure: undefined };
const family: FamilyRecord = {
  ...machineProfile,
  kind: 'family',
  origin: 'https://id.test',
  client: 'c',
  refreshToken: new Secret('r'),
  tokenHashes: ['m'],
  attempt: { sentAt: 1, until: 2 },
  cachedError: undefined,
  account: 'ada',
  scope: undefined,
};
const login: LoginRecord = { kind: 'login', profile: 'svc', family: 'x', replaced: ['y'], at: 7 };

describe('a record', () => {
  it.each([
    ['token', machine],
    ['family', family],
    ['login', login],
  ] as const)('of the kind %s comes back as it was, its secrets wrapped', (_, record) => {
    const { head, content } = serializeRecord(record);
    expect(head).toBe('the head');
    const read = parseRecord({ head, content });
    expect(JSON.stringify(read)).toBe(JSON.stringify(record));
    expect(serializeRecord(read).content.reveal()).toBe(content.reveal());
    if (read.kind !== 'login') expect(read.tokens['k']?.response).toBeInstanceOf(Secret);
    if (read.kind === 'family') expect(read.refreshToken.reveal()).toBe('r');
  });

  it('is none of another kind', () => {
    expect(parseRecordOf(serializeRecord(machineProfile), 'token')).toMatchObject({ kind: 'token', profile: 'svc' });
    expect(parseRecordOf(serializeRecord(machineProfile), 'family')).toBeUndefined();
    expect(parseRecordOf(serializeRecord(login), 'family')).toBeUndefined();
    expect(parseRecordOf('login', undefined)).toBeUndefined();
  });
});

describe('an error that is kept', () => {
  it('is the same for who waited', () => {
    const plain = new OAuthProfileError('timeout', 'too late', { hint: 'wait' });
    const refused = new ProviderError('provider_rejected', 'no', {
      hint: 'ask',
      provider: { status: 400, error: 'x' },
    });
    for (const error of [plain, refused]) {
      const again = parseError(serializeError(error) as never);
      expect(again).toBeInstanceOf(error.constructor);
      expect(JSON.stringify(again)).toBe(JSON.stringify(error));
    }
  });

  it('is none where it is a bug', () => {
    expect(serializeError(new TypeError('bug'))).toBeUndefined();
  });
});
