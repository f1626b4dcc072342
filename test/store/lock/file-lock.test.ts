import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Kept } from '../../../src/ports.ts';
import { anyKey, kept, patient, put, StoreHome } from '../../support/store-home.ts';
import { buildStoreChild, StoreProcess } from '../../support/store-process.ts';

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

/** A process that has opened the vault. */
async function start(env: Record<string, string> = { OAUTH_PROFILE_KEY: key }): Promise<StoreProcess> {
  // Nothing of the system's keychain must be touched.
  const one = new StoreProcess(script, { ...home.env(env), DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' });
  started.push(one);
  await one.said('ready');
  return one;
}

/** One that has the turn, until it is told to let go. */
async function startHolder(): Promise<StoreProcess> {
  const holder = await start();
  holder.tell('hold');
  await holder.said('holding');
  return holder;
}

const litter = () => home.files().filter((file) => !file.endsWith('.sealed') && file !== 'vault.json');
const read = async () => JSON.parse((await home.open(key).read('counter'))?.content.reveal() ?? '{}').number;

describe('several processes', () => {
  it('count together without losing one', async () => {
    const both = await Promise.all([start(), start()]);
    for (const one of both) one.tell('count 100');
    for (const one of both) await one.said('counted');
    expect(await read()).toBe(200);
    expect(litter()).toEqual([]);
  });

  it('that start with a new vault agree on its key', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => start({})));
    for (const one of all) one.tell('count 5');
    for (const one of all) await one.said('counted');
    const found = await home.open(undefined).read('counter');
    expect(found?.head).toBe('20');
  });

  it('are all served when the holder is done, every caller of each', async () => {
    const holder = await startHolder();
    const waiters = await Promise.all(Array.from({ length: 4 }, () => start()));
    for (const one of waiters) one.tell('callers 20');
    for (const one of waiters) await one.said('waiting');
    holder.tell('release');
    for (const one of waiters) await one.said('served');
    expect(litter()).toEqual([]);
  });
});

describe('a process', () => {
  it('that comes back again and again lets others in between', async () => {
    const busy = await start();
    busy.tell('count 100000');
    await expect.poll(() => existsSync(join(home.vaultFolder, 'vault.json'))).toBe(true);
    for (let turns = 0; turns < 3; turns++) {
      expect(await home.open(key).update('counter', async () => 'in', { timeoutMs: 5000, signal: undefined })).toBe(
        'in',
      );
    }
  });
});

