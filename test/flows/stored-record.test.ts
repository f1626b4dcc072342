import { describe, expect, it } from 'vitest';
import { OAuthProfileError, ProviderError } from '../../src/errors.ts';
import {
  type FamilyRecord,
  fromKept,
  fromKeptError,
  type LoginRecord,
  readRecord,
  type TokenRecord,
  toKept,
  toKeptError,
} from '../../src/flows/stored-record.ts';
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
  ...machine,
  kind: 'family',
  origin: 'https://id.test',
  client: 'c',
  refreshToken: new Secret('r'),
  members: ['m'],
  attempt: { sentAt: 1, until: 2 },
  refusal: undefined,
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
    const { head, content } = toKept(record, 'the head');
    expect(head).toBe('the head');
    const read = readRecord({ head, content });
    expect(JSON.stringify(read)).toBe(JSON.stringify(record));
    expect(toKept(read, head).content.reveal()).toBe(content.reveal());
    if (read.kind !== 'login') expect(read.tokens['k']?.response).toBeInstanceOf(Secret);
    if (read.kind === 'family') expect(read.refreshToken.reveal()).toBe('r');
  });

  it('is none of another kind', () => {
    expect(fromKept(toKept(machine, ''), 'token')).toMatchObject({ kind: 'token', profile: 'svc' });
    expect(fromKept(toKept(machine, ''), 'family')).toBeUndefined();
    expect(fromKept(toKept(login, ''), 'family')).toBeUndefined();
    expect(fromKept(undefined, 'login')).toBeUndefined();
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
      const again = fromKeptError(toKeptError(error) as never);
      expect(again).toBeInstanceOf(error.constructor);
      expect(JSON.stringify(again)).toBe(JSON.stringify(error));
    }
  });

  it('is none where it is a bug', () => {
    expect(toKeptError(new TypeError('bug'))).toBeUndefined();
  });
});
