import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/redaction/secret.ts';
import { readKeys, recordId } from '../../../src/store/encryption.ts';
import { anyKey, kept, patient, put, StoreHome } from '../../support/store-home.ts';
import { buildStoreChild, StoreProcess } from '../../support/store-process.ts';

/** Longer than a lease of 5 s. */
const PAST_LEASE_MS = 6500;
const ELSEWHERE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

let script: string;

beforeAll(async () => {
  script = await buildStoreChild();
});

function canUnshare(): boolean {
  try {
    execFileSync(ELSEWHERE[0] as string, [...ELSEWHERE.slice(1), 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Who runs in the namespace that a process made. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

/** A vault of its own and a process that holds a name in it. */
async function withHolder(
  act: string,
  wrap: readonly string[],
  test: (holder: StoreProcess, home: StoreHome, key: string) => Promise<void>,
): Promise<void> {
  const home = new StoreHome();
  const key = anyKey();
  await put(home.open(key), 'counter', kept('one'));
  const holder = new StoreProcess(script, home.env({ OAUTH_PROFILE_KEY: key }), [], wrap);
  try {
    holder.tell(act);
    await holder.said('holding');
    await test(holder, home, key);
  } finally {
    holder.child.kill('SIGCONT');
    await holder.kill();
    home.remove();
  }
}

/** In another namespace, which not everybody may make. */
const elsewhere = it.skipIf(!canUnshare());
const impatient = { timeoutMs: PAST_LEASE_MS, signal: undefined };
const litter = (home: StoreHome) => home.files().filter((file) => !/\.(?:sealed|json|owner)$/.test(file));

describe.concurrent('a lock', () => {
  it('of a holder on this machine who is stopped is never taken, however long', async () => {
    await withHolder('hold', [], async (holder, home, key) => {
      holder.child.kill('SIGSTOP');
      const late = home.open(key).update('counter', async () => 'in', impatient);
      await expect(late).rejects.toMatchObject({
        code: 'store_locked',
        message: expect.stringContaining(`process ${holder.pid} is still busy`),
      });
      const patiently = home.open(key).update('counter', async () => 'in', patient);
      holder.child.kill('SIGCONT');
      holder.tell('release');
      await holder.said('done');
      expect(await patiently).toBe('in');
      expect(litter(home)).toEqual([]);
    });
  });

  it('that lost its content with the power is taken after a lease', async () => {
    const home = new StoreHome();
    const key = anyKey();
    await put(home.open(key), 'a', kept('one'));
    const [{ id }] = readKeys(new Secret(key), 'it').map((one) => ({ id: recordId(one, 'a') })) as [{ id: string }];
    writeFileSync(join(home.vaultFolder, `${id}.lock`), '', { mode: 0o600 });
    const early = home.open(key).update('a', async () => 'in', { timeoutMs: 3000, signal: undefined });
    await expect(early).rejects.toMatchObject({ code: 'store_locked' });
    expect(await home.open(key).update('a', async () => 'in', patient)).toBe('in');
    expect(litter(home)).toEqual([]);
    home.remove();
  });

  it('that was taken lets its former holder announce and remove nothing; what only it has it still writes', async () => {
    const home = new StoreHome();
    const key = anyKey();
    await put(home.open(key), 'a', kept('one'));
    const [{ id }] = readKeys(new Secret(key), 'it').map((one) => ({ id: recordId(one, 'a') })) as [{ id: string }];
    const lock = join(home.vaultFolder, `${id}.lock`);
    await home.open(key).update(
      'a',
      async (held) => {
        rmSync(lock);
        writeFileSync(lock, 'the next holder', { mode: 0o600 });
        expect(await held.write(kept('one', '{"journal":1}'), { reserve: true })).toBe(false);
        await expect(held.remove()).rejects.toMatchObject({ code: 'store_locked' });
        expect(await held.write(kept('rotated'))).toBe(true);
      },
      patient,
    );
    expect((await home.open(key).read('a'))?.head).toBe('rotated');
    home.remove();
  });

  elsewhere('of a holder elsewhere that lives is not taken, though its process number says nothing here', async () => {
    await withHolder('hold', ELSEWHERE, async (holder, home, key) => {
      const late = home.open(key).update('counter', async () => 'in', impatient);
      await expect(late).rejects.toMatchObject({ code: 'store_locked' });
      holder.tell('release');
      await holder.said('done');
      expect(await home.open(key).update('counter', async () => 'in', patient)).toBe('in');
    });
  });

  elsewhere('of a holder elsewhere who died is taken after a lease, not before', async () => {
    await withHolder('hold', ELSEWHERE, async (holder, home, key) => {
      await holder.kill();
      const early = home.open(key).update('counter', async () => 'in', { timeoutMs: 2500, signal: undefined });
      await expect(early).rejects.toMatchObject({ code: 'store_locked' });
      expect(await home.open(key).update('counter', async () => 'in', patient)).toBe('in');
      expect(litter(home)).toEqual([]);
    });
  });

  elsewhere('of a holder elsewhere was taken, and it still writes what only it has; its follower notices', async () => {
    await withHolder('write-late rotated', ELSEWHERE, async (holder, home, key) => {
      const pids = childrenOf(holder.pid);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await home.open(key).update(
        'counter',
        async (held) => {
          expect(await held.write(kept('one', '{"journal":1}'))).toBe(true);
          for (const pid of pids) process.kill(pid, 'SIGCONT');
          holder.tell('release');
          expect(await holder.said('written')).toBe('true');
          expect(await held.write(kept('two'))).toBe(false);
          expect((await held.readAgain())?.head).toBe('rotated');
        },
        patient,
      );
      expect((await home.open(key).read('counter'))?.head).toBe('rotated');
      expect(await home.open(key).update('counter', async () => 'in', patient)).toBe('in');
      expect(litter(home)).toEqual([]);
    });
  });

  elsewhere('of a holder elsewhere was taken, and it writes nothing over what its follower wrote', async () => {
    await withHolder('write-late rotated', ELSEWHERE, async (holder, home, key) => {
      const pids = childrenOf(holder.pid);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      expect(await home.open(key).update('counter', (held) => held.write(kept('two')), patient)).toBe(true);
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      holder.tell('release');
      expect(await holder.said('written')).toBe('false');
      expect((await home.open(key).read('counter'))?.head).toBe('two');
    });
  });
});
