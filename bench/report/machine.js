import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Where it was measured. */
export function machine() {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `Node ${process.versions.node}, ${type()} ${release()} ${process.arch}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${memory}`;
}

/** How many processes wanted to run in the last minute, on average. */
export function load() {
  return loadavg()[0]?.toFixed(1);
}

/** What was measured. */
export function versions() {
  const peers = [
    'undici',
    'oauth4webapi',
    'openid-client',
    'simple-oauth2',
    '@badgateway/oauth2-client',
    'google-auth-library',
    '@azure/msal-node',
  ].map((name) => `${name} ${versionOf(join('node_modules', name))}`);
  return `oauth-profile ${versionOf('.')}; ${peers.join(', ')}; fetch is that of Node (undici ${process.versions['undici']})`;
}

/** @param {string} folder */
function versionOf(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).version;
}
