import { on } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../../src/ports.ts';
import { anyKey, longWait, put, StoreHome, storedRecord, withLock } from '../../support/store.ts';
import { buildStoreChild, StoreProcess } from '../store-process.ts';

let script: string;
let home: StoreHome;
let started: StoreProcess[];
const key = anyKey();

beforeAll(async () => {
  script = await buildStoreChild();
});

beforeEach(() => {
  home = new StoreHome();
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((one) => one.kill()));
  home.remove();
});

/** Starts a process that opens the vault. */
async function start(env: Record<string, string> = { OAUTH_PROFILE_KEY: key }): Promise<StoreProcess> {
  // The system keychain must not be used.
  const one = new StoreProcess(script, { ...home.env(env), DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' });
  started.push(one);
  await one.received('ready');
  return one;
}

/** Starts a process that holds the lock until it receives `release`. */
async function startOwner(): Promise<StoreProcess> {
  const owner = await start();
  owner.send('hold');
  await owner.received('holding');
  return owner;
}

const readNumber = async () => JSON.parse((await home.open(key).read('counter'))?.content.reveal() ?? '{}').number;
const ownerFiles = () => home.files().filter((file) => file.endsWith('.owner'));

describe('several processes', () => {
  it('increment one counter without losing an increment', async () => {
    const both = await Promise.all([start(), start()]);
    for (const one of both) one.send('count 100');
    for (const one of both) await one.received('counted');
    expect(await readNumber()).toBe(200);
    expect(home.leftovers()).toEqual([]);
  });

  it('that create a vault at the same time use the same key', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => start({})));
    for (const one of all) one.send('count 5');
    for (const one of all) await one.received('counted');
    expect((await home.open(undefined).read('counter'))?.version).toBe('20');
  });

  it('with many waiting callers each are all served after the owner releases the lock', async () => {
    const owner = await startOwner();
    const waiters = await Promise.all(Array.from({ length: 4 }, () => start()));
    for (const one of waiters) one.send('callers 20');
    for (const one of waiters) await one.received('waiting');
    owner.send('release');
    for (const one of waiters) await one.received('served');
    expect(home.leftovers()).toEqual([]);
  });

  it('get the lock even if one of them acquires it again and again', async () => {
    const busy = await start();
    busy.send('count 100000');
    await expect.poll(() => existsSync(home.vaultDirectory) && home.records()).toHaveLength(1);
    for (let times = 0; times < 3; times++) await withLock(home.open(key), 'counter', () => {});
  });
});

describe('a waiter with acceptIf', () => {
  /** Starts a process that holds the lock and writes the version `new` before it releases it. */
  async function startWriter(): Promise<StoreProcess> {
    const writer = await start();
    writer.send('write-late new');
    await writer.received('holding');
    return writer;
  }

  /** Waits in this process for the version `new`. `isWaiting` resolves with the first call of `acceptIf`. */
  function waitForNew(options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
    const vault = home.open(key);
    let notify = () => {};
    const isWaiting = new Promise<void>((resolve) => {
      notify = resolve;
    });
    const acceptIf = (record: StoredRecord | undefined) => {
      notify();
      return record?.version === 'new' ? 'accepted' : undefined;
    };
    const waiting = vault.lock('counter', { ...longWait, ...options, acceptIf });
    return { vault, isWaiting, waiting };
  }

  it('gets the record of another process without creating an owner file', async () => {
    const writer = await startWriter();
    const { isWaiting, waiting } = waitForNew();
    await isWaiting;
    expect(ownerFiles()).toHaveLength(1);
    writer.send('release');
    expect((await waiting).accepted).toBe('accepted');
    expect(await writer.received('written')).toBe('true');
    await withLock(home.open(key), 'counter', () => {});
    expect(home.leftovers()).toEqual([]);
  });

  it('gets the lock if the other process does not write such a record', async () => {
    const owner = await startOwner();
    const { isWaiting, waiting } = waitForNew();
    await isWaiting;
    owner.send('release');
    const lock = await waiting;
    expect(lock.accepted).toBeUndefined();
    await lock.release();
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('gets the lock if the other process ends by %s', async (signal) => {
    const owner = await startOwner();
    const { isWaiting, waiting } = waitForNew();
    await isWaiting;
    await owner.kill(signal);
    const lock = await waiting;
    expect(lock.accepted).toBeUndefined();
    await lock.release();
  });

  it('is rejected after its timeout with the PID of the owner, and leaves no files', async () => {
    const owner = await startOwner();
    await expect(waitForNew({ timeoutMs: 200 }).waiting).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining(`process ${owner.pid} `),
    });
    expect(ownerFiles()).toHaveLength(1);
  });

  it('can be aborted, and leaves no files', async () => {
    await startWriter();
    const controller = new AbortController();
    const { isWaiting, waiting } = waitForNew({ signal: controller.signal });
    await isWaiting;
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    expect(ownerFiles()).toHaveLength(1);
  });

  it('delays the close of its vault until it is served', async () => {
    const writer = await startWriter();
    const { vault, isWaiting, waiting } = waitForNew();
    await isWaiting;
    let closed = false;
    const closing = vault.close().then(() => {
      closed = true;
    });
    await expect(vault.lock('counter', longWait)).rejects.toThrow(TypeError);
    expect(closed).toBe(false);
    writer.send('release');
    expect((await waiting).accepted).toBe('accepted');
    await closing;
  });
});

