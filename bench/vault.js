import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanEnvironment } from './child.js';

/** A folder for one measurement, which is a vault of our own too. */
export function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-bench-'));
  return {
    folder,
    env: {
      ...cleanEnvironment,
      OAUTH_PROFILE_HOME: folder,
      OAUTH_PROFILE_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  };
}
