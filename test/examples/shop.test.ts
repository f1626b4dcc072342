import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createShop } from '../../examples/shop/server.js';
import { runCommand } from '../../tools/run-command.js';
import { blocksOf } from '../docs/blocks.ts';
import { createTestDirectory } from '../support/directory.ts';

const cwd = join(import.meta.dirname, '..', '..', 'examples', 'shop');
let shop: Server;
let env: Record<string, string>;
beforeAll(async () => {
  shop = createShop().listen(0, '127.0.0.1');
  await once(shop, 'listening');
  env = { SHOP_PORT: String((shop.address() as AddressInfo).port), HOME: '/nonexistent' };
});
afterAll(() => {
  shop.closeAllConnections();
  shop.close();
});

describe('The suite of examples/shop', () => {
  it('passes with more than 30 steps in several scripts at a time', async () => {
    const { output, exit } = await runCommand(['run', 'tests/', '--parallel', '4', '--quiet'], { cwd, env });
    expect({ output, exit }).toMatchObject({ exit: 0 });
    expect(Number(/^✓ 8 scripts {2}(\d+) steps passed/m.exec(output)?.[1])).toBeGreaterThan(30);
  });

  it('has its token requests in the HTML report with secrets masked, also a rejected one', async () => {
    const directory = createTestDirectory();
    const file = join(directory, 'report.html');
    const scripts = ['tests/orders.yaml', 'broken/wrong-secret.yaml'];
    const { exit } = await runCommand(['run', ...scripts, '--env', 'local', '--report', `html=${file}`], { cwd, env });
    expect(exit).toBe(1);
    const page = readFileSync(file, 'utf8');
    const tokenRequests = page.match(/<section class="exchange"[^>]*\/token">.*?<\/section>/gs) ?? [];
    expect(tokenRequests).toHaveLength(2);
    expect(tokenRequests[0]).toContain('&quot;access_token&quot;: &quot;••••&quot;');
    expect(tokenRequests[1]).toContain('&quot;error&quot;: &quot;invalid_client&quot;');
    for (const one of tokenRequests) expect(one).toContain('--data-urlencode client_secret=&quot;$CLIENT_SECRET&quot;');
    expect(page).toContain('<dt>Environment</dt> <dd><bdi>local</bdi>');
    expect(page).not.toMatch(/not-the-secret|example-secret|shop-[0-9a-f]{8}-/);
  });

  it('is shown in the tutorial as it is', () => {
    const shown = blocksOf('docs/tutorial/test-your-api.md').filter(({ file }) => file !== undefined);
    expect(shown.map(({ file }) => file)).toEqual([
      'tests/status.yaml',
      'oauth-profiles.yaml',
      'tests/orders.yaml',
      'tests/shipping.csv',
      'tests/shipping.yaml',
    ]);
    for (const { file = '', text } of shown) expect(text).toBe(readFileSync(join(cwd, file), 'utf8'));
  });
});
