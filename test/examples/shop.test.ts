import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createShop } from '../../examples/shop/server.js';
import { runCommand } from '../../tools/run-command.js';

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

const run = (...args: string[]) => runCommand(['run', ...args], { cwd, env });

describe('The suite of examples/shop', () => {
  it('passes with more than 30 steps', async () => {
    const { output, exit } = await run('orders.yaml', 'errors.yaml', 'forms-and-files.yaml', '--quiet');
    expect({ output, exit }).toMatchObject({ exit: 0 });
    expect(Number(/^✓ 3 scripts {2}(\d+) steps passed/m.exec(output)?.[1])).toBeGreaterThan(30);
  });

  it.each([
    ['wrong-state', 'broken/wrong-state.yaml:8:5', 'the values differ', 'expected  paid', 'actual    open'],
    [
      'wrong-secret',
      'broken/wrong-secret.yaml:11:5',
      'HTTP 401, invalid_client',
      'check wrong.client_id and wrong.client_secret',
    ],
    ['never-ready', 'broken/never-ready.yaml:11:9', 'expected  archived', 'actual    done'],
  ])('explains why broken/%s.yaml fails', async (name, ...shown) => {
    const { output, exit } = await run(`broken/${name}.yaml`);
    expect(exit).toBe(1);
    for (const text of shown) expect(output).toContain(text);
    expect(output).not.toMatch(/not-the-secret|example-secret/);
  });
});
