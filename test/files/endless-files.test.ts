import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTextFile } from '../../src/files/read-file.ts';
import { Sandbox } from '../support/cli.ts';

const MIB = 1_048_576;
let sandbox: Sandbox;

beforeEach(() => {
  sandbox = new Sandbox();
});

afterEach(() => sandbox.remove());

/** A file without blocks on the disk. */
function createSparseFile(name: string): string {
  const path = join(sandbox.work, name);
  sandbox.write(name, '');
  fs.truncateSync(path, 1900 * MIB);
  return path;
}

describe.runIf(process.platform === 'linux')('a file that is too large', () => {
  const { readSync } = fs;
  let bytesRead: number;

  beforeEach(() => {
    bytesRead = 0;
    const counting = (...args: Parameters<typeof readSync>) => {
      const count = readSync(...args);
      bytesRead += count;
      return count;
    };
    Object.assign(fs, { readSync: counting });
    syncBuiltinESMExports();
  });

  afterEach(() => {
    Object.assign(fs, { readSync });
    syncBuiltinESMExports();
  });

  it('is not read at all if its size shows that', () => {
    const path = createSparseFile('sparse');
    expect(() => readTextFile(path, 'the file')).toThrow(expect.objectContaining({ code: 'data_invalid' }));
    expect(bytesRead).toBe(0);
  });

  it('is read up to the limit if it is endless and its size is 0', () => {
    expect(() => readTextFile('/proc/self/pagemap', 'the file')).toThrow(
      expect.objectContaining({ code: 'data_invalid', message: expect.stringContaining('larger than') }),
    );
    expect(bytesRead).toBe(MIB + 8);
  });
});

/** A preloaded module that writes the peak memory in KiB to a file when the process ends. */
const PRELOAD = `import { writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)));`;

describe.runIf(process.platform === 'linux').each(['/proc/self/pagemap', 'sparse'])(
  'no command reads all of %s',
  (file) => {
    /** Runs a command and returns its exit status and its peak memory in MiB. */
    async function run(line: string): Promise<{ exit: number | null; peakMib: number }> {
      const peakFile = join(sandbox.directory, 'peak');
      const preload = join(sandbox.directory, 'preload.mjs');
      fs.writeFileSync(preload, PRELOAD);
      const { exit } = await sandbox.run(line, { NODE_OPTIONS: `--import ${preload}`, PEAK_FILE: peakFile });
      return { exit, peakMib: Number(fs.readFileSync(peakFile, 'utf8')) / 1024 };
    }

    const profile = (fields: string): string =>
      `p: {type: custom, url: "https://127.0.0.1:1/token", grant_type: client_credentials, client_id: x, ${fields}}\n`;
    const clientAuth = 'options: {client_auth: private_key_jwt, key_file: large}';

    it.each([
      ['a profile file', '', 'oauth-profile list', 2],
      ['a profile file, during completion', '', 'oauth-profile completion profiles', 2],
      ['a file given with --data', profile('client_secret: y'), 'oauth-profile token p --data large.yaml', 2],
      ['a referenced file', profile('client_secret: "${file:large}"'), 'oauth-profile token p', 2],
      ['a certificate authority', profile('options: {ca_file: large}'), 'oauth-profile token p', 2],
      ['a private key', profile(clientAuth), 'oauth-profile token p', 2],
      ['a script', '', 'rm oauth-profiles.yaml; oauth-profile run large.yaml', 2],
      ['a script in a directory', '', 'rm oauth-profiles.yaml; oauth-profile run .', 2],
      [
        'the certificate authority of a store',
        profile('client_secret: y'),
        `OAUTH_PROFILE_KEY=$(head -c 32 /dev/zero | base64) oauth-profile token p --store 'rediss://127.0.0.1:1?ca_file=large'`,
        2,
      ],
    ])('as %s', async (_, profiles, line, exit) => {
      const target = file === 'sparse' ? createSparseFile('sparse') : file;
      for (const name of ['large', 'large.yaml']) fs.symlinkSync(target, join(sandbox.work, name));
      if (profiles === '') fs.symlinkSync(target, join(sandbox.work, 'oauth-profiles.yaml'));
      else sandbox.write('oauth-profiles.yaml', profiles);
      const result = await run(line);
      expect(result.exit).toBe(exit);
      expect(result.peakMib).toBeLessThan(400);
    });
  },
);
