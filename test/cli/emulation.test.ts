import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ServedRequest } from '../../src/emulator/control/request-log.ts';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { registerEmulator } from '../../src/store/emulator-registry.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { recordConnections, Sandbox } from '../support/cli.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { serve } from '../support/server.ts';

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

describe('--allow', () => {
  const authority = new Authority();
  const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });

  /** Runs a script that calls a real host, which only a proxy of the user can resolve, and a server on this machine. */
  async function runScript(flags: string) {
    const remote = await serve((response) => response.end('{"from":"remote"}'), certificate);
    const local = await serve((response) => response.end('{"from":"local"}'));
    const proxy = await ConnectProxy.start(remote.port);
    const own = new Sandbox();
    onTestFinished(() => own.remove());
    own.write(
      'calls.yaml',
      `steps:
  - ws.get: ["${local.url}", "", local]
  - base.assertEqual: [local, "\${local.body.from}"]
  - ws.get: ["https://login.example.test/orders", "", remote]
  - base.assertEqual: [remote, "\${remote.body.from}"]
`,
    );
    const { stdout, exit } = await own.run(`oauth-profile run calls.yaml --emulate ${flags}`, {
      HTTPS_PROXY: proxy.url(),
      NODE_EXTRA_CA_CERTS: authority.caFile,
    });
    return { stdout, exit, local: local.requests.length, remote: remote.requests.map(({ path }) => path) };
  }

  it('connects to the real host of an allowed origin, through the proxy of the user', async () => {
    const { exit, local, remote } = await runScript('--allow https://login.example.test');
    expect({ exit, local, remote }).toEqual({ exit: 0, local: 1, remote: ['/orders'] });
  });

  it.each([
    '',
    '--allow https://other.example.test',
    '--allow https://login.example.test:8443',
    '--allow http://login.example.test',
  ])('connects to no host of another origin: %j', async (flags) => {
    const { stdout, exit, local, remote } = await runScript(flags);
    expect({ exit, local, remote }).toEqual({ exit: 1, local: 1, remote: [] });
    expect(stdout).toContain('login.example.test is not emulated');
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