describe('a lock owner', () => {
  it('excludes other processes until it releases the lock', async () => {
    const owner = await startOwner();
    await expect(home.open(key).lock('counter', { timeoutMs: 100, signal: undefined })).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining(`process ${owner.pid} `),
    });
    owner.send('release');
    await owner.received('done');
    await withLock(home.open(key), 'counter', () => {});
  });

  it('that is killed loses its lock to a waiter at once', async () => {
    const owner = await startOwner();
    const waiting = withLock(home.open(key), 'counter', () => 'acquired');
    await owner.kill();
    expect(await waiting).toBe('acquired');
    await put(home.open(key), 'counter', storedRecord('1'));
    expect(home.leftovers()).toEqual([]);
  });

  it('that is killed is followed by one owner at a time, with any number of waiters', async () => {
    const owner = await startOwner();
    const waiters = await Promise.all(Array.from({ length: 4 }, () => start()));
    for (const one of waiters) one.send('count 5');
    await owner.kill();
    for (const one of waiters) await one.received('counted');
    expect(await readNumber()).toBe(20);
    await withLock(home.open(key), 'another key', () => {});
    expect(home.leftovers()).toEqual([]);
  });

  it.each(['is killed', 'exits'])(
    'that %s with reserved space leaves stale files that the next owner removes',
    async (end) => {
      const owner = await start();
      owner.send('reserve');
      await owner.received('reserved');
      expect(home.leftovers().some((file) => file.endsWith('.reserve'))).toBe(true);
      if (end === 'exits') owner.send('exit');
      await (end === 'exits' ? owner.exited : owner.kill());
      await withLock(home.open(key), 'another key', () => {});
      expect(home.leftovers()).toEqual([]);
    },
  );

  it('that released its lock excludes no other process, even if its process is stopped', async () => {
    const owner = await startOwner();
    owner.send('release');
    await owner.received('done');
    owner.child.kill('SIGSTOP');
    await withLock(home.open(key), 'counter', () => {});
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('that closes its vault on %s leaves no files', async (signal) => {
    const owner = await start();
    owner.send('reserve');
    await owner.received('reserved');
    await owner.kill(signal);
    expect(home.leftovers()).toEqual([]);
    expect(await readNumber()).toBe(0);
  });

  it('that is a terminated worker thread loses its lock after a lease, while its process runs', async () => {
    const env = { ...home.env({ OAUTH_PROFILE_KEY: key }), DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' };
    const worker = new Worker(script, { argv: ['counter'], env, stdin: true, stdout: true });
    const lines = createInterface({ input: worker.stdout });
    const received = async (expected: string) => {
      for await (const line of on(lines, 'line')) if (String(line) === expected) return;
    };
    await received('ready');
    worker.stdin?.write('hold\n');
    await received('holding');
    await worker.terminate();
    await withLock(home.open(key), 'counter', () => {}, { timeoutMs: 20_000, signal: undefined });
    expect(home.leftovers().filter((file) => file.endsWith('.lock'))).toEqual([]);
  });
});