describe('who may be content with what another process brings', () => {
  const owners = () => home.files().filter((file) => file.endsWith('.owner'));
  const turn = async () => 'a turn';

  /** A process that has the turn, and will write `new` before it lets go. */
  async function startWriter(): Promise<StoreProcess> {
    const writer = await start();
    writer.tell('write-late new');
    await writer.said('holding');
    return writer;
  }

  /** Content with `new` alone; `asked` tells that the waiting has begun. */
  function contentWithNew() {
    let ask = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const contentWith = (found: Kept | undefined) => {
      ask();
      return found?.head === 'new' ? 'content' : undefined;
    };
    return { asked, wait: { ...patient, contentWith } };
  }

  it('waits for it without getting in line', async () => {
    const writer = await startWriter();
    const { asked, wait } = contentWithNew();
    const waiting = home.open(key).update('counter', turn, wait);
    await asked;
    expect(owners()).toHaveLength(1);
    writer.tell('release');
    expect(await waiting).toBe('content');
    await writer.said('written true');
    expect(await home.open(key).update('counter', turn, patient)).toBe('a turn');
    expect(litter()).toEqual([]);
  });

  it('gets a turn where that is not brought', async () => {
    const holder = await startHolder();
    const { asked, wait } = contentWithNew();
    const waiting = home.open(key).update('counter', turn, wait);
    await asked;
    holder.tell('release');
    expect(await waiting).toBe('a turn');
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('gets a turn where the other ends by %s', async (signal) => {
    const holder = await startHolder();
    const { asked, wait } = contentWithNew();
    const waiting = home.open(key).update('counter', turn, wait);
    await asked;
    if (signal === 'SIGTERM') holder.tell('release');
    await holder.kill(signal);
    expect(await waiting).toBe('a turn');
  });

  it('gets in line behind one who takes long, and is told of it in the end', async () => {
    const holder = await startHolder();
    const { wait } = contentWithNew();
    await expect(home.open(key).update('counter', turn, { ...wait, timeoutMs: 200 })).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining(`process ${holder.pid} is still busy`),
    });
    expect(owners()).toHaveLength(1);
  });

  it('is told how long it waited in all', async () => {
    await startHolder();
    const { wait } = contentWithNew();
    await expect(home.open(key).update('counter', turn, { ...wait, timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringMatching(/ after [1-9]\S* s$/),
    });
  });

  it('can be called off', async () => {
    await startWriter();
    const { asked, wait } = contentWithNew();
    const caller = new AbortController();
    const waiting = home.open(key).update('counter', turn, { ...wait, signal: caller.signal });
    await asked;
    caller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    expect(owners()).toHaveLength(1);
  });

  it('is waited for by who closes the store', async () => {
    const writer = await startWriter();
    const vault = home.open(key);
    const { asked, wait } = contentWithNew();
    const waiting = vault.update('counter', turn, wait);
    await asked;
    let closed = false;
    const closing = vault.close().then(() => {
      closed = true;
    });
    await expect(vault.update('counter', turn, patient)).rejects.toThrow('the store is closed');
    expect(closed).toBe(false);
    writer.tell('release');
    expect(await waiting).toBe('content');
    await closing;
  });
});

describe('a holder', () => {
  it('keeps out other processes until it is done, and is named to those who wait in vain', async () => {
    const holder = await startHolder();
    const late = home.open(key).update('counter', async () => {}, { timeoutMs: 100, signal: undefined });
    await expect(late).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringMatching(new RegExp(`^process ${holder.pid} is still busy .* after 0\\.\\d s$`)),
    });
    holder.tell('release');
    await holder.said('done');
    expect(await home.open(key).update('counter', async () => 'in', patient)).toBe('in');
  });

  it('who is killed is followed at once, and leaves nothing', async () => {
    const holder = await startHolder();
    const waiting = home.open(key).update('counter', async () => 'in', patient);
    await holder.kill();
    expect(await waiting).toBe('in');
    await put(home.open(key), 'counter', kept('1'));
    expect(litter()).toEqual([]);
  });

  it('who is killed is followed by one at a time, however many wait', async () => {
    const holder = await startHolder();
    const waiters = await Promise.all(Array.from({ length: 4 }, () => start()));
    for (const one of waiters) one.tell('count 5');
    await holder.kill();
    for (const one of waiters) await one.said('counted');
    expect(await read()).toBe(20);
    expect(litter().filter((file) => !file.endsWith('.owner'))).toEqual([]);
  });

  it('who was killed with room reserved leaves nothing after the next one', async () => {
    const holder = await start();
    holder.tell('reserve');
    await holder.said('reserved');
    expect(litter().some((file) => file.endsWith('.reserve'))).toBe(true);
    await holder.kill();
    await home.open(key).update('another name', async () => {}, patient);
    expect(litter()).toEqual([]);
  });

  it('who is done but not yet gone keeps nobody out', async () => {
    const holder = await startHolder();
    holder.tell('release');
    await holder.said('done');
    holder.child.kill('SIGSTOP');
    expect(await home.open(key).update('counter', async () => 'in', { timeoutMs: 5000, signal: undefined })).toBe('in');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'who is asked to end with %s finishes, and leaves nothing',
    async (signal) => {
      const holder = await start();
      holder.tell('reserve');
      await holder.said('reserved');
      await holder.kill(signal);
      expect(litter()).toEqual([]);
      expect(await read()).toBe(0);
    },
  );

  it('who exits in the middle leaves nothing', async () => {
    const holder = await start();
    holder.tell('reserve');
    await holder.said('reserved');
    holder.tell('exit');
    await holder.exited;
    expect(litter()).toEqual([]);
    expect(existsSync(join(home.vaultFolder, 'vault.json'))).toBe(true);
  });
});
