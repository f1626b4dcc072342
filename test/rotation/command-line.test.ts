import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Authority } from '../support/certificates.ts';
import { leaksIn } from '../support/leaks.ts';
import { freePort, hasRedis, RedisServer } from '../support/redis-server.ts';
import { type Chain, StrictServer } from '../support/rotation.ts';
import { Sandbox } from '../support/run-cli.ts';
import { anyKey } from '../support/store-home.ts';

let provider: StrictServer;
let redis: RedisServer | undefined;
let sandbox: Sandbox;

beforeAll(async () => {
  provider = await StrictServer.start();
  if (hasRedis) redis = await RedisServer.start({ password: 'the-password-of-redis' });
});

afterAll(async () => {
  await provider.stop();
  await redis?.remove();
});

beforeEach(() => {
  sandbox = new Sandbox();
});

afterEach(() => sandbox.remove());

/** A family whose profile is in the working folder's file. */
async function chainWith(...wish: Parameters<StrictServer['family']>): Promise<Chain> {
  const family = await provider.family(...wish);
  write(family);
  return family;
}

/** Puts the profile into the file, changed as given. */
function write(family: Chain, changes: Record<string, string> = {}, file = 'oauth-profiles.yaml'): void {
  sandbox.write(file, JSON.stringify({ p: { ...family.data.p, ...changes } }));
}

const stores = [
  { title: 'a vault', there: true, env: () => ({ OAUTH_PROFILE_KEY: anyKey() }) },
  {
    title: 'a Redis (needs redis-server)',
    there: hasRedis,
    env: () => ({ OAUTH_PROFILE_KEY: anyKey(), OAUTH_PROFILE_STORE: `${redis?.url}/${++databases}` }),
  },
];
let databases = 0;

for (const { title, there, env: makeEnv } of stores) {
  describe.skipIf(!there)(`the command line with ${title}`, () => {
    it.each(['SIGINT', 'SIGTERM'] as const)(
      'ends with 130 after %s, but not before the reply that is under way is kept',
      async (signal) => {
        const env = makeEnv();
        const family = await chainWith({ gated: true });
        let pid = 0;
        const order: string[] = [];
        const ended = sandbox.run('exec oauth-profile token p', env, (started) => {
          pid = started;
        });
        ended.then(() => order.push('ended'));
        await family.arrived(1);
        process.kill(pid, signal);
        // Time enough to end too early.
        await sleep(300);
        order.push('released');
        await family.release();
        const { exit, stdout, stderr } = await ended;
        expect({ exit, stdout, order }).toEqual({ exit: 130, stdout: '', order: ['released', 'ended'] });
        const { current, issued } = await family.state();
        expect(leaksIn(stderr, issued)).toEqual([]);
        const next = await sandbox.run('oauth-profile token p --json --reveal', env);
        expect(JSON.parse(next.stdout)).toMatchObject({ access_token: issued.at(-1), refresh_token: current });
        expect(await family.state()).toMatchObject({ requests: 1, refused: 0, revoked: false });
      },
    );

    it('gives eight shells the same token, for one request', async () => {
      const env = makeEnv();
      const family = await chainWith({ latencyMs: 50 });
      const line = Array.from({ length: 8 }, () => 'oauth-profile token p &').join(' ');
      const { stdout, stderr } = await sandbox.run(`${line} wait`, env);
      expect(stderr).toBe('');
      const { issued } = await family.state();
      expect(stdout).toBe(`${issued.at(-1)}\n`.repeat(8));
      expect(await family.state()).toMatchObject({ requests: 1, refused: 0, overlaps: 0, revoked: false });
    });

    it('follows a pasted refresh token through its rotations, and any later member of its family too', async () => {
      const env = makeEnv();
      const family = await chainWith();
      const steps = [
        'oauth-profile token p',
        'oauth-profile token p --force-refresh',
        'oauth-profile token p --force-refresh',
      ];
      for (const step of steps) expect((await sandbox.run(step, env)).exit).toBe(0);
      const { received } = await family.state();
      expect(new Set(received).size).toBe(3);
      write(family, { refresh_token: received[1] as string });
      expect((await sandbox.run('oauth-profile token p --force-refresh', env)).exit).toBe(0);
      expect(await family.state()).toMatchObject({ requests: 4, refused: 0, revoked: false });
    });

    it('gives the record to no profile of the same name with another address or client', async () => {
      const env = makeEnv();
      const family = await chainWith();
      const other = await StrictServer.start();
      const elsewhere = await other.family();
      await sandbox.run('oauth-profile token p', env);
      const { current, issued } = await family.state();
      for (const changes of [{ url: elsewhere.data.p['url'] as string }, { client_id: 'another' }]) {
        write(family, changes);
        const { exit, stdout } = await sandbox.run('oauth-profile token p', env);
        expect({ exit, stdout }).toEqual({ exit: 5, stdout: '' });
      }
      // They sent what was pasted into them, and nothing that the first was given since.
      const { received } = await family.state();
      expect(received).toEqual([issued[0], issued[0]]);
      expect(received).not.toContain(current);
      await other.stop();
    });

    it('lets the key be changed as documented', async () => {
      const family = await chainWith();
      const env = makeEnv();
      const [old, fresh] = [env.OAUTH_PROFILE_KEY, anyKey()];
      for (const [keys, flag] of [
        [old, ''],
        [`${old},${fresh}`, '--force-refresh'],
        [`${fresh},${old}`, '--force-refresh'],
        [fresh, ''],
      ] as const) {
        const { exit, stderr } = await sandbox.run(`oauth-profile token p ${flag}`, {
          ...env,
          OAUTH_PROFILE_KEY: keys,
        });
        expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      }
      const late = await sandbox.run('oauth-profile token p', env);
      expect(late.exit).toBe(6);
      expect(late.stderr).toContain('sealed with another key');
      expect(await family.state()).toMatchObject({ requests: 3, refused: 0, revoked: false });
    });

    it('shows no secret in the arguments of any process', async () => {
      const env = makeEnv();
      const family = await chainWith();
      const script = `tr '\\0' ' ' < /proc/self/cmdline; tr '\\0' ' ' < /proc/$PPID/cmdline`;
      const { stdout, exit } = await sandbox.run(
        `oauth-profile exec p -- sh -c "${script.replace(/[$"\\]/g, '\\$&')}"`,
        env,
      );
      expect(exit).toBe(0);
      expect(stdout).toContain('exec p');
      const { issued } = await family.state();
      const secrets = [...issued, env.OAUTH_PROFILE_KEY, 'the-secret-of-the-fleet', 'the-password-of-redis'];
      expect(leaksIn(stdout, secrets)).toEqual([]);
    });
  });
}

