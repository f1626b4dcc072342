import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Authority } from '../support/certificates.ts';
import { Sandbox } from '../support/cli.ts';
import { leaksIn } from '../support/leaks.ts';
import { hasRedis, RedisServer } from '../support/redis.ts';
import { closedPort } from '../support/server.ts';
import { anyKey } from '../support/store.ts';
import { StrictServer, type TokenFamily } from './fixture.ts';

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

/** Creates a token family, and writes its profile to the working directory. */
async function createFamily(...options: Parameters<StrictServer['family']>): Promise<TokenFamily> {
  const family = await provider.family(...options);
  writeProfile(family);
  return family;
}

/** Writes the profile of a family with some fields changed. */
function writeProfile(family: TokenFamily, changes: Record<string, string> = {}): void {
  sandbox.write('oauth-profiles.yaml', JSON.stringify({ p: { ...family.data.p, ...changes } }));
}

const stores = [
  { title: 'a vault', available: true, env: () => ({ OAUTH_PROFILE_KEY: anyKey() }) },
  {
    title: 'a Redis (needs redis-server)',
    available: hasRedis,
    env: () => ({ OAUTH_PROFILE_KEY: anyKey(), OAUTH_PROFILE_STORE: `${redis?.url}/${++databases}` }),
  },
];
let databases = 0;

