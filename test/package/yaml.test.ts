import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('The build does not print secrets of a YAML file if LOG_TOKENS and LOG_STREAM are set', () => {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-'));
  try {
    const profile = { type: 'custom', url: 'https://id.example/token', client_secret: 'S3cret-of-acme' };
    writeFileSync(join(directory, 'oauth-profiles.yaml'), JSON.stringify({ acme: profile }));
    const output = execFileSync(
      process.execPath,
      [join(import.meta.dirname, '../../bin/oauth-profile.js'), 'explain', 'acme'],
      { cwd: directory, env: { ...process.env, LOG_TOKENS: '1', LOG_STREAM: '1' }, encoding: 'utf8' },
    );
    expect(output).toContain('https://id.example/token');
    expect(output).not.toContain('S3cret-of-acme');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
