import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The client id and secret that every library sends. */
export const client = { id: 'benchmark', secret: 'a-secret-of-32-characters-or-so!' };

/** The access token that every server issues. */
export const accessToken = `${'eyJhbGciOiJub25lIn0'.padEnd(700, 'x')}.e30.`;

/** Variables of the profile `p` with client credentials. @param {string} url */
export const dataFor = (url) => ({
  p: {
    type: 'custom',
    url,
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: client.secret,
  },
});

/** Variables of the profile `p` with a refresh token. @param {string} url @param {string} refreshToken */
export const refreshDataFor = (url, refreshToken) => ({
  p: { ...dataFor(url).p, grant_type: 'refresh_token', refresh_token: refreshToken },
});

/** The form that every library sends. */
export const form = () =>
  new URLSearchParams({ grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret });

/** An environment without proxies, Node options and profiles of the user. */
export const cleanEnvironment = { PATH: process.env['PATH'], NODE_ENV: 'production', HOME: '/nonexistent' };

/** Creates a temporary directory, and an environment in which it is our vault. */
export function createVault() {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-bench-'));
  const env = {
    ...cleanEnvironment,
    OAUTH_PROFILE_HOME: directory,
    OAUTH_PROFILE_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  return { directory, env };
}

/** Starts a Redis that writes each change to disk; `undefined` if redis-server is not installed. @param {string} directory */
export async function startRedis(directory) {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...durable]);
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes('Ready to accept connections')) break;
  }
  const stop = async () => {
    child.kill();
    await once(child, 'exit');
  };
  return { url: `redis://127.0.0.1:${port}`, stop };
}