for (const { title, available, env: makeEnv } of stores) {
  describe.skipIf(!available)(`the command line with ${title}`, () => {
    it.each(['SIGINT', 'SIGTERM'] as const)(
      'exits with 130 after %s, but only after the pending response is stored',
      async (signal) => {
        const env = makeEnv();
        const family = await createFamily({ gated: true });
        let pid = 0;
        const order: string[] = [];
        const ended = sandbox.run('exec oauth-profile token p', env, (started) => {
          pid = started;
        });
        ended.then(() => order.push('ended'));
        await family.arrived(1);
        process.kill(pid, signal);
        // A command that does not wait would have ended by then.
        await sleep(300);
        order.push('released');
        await family.release();
        const { exit, stdout, stderr } = await ended;
        expect({ exit, stdout, order }).toEqual({ exit: 130, stdout: '', order: ['released', 'ended'] });
        const { current, issued } = await family.state();
        expect(leaksIn(stderr, issued)).toEqual([]);
        const next = await sandbox.run('oauth-profile token p --json --reveal', env);
        expect(JSON.parse(next.stdout)).toMatchObject({ access_token: issued.at(-1), refresh_token: current });
        expect(await family.state()).toMatchObject({ requests: 1, rejected: 0, revoked: false });
      },
    );

    it('prints the same token in eight shells after one request', async () => {
      const env = makeEnv();
      const family = await createFamily({ latencyMs: 50 });
      const line = Array.from({ length: 8 }, () => 'oauth-profile token p &').join(' ');
      const { stdout, stderr } = await sandbox.run(`${line} wait`, env);
      expect(stderr).toBe('');
      const { issued } = await family.state();
      expect(stdout).toBe(`${issued.at(-1)}\n`.repeat(8));
      expect(await family.state()).toMatchObject({ requests: 1, rejected: 0, overlaps: 0, revoked: false });
    });

    it('finds the token family of the configured refresh token and of each later one', async () => {
      const env = makeEnv();
      const family = await createFamily();
      const steps = [
        'oauth-profile token p',
        'oauth-profile token p --force-refresh',
        'oauth-profile token p --force-refresh',
      ];
      for (const step of steps) expect((await sandbox.run(step, env)).exit).toBe(0);
      const { received } = await family.state();
      expect(new Set(received).size).toBe(3);
      writeProfile(family, { refresh_token: received[1] as string });
      expect((await sandbox.run('oauth-profile token p --force-refresh', env)).exit).toBe(0);
      expect(await family.state()).toMatchObject({ requests: 4, rejected: 0, revoked: false });
    });

    it('does not use the record for a profile of the same name with another URL or client', async () => {
      const env = makeEnv();
      const family = await createFamily();
      const other = await StrictServer.start();
      const otherFamily = await other.family();
      await sandbox.run('oauth-profile token p', env);
      const { current, issued } = await family.state();
      for (const changes of [{ url: otherFamily.data.p['url'] as string }, { client_id: 'another' }]) {
        writeProfile(family, changes);
        const { exit, stdout } = await sandbox.run('oauth-profile token p', env);
        expect({ exit, stdout }).toEqual({ exit: 5, stdout: '' });
      }
      // Only the configured refresh token was sent, not the one that the first profile got since.
      const { received } = await family.state();
      expect(received).toEqual([issued[0], issued[0]]);
      expect(received).not.toContain(current);
      await other.stop();
    });

    it('supports a change of the key as documented', async () => {
      const family = await createFamily();
      const env = makeEnv();
      const [oldKey, newKey] = [env.OAUTH_PROFILE_KEY, anyKey()];
      for (const [keys, flag] of [
        [oldKey, ''],
        [`${oldKey},${newKey}`, '--force-refresh'],
        [`${newKey},${oldKey}`, '--force-refresh'],
        [newKey, ''],
      ] as const) {
        const { exit, stderr } = await sandbox.run(`oauth-profile token p ${flag}`, {
          ...env,
          OAUTH_PROFILE_KEY: keys,
        });
        expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      }
      const outdated = await sandbox.run('oauth-profile token p', env);
      expect(outdated.exit).toBe(6);
      expect(outdated.stderr).toContain('another key');
      expect(await family.state()).toMatchObject({ requests: 3, rejected: 0, revoked: false });
    });

    it('passes no secret in the arguments of a process', async () => {
      const env = makeEnv();
      const family = await createFamily();
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

describe.skipIf(!hasRedis)('the command line with a Redis (needs redis-server)', () => {
  const PASSWORD = 'p@ss+w0rd/of%the:fleet';
  const login = `runner:${encodeURIComponent(PASSWORD)}@`;
  const env = { OAUTH_PROFILE_KEY: anyKey() };

  it.each([
    ['is not running', async () => `redis://${login}127.0.0.1:${await closedPort()}`],
    ['rejects the password', () => `redis://${login}127.0.0.1:${redis?.port}`],
    ['requires a password', () => `redis://127.0.0.1:${redis?.port}`],
  ])('exits with 6, sends nothing and prints no password if it %s', async (_, makeUrl) => {
    const family = await createFamily();
    const url = await makeUrl();
    const inEnvironment = { ...env, OAUTH_PROFILE_STORE: url, DEBUG: '*' };
    const runs = await Promise.all([
      sandbox.run('oauth-profile token p --verbose', inEnvironment),
      sandbox.run('oauth-profile token p --json', inEnvironment),
      sandbox.run(`oauth-profile token p --store '${url}'`, env),
    ]);
    for (const { exit, stdout, stderr } of runs) {
      expect({ exit, stdout }).toEqual({ exit: 6, stdout: '' });
      expect(leaksIn(stderr, [PASSWORD])).toEqual([]);
    }
    expect(JSON.parse(runs[1]?.stderr ?? '')).toMatchObject({ code: 'store_unreadable' });
    expect((await family.state()).requests).toBe(0);
  });

  it('connects with TLS only if the certificate authority is trusted', async () => {
    const authority = new Authority('Fleet CA');
    const secure = await RedisServer.start({ authority, password: PASSWORD });
    const family = await createFamily();
    const storeEnv = { ...env, OAUTH_PROFILE_STORE: secure.url };
    const untrusted = await sandbox.run('oauth-profile token p', storeEnv);
    expect(untrusted.exit).toBe(6);
    expect((await family.state()).requests).toBe(0);
    const trusted = await sandbox.run('oauth-profile token p', { ...storeEnv, NODE_EXTRA_CA_CERTS: authority.caFile });
    await secure.remove();
    expect(trusted).toEqual({ exit: 0, stdout: `${(await family.state()).issued.at(-1)}\n`, stderr: '' });
    expect(leaksIn(untrusted.stderr, [PASSWORD])).toEqual([]);
  });

  it('prints no password if DEBUG is set', async () => {
    const family = await createFamily();
    const storeEnv = { ...env, OAUTH_PROFILE_STORE: `${redis?.url}/15`, DEBUG: '*' };
    const { stderr, exit } = await sandbox.run('oauth-profile token p', storeEnv);
    expect(exit).toBe(0);
    expect(leaksIn(stderr, ['the-password-of-redis', ...(await family.state()).issued])).toEqual([]);
  });

  it('exits with 6 and sends nothing if the key is another one', async () => {
    const storeEnv = { ...env, OAUTH_PROFILE_STORE: `${redis?.url}/14` };
    const family = await createFamily();
    await sandbox.run('oauth-profile token p', storeEnv);
    const { exit, stderr } = await sandbox.run('oauth-profile token p', { ...storeEnv, OAUTH_PROFILE_KEY: anyKey() });
    expect(exit).toBe(6);
    expect(stderr).toContain('another key');
    expect((await family.state()).requests).toBe(1);
  });

  it('warns that a restart can lose a refresh token', async () => {
    const volatile = await RedisServer.start({ args: ['--appendonly', 'no'] });
    await createFamily();
    const { exit, stderr } = await sandbox.run('oauth-profile token p', { ...env, OAUTH_PROFILE_STORE: volatile.url });
    await volatile.remove();
    expect(exit).toBe(0);
    expect(stderr).toMatch(/^warning: .*appendonly/m);
  });
});
