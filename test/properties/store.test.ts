import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OAuthProfileError } from '../../src/errors.ts';
import { parseRecord, parseRecordOf, serializeRecord } from '../../src/flows/records.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { decryptRecord, parseKeys, type RecordPlaintext, recordId } from '../../src/store/encryption.ts';
import { Records } from '../../src/store/vault/records.ts';
import { CONTENT, encrypted, headerTokens, KEY, keys, NAME } from './encrypted-record.ts';
import { callTwice, itHolds } from './mutated-input.ts';

/** Only the authentic record is accepted; every other input is an error that names the file. */
function checkDecrypted(
  input: string,
  record: RecordPlaintext | undefined,
  error: Error | undefined,
  where: string,
): void {
  if (error !== undefined) {
    assert.equal((error as OAuthProfileError).code, 'store_unreadable');
    assert.ok(error.message.includes(where), 'an error does not name the file');
    return;
  }
  assert.equal(input, encrypted, 'a forged record is accepted');
  assert.deepEqual([record?.key, record?.content.reveal()], [NAME, CONTENT]);
}

itHolds('decrypts only the authentic record', {
  seeds: [encrypted, encrypted.slice(0, 60)],
  tokens: headerTokens,
  check(input) {
    const bytes = Buffer.from(input, 'latin1');
    const { value, error } = callTwice(() => decryptRecord(bytes, recordId(keys[0], NAME), keys, 'the file'));
    checkDecrypted(bytes.toString('latin1'), value, error, 'the file');
  },
});

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-properties-'));
mkdirSync(join(directory, keys[0].id), { mode: 0o700 });
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

itHolds('reads only the authentic record from a file', {
  runs: 25,
  seeds: [encrypted, encrypted.slice(0, 80)],
  tokens: headerTokens,
  check(input) {
    const records = new Records(directory, keys);
    const bytes = Buffer.from(input, 'latin1');
    const file = records.file(NAME);
    writeFileSync(file, bytes, { mode: 0o600 });
    const { value, error } = callTwice(() => records.find(NAME));
    checkDecrypted(bytes.toString('latin1'), value, error, file);
    const all = callTwice(() => records.list());
    assert.equal(all.error?.message, error?.message, 'list and find return different errors');
  },
});

itHolds('accepts only 32-byte keys, without keys in errors', {
  seeds: [KEY, `${KEY},${Buffer.alloc(32, 9).toString('base64url')}`, ` ${KEY}\n`],
  tokens: [',', '=', '==', '-', '_', '+', '/', ' ', KEY],
  check(input) {
    const { value, error } = callTwice(() => parseKeys(new Secret(input), 'OAUTH_PROFILE_KEY'));
    if (error === undefined) {
      assert.ok(
        value.length > 0 && value.every(({ id, encryption }) => /^[0-9a-f]{16}$/.test(id) && encryption.length === 32),
      );
      return;
    }
    assert.equal((error as OAuthProfileError).code, 'store_unreadable');
    const printed = `${error.message} ${(error as OAuthProfileError).hint}`;
    for (const item of input.split(',')) {
      assert.ok(item.trim().length < 20 || !printed.includes(item.trim()), 'an error contains a key');
    }
  },
});

itHolds('restores a record as it was stored', {
  seeds: ['login\ngraph\nabc', 'token\ngraph\n{"access_token":"x"}', 'family\ngraph\nr3fr3sh'],
  tokens: ['login', 'token', 'family', '\n', '{"', '\\', '\u2028'],
  check(input) {
    const [kind, profile = '', ...rest] = input.split('\n');
    const text = rest.join('\n');
    const token = {
      response: Secret.untracked(text),
      hadRefreshToken: true,
      startedAt: 1,
      receivedAt: 2,
      expiresAt: undefined,
    };
    const record = { kind: 'token', profile, tokens: { [profile]: token }, failure: undefined } as const;
    const login = { kind: 'login', profile, family: text, replaced: [text], at: 1 } as const;
    if (kind === 'login') assert.deepEqual(parseRecord(serializeRecord(login)), login);
    else {
      const stored = serializeRecord(record);
      assert.equal(parseRecordOf('login', stored), undefined);
      const found = parseRecordOf('token', stored);
      assert.equal(found?.profile, profile);
      assert.equal(found?.tokens[profile]?.response.reveal(), text, 'the response has changed');
    }
  },
});
