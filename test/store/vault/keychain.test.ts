import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finished } from '../../support/cli.ts';
import { useCliFixture } from '../../support/cli.ts';

const isInstalled = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
const hasKeyring = isInstalled('gnome-keyring-daemon') && isInstalled('dbus-run-session');

describe.skipIf(!hasKeyring)('the keychain of GNOME (needs gnome-keyring and dbus)', { timeout: 120_000 }, () => {
  const fixture = useCliFixture();
  const keyFile = () => join(fixture.sandbox.home, '.config', 'oauth-profile', 'vault.key');

  /** Runs a command in a D-Bus session of its own, after `daemon` has started the keyring. */
  async function runInSession(daemon: string, command: string): Promise<Finished> {
    const runtime = join(fixture.sandbox.directory, 'run');
    mkdirSync(runtime, { recursive: true, mode: 0o700 });
    const isReady =
      'dbus-send --session --print-re""ply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets';
    const script = `${daemon} >/dev/null 2>&1; until ${isReady} | grep -q true; do sleep 0.05; done; ${command}`;
    return fixture.run(`dbus-run-session -- sh -c '${script}' 2> >(grep -v dbus-daemon >&2)`, {
      XDG_RUNTIME_DIR: runtime,
    });
  }

  const unlocked = 'printf password | gnome-keyring-daemon --unlock --components=secrets';
  const locked = 'gnome-keyring-daemon --start --components=secrets';

  it('stores the key of a new vault while it is unlocked, also for the next session', async () => {
    const first = await runInSession(unlocked, 'oauth-profile token ada');
    expect(first).toMatchObject({ exit: 0, stdout: 'access-token-1\n' });
    expect(existsSync(keyFile())).toBe(false);
    expect(await runInSession(unlocked, 'oauth-profile token ada')).toMatchObject({
      exit: 0,
      stdout: 'access-token-1\n',
    });
    expect(fixture.sentRefreshTokens()).toHaveLength(1);
  });

  it('is required for such a vault: if it is locked or absent, nothing is sent and no other key is created', async () => {
    await runInSession(unlocked, 'oauth-profile token ada');
    const absent = fixture.run('oauth-profile token ada', { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' });
    for (const result of [await runInSession(locked, 'oauth-profile token ada'), await absent]) {
      expect(result).toMatchObject({ exit: 6, stdout: '', stderr: expect.stringContaining('keychain') });
    }
    expect(existsSync(keyFile())).toBe(false);
    expect(fixture.sentRefreshTokens()).toHaveLength(1);
    expect((await runInSession(unlocked, 'oauth-profile token ada')).stdout).toBe('access-token-1\n');
  });

  it('is not used for a new vault if it is locked: the key is in a file', async () => {
    await runInSession(unlocked, 'true');
    expect(await runInSession(locked, 'oauth-profile token ada')).toMatchObject({
      exit: 0,
      stdout: 'access-token-1\n',
    });
    expect(existsSync(keyFile())).toBe(true);
    expect((await runInSession(unlocked, 'oauth-profile token ada')).stdout).toBe('access-token-1\n');
  });
});
