import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ServedRequest } from '../../src/emulator/control/request-log.ts';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { registerEmulator } from '../../src/store/emulator-registry.ts';
import { recordConnections } from '../support/record-connections.ts';
import { Sandbox } from '../support/run-cli.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

const env = { HOME: sandbox.home };
const secret = 'the-client-secret-of-x';

/** Registers an emulator of this user and stops it, so that another server can take its port. */
async function registerStoppedEmulator(): Promise<number> {
  const emulator = await startEmulator();
  await registerEmulator(emulator, env);
  await emulator.close();
  return emulator.port;
}

async function runToken(port: number) {
  sandbox.write('x.yaml', `x: {type: twitter, client_id: a, client_secret: ${secret}}\n`);
  const { stdout, stderr, exit } = await sandbox.run(
    `oauth-profile token x --data x.yaml --json --quiet --emulate=http://127.0.0.1:${port}`,
  );
  return { stdout, exit, code: stderr === '' ? undefined : JSON.parse(stderr).code };
}

describe('--emulate=URL', () => {
  it('uses an emulator that the same user started, as long as it is registered', async () => {
    const requests: ServedRequest[] = [];
    const profiles = { x: { type: 'twitter', client_id: 'a', client_secret: secret } };
    const emulator = await startEmulator({ profiles, onRequest: (request) => requests.push(request) });
    const unregister = await registerEmulator(emulator, env);
    expect(await runToken(emulator.port)).toMatchObject({ exit: 0 });
    expect(requests).toHaveLength(1);
    unregister();
    expect(await runToken(emulator.port)).toEqual({ stdout: '', exit: 4, code: 'connection_failed' });
    expect(requests).toHaveLength(1);
    await emulator.close();
  });

  it('sends nothing to an emulator of another user on the port of a former one', async () => {
    const port = await registerStoppedEmulator();
    const requests: ServedRequest[] = [];
    const other = await startEmulator({ port, onRequest: (request) => requests.push(request) });
    expect(await runToken(port)).toEqual({ stdout: '', exit: 4, code: 'connection_failed' });
    await other.close();
    expect(requests).toEqual([]);
  });

  it.each([
    ['closes the connection', ''],
    ['speaks HTTP without TLS', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'],
  ])('sends no secret to a server that %s', async (_, response) => {
    const port = await registerStoppedEmulator();
    let received = '';
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        socket.end(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    expect(await runToken(port)).toEqual({ stdout: '', exit: 4, code: 'connection_failed' });
    await new Promise((resolve) => server.close(resolve));
    // The first byte of a TLS handshake.
    expect(received.charCodeAt(0)).toBe(0x16);
    expect(received).not.toContain(secret);
  });

  it('rejects a certificate that other users can replace', async () => {
    const emulator = await startEmulator();
    await registerEmulator(emulator, env);
    chmodSync(join(sandbox.home, '.local/share/oauth-profile/emulators', `${emulator.port}.json`), 0o666);
    expect(await runToken(emulator.port)).toEqual({ stdout: '', exit: 6, code: 'store_unreadable' });
    await emulator.close();
  });
});

describe('--emulate', () => {
  it('connects only to 127.0.0.1, looks up no name, uses no proxy and stores nothing', async () => {
    const sandbox = new Sandbox();
    onTestFinished(() => sandbox.remove());
    sandbox.write(
      'p.yaml',
      `graph: {type: microsoft, tenant_id: contoso.com, client_id: a, refresh_token: rt-12345678}
drive: {type: google, client_id: a, client_secret: b, refresh_token: r}
staff: {type: okta, tenant_id: acme, client_id: a, client_secret: b, username: u, password: p, scope: openid}
lab: {type: gitlab, username: u, password: p}
x: {type: twitter, client_id: a, client_secret: b}
own: {type: custom, url: "https://login.example.com/token", grant_type: client_credentials, client_id: a}
`,
    );
    const names = ['graph', 'drive', 'staff', 'lab', 'x', 'own'];
    const { stdout, stderr, exit } = await sandbox.run(
      `for p in ${names.join(' ')}; do oauth-profile token $p --data p.yaml --emulate --quiet --field token_type || exit; done; cat "$CONNECTIONS" >&2; ls -A "$HOME"`,
      recordConnections(sandbox),
    );
    expect(exit).toBe(0);
    expect(stdout.toLowerCase().trim().split('\n')).toEqual(names.map(() => 'bearer'));
    const lines = stderr.trim().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(names.length);
    expect(lines.filter((line) => !line.endsWith(' 127.0.0.1'))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('connect')).length).toBe(names.length);
  });
});
