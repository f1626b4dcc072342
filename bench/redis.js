import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A Redis as docs/fleet.md advises it; none where there is no redis-server. @param {string} folder */
export async function startRedis(folder) {
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
  const end = async () => {
    child.kill();
    await once(child, 'exit');
  };
  return { url: `redis://127.0.0.1:${port}`, end };
}
