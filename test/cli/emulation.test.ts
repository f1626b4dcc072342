import { afterAll, describe, expect, it } from 'vitest';
import { recordConnections } from '../support/record-connections.ts';
import { Sandbox } from '../support/run-cli.ts';
import { serveRaw } from '../support/wire-server.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

const pem = '-----BEGIN CERTIFICATE-----\n';

describe('--emulate=URL', () => {
  it.each([
    ['closes the connection early', `HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${pem}`, true],
    [
      'closes the connection within a chunk',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n${pem}`,
      true,
    ],
    ['sends nothing', '', true],
    ['sends without end', `HTTP/1.1 200 OK\r\n\r\n${pem.repeat(10_000)}`, false],
  ])('fails with connection_failed if the server %s', async (_, bytes, ends) => {
    sandbox.write('x.yaml', 'x: {type: twitter, client_id: a, client_secret: b}\n');
    const server = await serveRaw((socket) => {
      socket.once('data', () => {
        socket.write(bytes);
        if (ends) socket.end();
      });
    });
    const { stdout, stderr, exit } = await sandbox.run(
      `oauth-profile token x --data x.yaml --json --emulate=http://127.0.0.1:${server.port}`,
    );
    expect({ stdout, exit }).toEqual({ stdout: '', exit: 4 });
    expect(JSON.parse(stderr)).toMatchObject({ code: 'connection_failed' });
  });
});

describe('--emulate', () => {
  it('connects only to 127.0.0.1, looks up no name and uses no proxy', async () => {
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
