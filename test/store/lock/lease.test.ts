import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/redaction/secret.ts';
import { parseKeys, recordId } from '../../../src/store/encryption.ts';
import { anyKey, put, StoreHome, storedRecord, withLock } from '../../support/store.ts';
import { buildStoreChild, StoreProcess } from '../store-process.ts';

/** Longer than the lease of 5 s. */
const PAST_LEASE_MS = 6500;
const OTHER_NAMESPACE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

let script: string;

beforeAll(async () => {
  script = await buildStoreChild();
});

function canUnshare(): boolean {
  try {
    execFileSync(OTHER_NAMESPACE[0] as string, [...OTHER_NAMESPACE.slice(1), 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** PIDs of the processes in the namespace that `pid` created. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

/** Runs a test with a new vault and a process that holds a lock in it. */
async function withOwner(
  command: string,
  wrapper: readonly string[],
  test: (owner: StoreProcess, home: StoreHome, key: string) => Promise<void>,
): Promise<void> {
  const home = new StoreHome();
  const key = anyKey();
  await put(home.open(key), 'counter', storedRecord('one'));
  const owner = new StoreProcess(script, home.env({ OAUTH_PROFILE_KEY: key }), [], wrapper);
  try {
    owner.send(command);
    await owner.received('holding');
    await test(owner, home, key);
  } finally {
    owner.child.kill('SIGCONT');
    await owner.kill();
    home.remove();
  }
}

/** A vault with a record, and the path of the record's lock. */
async function createVault(): Promise<{ home: StoreHome; key: string; lockFile: string }> {
  const home = new StoreHome();
  const key = anyKey();
  await put(home.open(key), 'a', storedRecord('one'));
  const [first] = parseKeys(new Secret(key), 'the key');
  return { home, key, lockFile: join(home.vaultDirectory, `${recordId(first, 'a')}.lock`) };
}

/** Tests with an owner in another PID namespace, which needs root. */
const itWithNamespace = it.skipIf(!canUnshare());
const pastLease = { timeoutMs: PAST_LEASE_MS, signal: undefined };
const locksLeft = (home: StoreHome) => home.leftovers().filter((file) => !file.endsWith('.owner'));

describe.concurrent('the lock', () => {
  it('of a stopped process on this machine is never taken over', async () => {
    await withOwner('hold', [], async (owner, home, key) => {
      owner.child.kill('SIGSTOP');
      await expect(home.open(key).lock('counter', pastLease)).rejects.toMatchObject({
        code: 'store_locked',
        message: expect.stringContaining(`process ${owner.pid} `),
      });
      const waiting = withLock(home.open(key), 'counter', () => 'acquired');
      owner.child.kill('SIGCONT');
      owner.send('release');
      await owner.received('done');
      expect(await waiting).toBe('acquired');
      expect(locksLeft(home)).toEqual([]);
    });
  });

  it('that lost its content in a power failure is taken over after a lease', async () => {
    const { home, key, lockFile } = await createVault();
    writeFileSync(lockFile, '', { mode: 0o600 });
    const early = home.open(key).lock('a', { timeoutMs: 3000, signal: undefined });
    await expect(early).rejects.toMatchObject({ code: 'store_locked' });
    await withLock(home.open(key), 'a', () => {});
    expect(locksLeft(home)).toEqual([]);
    home.remove();
  });

  it('is required to write a journal or to remove the record, but not to write a new version', async () => {
    const { home, key, lockFile } = await createVault();
    await withLock(home.open(key), 'a', async (lock) => {
      rmSync(lockFile);
      writeFileSync(lockFile, 'the next owner', { mode: 0o600 });
      expect(await lock.write(storedRecord('one', '{"journal":1}'), { reserve: true })).toBe(false);
      await expect(lock.remove()).rejects.toMatchObject({ code: 'store_locked' });
      expect(await lock.write(storedRecord('rotated'))).toBe(true);
    });
    expect((await home.open(key).read('a'))?.version).toBe('rotated');
    home.remove();
  });

  itWithNamespace('of a running process in another namespace is not taken over', async () => {
    await withOwner('hold', OTHER_NAMESPACE, async (owner, home, key) => {
      await expect(home.open(key).lock('counter', pastLease)).rejects.toMatchObject({ code: 'store_locked' });
      owner.send('release');
      await owner.received('done');
      await withLock(home.open(key), 'counter', () => {});
    });
  });

  itWithNamespace('of an ended process in another namespace is taken over after a lease, not before', async () => {
    await withOwner('hold', OTHER_NAMESPACE, async (owner, home, key) => {
      await owner.kill();
      const early = home.open(key).lock('counter', { timeoutMs: 2500, signal: undefined });
      await expect(early).rejects.toMatchObject({ code: 'store_locked' });
      await withLock(home.open(key), 'counter', () => {});
      expect(locksLeft(home)).toEqual([]);
    });
  });

  itWithNamespace(
    'of a suspended process is taken over, and the new owner does not overwrite the version it wrote later',
    async () => {
      await withOwner('write-late rotated', OTHER_NAMESPACE, async (owner, home, key) => {
        const pids = childrenOf(owner.pid);
        for (const pid of pids) process.kill(pid, 'SIGSTOP');
        await withLock(home.open(key), 'counter', async (lock) => {
          expect(await lock.write(storedRecord('one', '{"journal":1}'))).toBe(true);
          for (const pid of pids) process.kill(pid, 'SIGCONT');
          owner.send('release');
          expect(await owner.received('written')).toBe('true');
          expect(await lock.write(storedRecord('two'))).toBe(false);
          expect((await lock.reload())?.version).toBe('rotated');
        });
        expect((await home.open(key).read('counter'))?.version).toBe('rotated');
        await withLock(home.open(key), 'counter', () => {});
        expect(locksLeft(home)).toEqual([]);
      });
    },
  );

  itWithNamespace(
    'of a suspended process is taken over, and it does not overwrite the version of the new owner',
    async () => {
      await withOwner('write-late rotated', OTHER_NAMESPACE, async (owner, home, key) => {
        const pids = childrenOf(owner.pid);
        for (const pid of pids) process.kill(pid, 'SIGSTOP');
        await put(home.open(key), 'counter', storedRecord('two'));
        for (const pid of pids) process.kill(pid, 'SIGCONT');
        owner.send('release');
        expect(await owner.received('written')).toBe('false');
        expect((await home.open(key).read('counter'))?.version).toBe('two');
      });
    },
  );
});
