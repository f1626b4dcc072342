import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { browserCommands, type Machine, openBrowser } from '../../src/interactive/browser.ts';

const machine = (changes: Partial<Machine> & { programs?: string[] }): Machine => ({
  platform: 'linux',
  env: {},
  isWsl: false,
  isContainer: false,
  has: (program) => (changes.programs ?? ['xdg-open']).includes(program),
  ...changes,
});

describe('finding a browser', () => {
  it.each([
    ['a desktop', { env: { DISPLAY: ':0' } }, [['xdg-open', '%s']]],
    ['Wayland', { env: { WAYLAND_DISPLAY: 'wayland-0' } }, [['xdg-open', '%s']]],
    ['macOS', { platform: 'darwin', programs: [] }, [['open', '%s']]],
    ['Windows', { platform: 'win32', programs: [] }, [['rundll32.exe', 'url.dll,FileProtocolHandler', '%s']]],
    [
      'WSL with wslu',
      { isWsl: true, programs: ['wslview', 'rundll32.exe'] },
      [
        ['wslview', '%s'],
        ['rundll32.exe', 'url.dll,FileProtocolHandler', '%s'],
      ],
    ],
  ])('%s has one', (_, changes, commands) => {
    expect(browserCommands(machine(changes))).toEqual(commands);
  });

  it.each([
    ['SSH', { env: { SSH_CONNECTION: '1 2 3 4', DISPLAY: ':10' } }, 'this is an SSH session'],
    ['SSH to a Mac', { platform: 'darwin', env: { SSH_TTY: '/dev/ttys0' } }, 'this is an SSH session'],
    ['a container', { isContainer: true }, 'this is a container'],
    ['a server', {}, 'there is no display'],
    ['a desktop without one', { env: { DISPLAY: ':0' }, programs: [] }, 'no browser is installed'],
    ['WSL without Windows', { isWsl: true, programs: ['xdg-open'] }, 'no program of Windows can be run here'],
    [
      'a wrong BROWSER',
      { env: { BROWSER: 'nonsense', DISPLAY: ':0' } },
      'what the variable BROWSER names cannot be run',
    ],
  ])('%s has none, and says so', (_, changes, why) => {
    expect(browserCommands(machine(changes))).toBe(why);
  });

  it.each([
    ['a program', 'firefox', [['firefox', '%s']]],
    ['with arguments', 'firefox --private-window', [['firefox', '--private-window', '%s']]],
    ['with a place for the address', 'firefox -u %s -x', [['firefox', '-u', '%s', '-x']]],
    [
      'several',
      'nonsense:firefox:/opt/my browser',
      [
        ['firefox', '%s'],
        ['/opt/my browser', '%s'],
      ],
    ],
    ['in quotes', '"/opt/my browser" --new', [['/opt/my browser', '--new', '%s']]],
    ['a list that a shell would run', 'firefox;reboot', undefined],
    ['a substitution that a shell would run', 'firefox $(reboot)', [['firefox', '$(reboot)', '%s']]],
  ])('BROWSER names it, also over SSH: %s', (_, BROWSER, commands) => {
    const found = browserCommands(
      machine({ env: { BROWSER, SSH_CONNECTION: 'x' }, programs: ['firefox', '/opt/my browser'] }),
    );
    if (commands === undefined) expect(found).toBeTypeOf('string');
    else expect(found).toEqual(commands);
  });
});

describe('opening a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-browser-'));
  afterEach(() => rmSync(join(folder, 'seen'), { force: true }));

  function program(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  it('hands the address over as it is, past every shell', async () => {
    const address = 'http://127.0.0.1:1/x?a=b&c=$(touch /tmp/never)`id`;"\'\\%s %41';
    const good = program('good', `printf %s "$1" > '${folder}/seen'`);
    expect(await openBrowser(address, { BROWSER: good })).toBeUndefined();
    expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe(address);
  });

  it('tries the next where one fails', async () => {
    const bad = program('bad', 'exit 3');
    const good = program('good', `printf %s "$1" > '${folder}/seen'`);
    expect(await openBrowser('http://x/', { BROWSER: `${bad}:${good}` })).toBeUndefined();
    expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe('http://x/');
  });

  it('says which failed', async () => {
    const bad = program('bad', 'exit 3');
    expect(await openBrowser('http://x/', { BROWSER: bad })).toBe(`${bad} could not open it`);
  });

  it('does not wait for a browser that stays in the foreground', async () => {
    const slow = program('slow', 'exec sleep 3');
    expect(await openBrowser('http://x/', { BROWSER: slow, PATH: '/bin:/usr/bin' })).toBeUndefined();
  });
});
