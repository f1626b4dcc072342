import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { askDf } from '../../../src/store/vault/ask-df.ts';

let programs: string;
beforeEach(() => {
  programs = mkdtempSync(join(tmpdir(), 'oauth-profile-df-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(programs, { recursive: true });
});

/** What `df -P` prints for a folder on that device. */
function deviceIs(device: string): void {
  const df = join(programs, 'df');
  const table = `Filesystem 512-blocks Used Available Capacity Mounted on\n${device} 100 50 50 50% /there\n`;
  writeFileSync(df, `#!/bin/sh\ncat <<'END'\n${table}END\n`);
  chmodSync(df, 0o755);
  vi.stubEnv('PATH', `${programs}${delimiter}${process.env['PATH']}`);
}

describe('a folder, where df must be asked', () => {
  it.each(['nas:/export/home', '//server/share', '//ada@server/share', 'fe80::1:/export'])(
    'on %s is a share',
    (device) => {
      deviceIs(device);
      expect(askDf('/there')).toBe('a share');
    },
  );

  it.each(['/dev/disk1s1', 'map', 'tmpfs', 'devfs', '/dev/mapper/vg:0'])('on %s is none', (device) => {
    deviceIs(device);
    expect(askDf('/there')).toBeUndefined();
  });

  it('of this machine is none', () => {
    expect(askDf(programs)).toBeUndefined();
  });
});
