import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanEnvironment, startChild } from './child.js';
import { accessToken } from './profile.js';

const PROCESSES = 8;
const CALLERS = 20;
const ROUNDS = 7;
const TOKEN_ROUNDS = 15;
const CACHED_ROUNDS = 9;
const CACHED_MS = 200;
const LATENCIES = [0, 100];

/**
 * Milliseconds of the slowest of several processes that want one rotating token at once, and of as many bare ones; gets a second from memory;
 * milliseconds of `token` from the vault. One number for each round. @param {string} url of a plain token server
 */
export async function measureRotation(url) {
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-rotation-'));
  const provider = await startChild('rotating-server.js', []);
  const redis = await startRedis(folder);
  const env = {
    ...cleanEnvironment,
    OAUTH_PROFILE_HOME: folder,
    OAUTH_PROFILE_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  try {
    const address = String(provider.firstMessage);
    /** @type {Record<string, NodeJS.ProcessEnv>} */
    const stores = { 'the vault': env };
    if (redis !== undefined) stores['Redis'] = { ...env, OAUTH_PROFILE_STORE: redis.url };
    /** @type {Record<string, { ms: number[], bare: number[], latencyMs: number }>} */
    const herds = {};
    for (const [store, there] of Object.entries(stores)) {
      for (const latencyMs of LATENCIES) {
        const herd = { ms: /** @type {number[]} */ ([]), bare: /** @type {number[]} */ ([]), latencyMs };
        // The first only brings files into the page cache.
        for (let round = 0; round <= ROUNDS; round++) {
          const data = JSON.stringify(rotating(`${address}?latency=${latencyMs}`, `${store}-${latencyMs}-${round}`));
          const bare = await slowest(['-e', '0'], '', env);
          const ms = await slowest(
            [join(import.meta.dirname, 'herd.js'), data, String(CALLERS)],
            String(CALLERS),
            there,
          );
          const { requests, refused } = /** @type {Record<string, number>} */ (await provider.ask('seen'));
          if (requests !== 1 || refused !== 0) throw new Error(`${requests} requests, ${refused} of them refused`);
          if (round === 0) continue;
          herd.bare.push(bare);
          herd.ms.push(ms);
        }
        herds[`${store}, provider ${latencyMs} ms`] = herd;
      }
    }
    return { herds, cached: await measureCached(url), token: measureToken(address, folder, env) };
  } finally {
    provider.end();
    redis?.child.kill();
    rmSync(folder, { recursive: true });
  }
}

/** Gets a second, from memory. @param {string} url */
async function measureCached(url) {
  const child = await startChild('cached-get.js', [url]);
  /** @type {Record<string, number[]>} */
  const rates = { 'oauth-profile': [], 'a map': [] };
  for (let round = -2; round < CACHED_ROUNDS; round++) {
    for (const [way, found] of Object.entries(rates)) {
      const rate = Number(await child.ask({ way, forMs: CACHED_MS }));
      if (round >= 0) found.push(rate);
    }
  }
  child.end();
  return rates;
}

/** `token` where the vault has a fresh one. @param {string} address @param {string} folder @param {NodeJS.ProcessEnv} env */
function measureToken(address, folder, env) {
  writeFileSync(join(folder, 'p.json'), JSON.stringify(rotating(address, 'kept')));
  const command = join(import.meta.dirname, '..', 'bin', 'oauth-profile.js');
  const run = (/** @type {string[]} */ args, /** @type {string} */ expected) => {
    const startedAt = performance.now();
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
    if (stdout !== expected) throw new Error(`node ${args.join(' ')} failed: ${stderr}`);
    return performance.now() - startedAt;
  };
  const token = { ms: /** @type {number[]} */ ([]), bare: /** @type {number[]} */ ([]) };
  for (let round = -2; round < TOKEN_ROUNDS; round++) {
    const bare = run(['-e', '0'], '');
    const ms = run([command, 'token', 'p', '--data', 'p.json'], `${accessToken}\n`);
    if (round < 0) continue;
    token.bare.push(bare);
    token.ms.push(ms);
  }
  return token;
}

/** Milliseconds until the last of several processes has ended. @param {string[]} args @param {string} expected @param {NodeJS.ProcessEnv} env */
async function slowest(args, expected, env) {
  const startedAt = performance.now();
  const ended = Array.from({ length: PROCESSES }, async () => {
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    await once(child, 'close');
    if (output !== expected) throw new Error(`a process served ${output || 'nobody'} instead of ${expected}`);
  });
  await Promise.all(ended);
  return performance.now() - startedAt;
}

/** The profile of a chain of its own. @param {string} url @param {string} name */
function rotating(url, name) {
  return { p: { type: 'custom', url, grant_type: 'refresh_token', client_id: 'herd', refresh_token: `${name}.0` } };
}

/** A Redis as docs/fleet.md advises it; none where there is no redis-server. @param {string} folder */
async function startRedis(folder) {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  const keep = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...keep]);
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes('Ready to accept connections')) break;
  }
  return { url: `redis://127.0.0.1:${port}`, child };
}
