import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OAuthProfileError } from '../../../src/errors.ts';
import { fromKept, readRecord, toKept } from '../../../src/flows/stored-record.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { readKeys, recordId, type SealedRecord, unseal } from '../../../src/store/encryption.ts';
import { ProtocolError, ReplyReader } from '../../../src/store/redis/redis-protocol.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { Keys } from '../../../src/store/vault/key-provider.ts';
import { Records } from '../../../src/store/vault/records.ts';
import { attempt, type Target } from '../target.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const ring = readKeys(Secret.untracked(KEY), 'the test');
const NAME = 'login graph';
const CONTENT = '{"kind":"login","profile":"graph"}';
/** The record of that name and content, sealed with that key once and for all. */
const sealed = Buffer.from(
  'T0FQUgHkudPMWQmHCbY8F/hYnOUZHIGTe0RiXJiZhsMietZfAdBFOlts7BIQeuAc00a43g0wNaAplYfWIf2ain+15hG+xzPANlbdqulUGWkjU8dCVgc01QGeY6JF5sze0roWE6zyy/4OJM9U63y+sisH0aDxs3BI8zhHRQB40lE685pmfJHewJBdW8rDy5ZYeDX1UGKw06KN2A==',
  'base64',
).toString('latin1');
const headerTokens = [
  'OAPR',
  'OAPR\u0001',
  'OAPR\u0002',
  '\u0000',
  '\u00ff'.repeat(16),
  sealed.slice(0, 29),
  sealed.slice(29),
];

/** Only what was sealed opens; all else is refused, and the refusal says where it stands. */
function checkOpened(input: string, record: SealedRecord | undefined, error: Error | undefined, where: string): void {
  if (error !== undefined) {
    assert.equal((error as OAuthProfileError).code, 'store_unreadable');
    assert.ok(error.message.includes(where), 'an error does not say what is unreadable');
    return;
  }
  assert.equal(input, sealed, 'a forged record is opened');
  assert.deepEqual([record?.name, record?.kept.content.reveal()], [NAME, CONTENT]);
}

const seal: Target = {
  name: 'sealed-record',
  seeds: [sealed, sealed.slice(0, 60)],
  tokens: headerTokens,
  check(input) {
    const bytes = Buffer.from(input, 'latin1');
    const { value, error } = attempt(() => unseal(bytes, recordId(ring[0], NAME), ring, 'the file'));
    checkOpened(bytes.toString('latin1'), value, error, 'the file');
  },
};

const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-fuzz-'));
chmodSync(folder, 0o700);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** The same in a file of the vault. */
const vault: Target = {
  name: 'vault-file',
  uncounted: true,
  runs: 25,
  seeds: [sealed, sealed.slice(0, 80)],
  tokens: headerTokens,
  check(input) {
    const records = new Records(folder);
    const bytes = Buffer.from(input, 'latin1');
    const file = records.file(NAME, ring[0]);
    writeFileSync(file, bytes, { mode: 0o600 });
    const { value, error } = attempt(() => records.find(NAME, ring));
    checkOpened(bytes.toString('latin1'), value, error, file);
    const all = attempt(() => records.all(ring));
    assert.equal(all.error?.message, error?.message, 'listed it is something else than found');
  },
};

/** What a vault remembers of its key. */
const note: Target = {
  name: 'vault-note',
  uncounted: true,
  runs: 25,
  seeds: ['{"version":1,"source":"file","key":"e4b9d3cc59098709"}', '{"version":2}', 'null'],
  tokens: ['"version":', '"source":', '"key":', '"keychain"', '"environment"', '1', 'null', '[]', '""'],
  check(input) {
    const keys = new Keys({}, new Records(folder), async () => assert.fail('the keychain is not asked for'));
    writeFileSync(keys.noteFile, input, { mode: 0o600 });
    const { value, error } = attempt(() => keys.note());
    if (error !== undefined) assert.equal((error as OAuthProfileError).code, 'store_unreadable');
    else assert.ok(value !== undefined && typeof value.key === 'string', 'a note without a key is taken');
  },
};

const keyText: Target = {
  name: 'key-text',
  seeds: [KEY, `${KEY},${Buffer.alloc(32, 9).toString('base64url')}`, ` ${KEY}\n`],
  tokens: [',', '=', '==', '-', '_', '+', '/', ' ', KEY],
  check(input) {
    const { value, error } = attempt(() => readKeys(new Secret(input), 'OAUTH_PROFILE_KEY'));
    if (error === undefined) {
      assert.ok(
        value.length > 0 && value.every(({ id, sealing }) => /^[0-9a-f]{16}$/.test(id) && sealing.length === 32),
      );
      return;
    }
    assert.equal((error as OAuthProfileError).code, 'store_unreadable');
    const told = `${error.message} ${(error as OAuthProfileError).hint}`;
    for (const item of input.split(',')) {
      assert.ok(item.trim().length < 20 || !told.includes(item.trim()), 'an error tells a key');
    }
  },
};