describe.skipIf(!hasRedis)('the command line and a Redis that does not serve (needs redis-server)', () => {
  const PASSWORD = 'p@ss+w0rd/of%the:fleet';
  const login = `runner:${encodeURIComponent(PASSWORD)}@`;
  const env = { OAUTH_PROFILE_KEY: anyKey() };

  it.each([
    ['is not there', async () => `redis://${login}127.0.0.1:${await freePort()}`, 'nobody listens there'],
    [
      'does not know the password',
      () => `redis://${login}127.0.0.1:${redis?.port}`,
      'does not know this user and password',
    ],
    ['wants a password', () => `redis://127.0.0.1:${redis?.port}`, 'wants a password'],
  ])('ends with 6, sends nothing and says no password: it %s', async (_, makeUrl, message) => {
    const family = await chainWith();
    const url = await makeUrl();
    const inEnvironment = { ...env, OAUTH_PROFILE_STORE: url, DEBUG: '*' };
    const runs = await Promise.all([
      sandbox.run('oauth-profile token p --verbose', inEnvironment),
      sandbox.run('oauth-profile token p --json', inEnvironment),
      sandbox.run(`oauth-profile token p --store '${url}'`, env),
    ]);
    for (const { exit, stdout, stderr } of runs) {
      expect({ exit, stdout }).toEqual({ exit: 6, stdout: '' });
      expect(stderr).toContain(message);
      expect(leaksIn(stderr, [PASSWORD])).toEqual([]);
    }
    expect(JSON.parse(runs[1]?.stderr ?? '')).toMatchObject({ code: 'store_unreadable' });
    expect((await family.state()).requests).toBe(0);
  });

  it('trusts it over TLS only where its authority is trusted', async () => {
    const authority = new Authority('Fleet CA');
    const secure = await RedisServer.start({ authority, password: PASSWORD });
    const family = await chainWith();
    const there = { ...env, OAUTH_PROFILE_STORE: secure.url };
    const refused = await sandbox.run('oauth-profile token p', there);
    expect(refused.exit).toBe(6);
    expect((await family.state()).requests).toBe(0);
    const trusting = await sandbox.run('oauth-profile token p', { ...there, NODE_EXTRA_CA_CERTS: authority.caFile });
    await secure.remove();
    expect(trusting).toEqual({ exit: 0, stdout: `${(await family.state()).issued.at(-1)}\n`, stderr: '' });
    expect(leaksIn(refused.stderr, [PASSWORD])).toEqual([]);
  });

  it('prints no password with DEBUG set', async () => {
    const family = await chainWith();
    const there = { ...env, OAUTH_PROFILE_STORE: `${redis?.url}/15`, DEBUG: '*' };
    const { stderr, exit } = await sandbox.run('oauth-profile token p', there);
    expect(exit).toBe(0);
    expect(leaksIn(stderr, ['the-password-of-redis', ...(await family.state()).issued])).toEqual([]);
  });

  it('ends with 6 where the key is another, and sends nothing', async () => {
    const there = { ...env, OAUTH_PROFILE_STORE: `${redis?.url}/14` };
    const family = await chainWith();
    await sandbox.run('oauth-profile token p', there);
    const { exit, stderr } = await sandbox.run('oauth-profile token p', { ...there, OAUTH_PROFILE_KEY: anyKey() });
    expect(exit).toBe(6);
    expect(stderr).toContain('sealed with another key');
    expect((await family.state()).requests).toBe(1);
  });

  it('warns of what may be lost', async () => {
    const careless = await RedisServer.start({ args: ['--appendonly', 'no'] });
    await chainWith();
    const { exit, stderr } = await sandbox.run('oauth-profile token p', { ...env, OAUTH_PROFILE_STORE: careless.url });
    await careless.remove();
    expect(exit).toBe(0);
    expect(stderr).toMatch(/^warning: the Redis at .* a restart can lose a rotated refresh token/m);
  });
});
