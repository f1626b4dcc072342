import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a directory with these files, which is removed after the test. Returns its real path. */
export function createTestDirectory(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'oauth-profile-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return directory;
}