/** What a record holds comes back as it was; a program that meets another kind takes it for none. */
const kept: Target = {
  name: 'kept-record',
  seeds: ['login\ngraph\nabc', 'token\ngraph\n{"access_token":"x"}', 'family\ngraph\nr3fr3sh'],
  tokens: ['login', 'token', 'family', '\n', '{"', '\\', '\u2028'],
  check(input) {
    const [kind, profile = '', ...rest] = input.split('\n');
    const text = rest.join('\n');
    const token = {
      response: Secret.untracked(text),
      hadRefreshToken: true,
      startedAt: 1,
      obtainedAt: 2,
      expiresAt: undefined,
    };
    const record = { kind: 'token', profile, tokens: { [profile]: token }, failure: undefined } as const;
    const login = { kind: 'login', profile, family: text, replaced: [text], at: 1 } as const;
    if (kind === 'login') assert.deepEqual(readRecord(toKept(login, 'head')), login);
    else {
      const stored = toKept(record, 'head');
      assert.equal(fromKept(stored, 'login'), undefined);
      const found = fromKept(stored, 'token');
      assert.equal(found?.profile, profile);
      assert.equal(found?.tokens[profile]?.response.reveal(), text, 'a response comes back changed');
    }
  },
};

/** A Redis that answers every question for a record with the same bytes. */
let answer = '';
let opened: ReturnType<typeof openRedisStore> | undefined;

function openStore(): ReturnType<typeof openRedisStore> {
  opened ??= new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      let received = '';
      socket.setEncoding('latin1').on('data', (piece: string) => {
        received += piece;
        for (let taken = command(received); taken !== undefined; taken = command(received)) {
          received = received.slice(taken.length);
          socket.write(reply(taken.name), 'latin1');
        }
      });
      socket.on('error', () => {});
      socket.unref();
    });
    server.unref();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      openRedisStore(`redis://127.0.0.1:${port}`, { env: { OAUTH_PROFILE_KEY: KEY }, warn: () => {} }).then(
        resolve,
        reject,
      );
    });
  });
  return opened;
}

/** The first command in what came, if all of it is there. */
function command(text: string): { readonly name: string; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  let at = head?.[0].length ?? 0;
  let name = '';
  for (let left = Number(head?.[1] ?? 0); left > 0; left--) {
    const [line = '', size] = /^\$(\d+)\r\n/.exec(text.slice(at)) ?? [];
    if (size === undefined || text.length < at + line.length + Number(size) + 2) return undefined;
    name ||= text.slice(at + line.length, at + line.length + Number(size)).toUpperCase();
    at += line.length + Number(size) + 2;
  }
  return at === 0 ? undefined : { name, length: at };
}

function reply(name: string): string {
  const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
  if (name === 'TIME') return `*2\r\n${bulk('1798761600')}${bulk('0')}`;
  if (name === 'SMEMBERS') return '*0\r\n';
  if (name === 'MGET') return `*1\r\n${bulk(answer)}`;
  return name === 'INFO' ? bulk('aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n') : '+OK\r\n';
}

const STAMP = 'ab'.repeat(32);

const redis: Target = {
  name: 'redis-record',
  uncounted: true,
  runs: 25,
  seeds: [STAMP + sealed, STAMP, STAMP.slice(1) + sealed],
  tokens: [...headerTokens, STAMP, '\r\n', '$-1\r\n'],
  async check(input) {
    const store = await openStore();
    answer = Buffer.from(input, 'latin1').toString('latin1');
    let found: Awaited<ReturnType<typeof store.read>>;
    try {
      found = await store.read(NAME);
    } catch (error) {
      assert.ok(error instanceof OAuthProfileError);
      assert.equal(error.code, 'store_unreadable');
      return;
    }
    if (answer === '') assert.equal(found, undefined);
    else {
      assert.equal(answer.slice(64), sealed, 'a forged record is opened');
      assert.equal(found?.content.reveal(), CONTENT);
    }
  },
};

/** What a server says, read whole and in two pieces: both mean the same. */
const redisReply: Target = {
  name: 'redis-reply',
  seeds: ['+OK\r\n', '*2\r\n$3\r\na\r\n\r\n:-7\r\n', '-ERR no\r\n*-1\r\n$-1\r\n*0\r\n'],
  tokens: ['\r\n', '+', '-', ':', '$', '*', '$-1\r\n', '*2\r\n', '536870912'],
  check(input) {
    const bytes = Buffer.from(input, 'latin1');
    const read = (pieces: readonly Buffer[]): unknown => {
      const reader = new ReplyReader();
      try {
        return pieces.flatMap((piece) => reader.read(piece));
      } catch (error) {
        assert.ok(error instanceof ProtocolError);
        return 'no Redis';
      }
    };
    const middle = bytes.length >> 1;
    assert.deepEqual(read([bytes.subarray(0, middle), bytes.subarray(middle)]), read([bytes]));
  },
};

export const storeTargets: readonly Target[] = [seal, vault, note, keyText, kept, redis, redisReply];
