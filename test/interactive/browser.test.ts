import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { browserCommands, childEnvironment, type Machine, openBrowser } from '../../src/interactive/browser.ts';

const machine = (changes: Partial<Machine> & { programs?: string[] }): Machine => ({
  platform: 'linux',
  env: {},
  isWsl: false,
  isContainer: false,
  has: (program) => (changes.programs ?? ['xdg-open']).includes(program),
  ...changes,
});

describe('the commands that open a browser', () => {
  it.each([
    ['X11', { env: { DISPLAY: ':0' } }, [['xdg-open', '%s']]],
    ['Wayland', { env: { WAYLAND_DISPLAY: 'wayland-0' } }, [['xdg-open', '%s']]],
    ['macOS', { platform: 'darwin', programs: [] }, [['open', '%s']]],
    ['Windows', { platform: 'win32', programs: [] }, [['rundll32.exe', 'url.dll,FileProtocolHandler', '%s']]],
    [
      'WSL with wslview',
      { isWsl: true, programs: ['wslview', 'rundll32.exe'] },
      [
        ['wslview', '%s'],
        ['rundll32.exe', 'url.dll,FileProtocolHandler', '%s'],
      ],
    ],
  ])('exist on %s', (_, changes, commands) => {
    expect(browserCommands(machine(changes))).toEqual(commands);
  });

  it.each([
    ['in an SSH session', { env: { SSH_CONNECTION: '1 2 3 4', DISPLAY: ':10' } }, 'SSH'],
    ['in an SSH session on macOS', { platform: 'darwin', env: { SSH_TTY: '/dev/ttys0' } }, 'SSH'],
    ['in a container', { isContainer: true }, 'container'],
    ['without a display', {}, 'display'],
    ['without an installed browser', { env: { DISPLAY: ':0' }, programs: [] }, 'installed'],
    ['on WSL without Windows programs', { isWsl: true, programs: ['xdg-open'] }, 'WSL'],
    ['if BROWSER is not a program', { env: { BROWSER: 'missing', DISPLAY: ':0' } }, 'BROWSER'],
  ])('are replaced by a reason %s', (_, changes, reason) => {
    expect(browserCommands(machine(changes))).toContain(reason);
  });

  it.each([
    ['a program', 'firefox', [['firefox', '%s']]],
    ['a program with arguments', 'firefox --private-window', [['firefox', '--private-window', '%s']]],
    ['a placeholder for the URL', 'firefox -u %s -x', [['firefox', '-u', '%s', '-x']]],
    [
      'several programs',
      'missing:firefox:/opt/my browser',
      [
        ['firefox', '%s'],
        ['/opt/my browser', '%s'],
      ],
    ],
    ['a quoted path', '"/opt/my browser" --new', [['/opt/my browser', '--new', '%s']]],
    ['a shell command list', 'firefox;reboot', undefined],
    ['a shell substitution', 'firefox $(reboot)', [['firefox', '$(reboot)', '%s']]],
  ])('are those in BROWSER, also in an SSH session: %s', (_, BROWSER, commands) => {
    const found = browserCommands(
      machine({ env: { BROWSER, SSH_CONNECTION: 'x' }, programs: ['firefox', '/opt/my browser'] }),
    );
    if (commands === undefined) expect(found).toBeTypeOf('string');
    else expect(found).toEqual(commands);
  });
});

describe('opening a browser', () => {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-browser-'));
  afterEach(() => rmSync(join(directory, 'seen'), { force: true }));

  function program(name: string, script: string): string {
    const path = join(directory, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  it('passes the URL unchanged, without a shell', async () => {
    const url = 'http://127.0.0.1:1/x?a=b&c=$(touch /tmp/never)`id`;"\'\\%s %41';
    const good = program('good', `printf %s "$1" > '${directory}/seen'`);
    expect(await openBrowser(url, { BROWSER: good })).toBeUndefined();
    expect(readFileSync(join(directory, 'seen'), 'utf8')).toBe(url);
  });

  it('tries the next program if one fails', async () => {
    const bad = program('bad', 'exit 3');
    const good = program('good', `printf %s "$1" > '${directory}/seen'`);
    expect(await openBrowser('http://x/', { BROWSER: `${bad}:${good}` })).toBeUndefined();
    expect(readFileSync(join(directory, 'seen'), 'utf8')).toBe('http://x/');
  });

  it('returns a reason that names the failed program', async () => {
    const bad = program('bad', 'exit 3');
    expect(await openBrowser('http://x/', { BROWSER: bad })).toContain(bad);
  });

  it('does not wait for a program that stays in the foreground', async () => {
    const slow = program('slow', 'exec sleep 3');
    expect(await openBrowser('http://x/', { BROWSER: slow, PATH: '/bin:/usr/bin' })).toBeUndefined();
  });

  it('does not pass OAUTH_PROFILE_* variables to the program', async () => {
    const printsEnv = program('prints-env', `env > '${directory}/seen'`);
    const env = {
      BROWSER: printsEnv,
      PATH: '/bin:/usr/bin',
      OAUTH_PROFILE_KEY: 'c4n4ry',
      OAUTH_PROFILE_STORE: 'x',
      LANG: 'C',
    };
    expect(await openBrowser('http://x/', env)).toBeUndefined();
    const seen = readFileSync(join(directory, 'seen'), 'utf8');
    expect(seen).toContain('LANG=C');
    expect(seen).not.toMatch(/OAUTH_PROFILE|c4n4ry/);
  });
});

it('childEnvironment removes OAUTH_PROFILE_* in any case and nothing else', () => {
  const env = {
    OAUTH_PROFILE_KEY: 'a',
    oauth_profile_store: 'b',
    OAUTH_ACCESS_TOKEN: 'c',
    MY_OAUTH_PROFILE_X: 'd',
    PATH: 'e',
  };
  expect(childEnvironment(env)).toEqual({ OAUTH_ACCESS_TOKEN: 'c', MY_OAUTH_PROFILE_X: 'd', PATH: 'e' });
});
