import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as tlsConnect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { profiles, useEmulator } from './fixture.ts';

describe('the emulator as a proxy', () => {
  const server = useEmulator({ profiles });

  /** Opens a tunnel (RFC 9110 §9.3.6). */
  async function openTunnel(authority: string): Promise<Socket> {
    const connecting = request({ port: server.emulator.port, host: '127.0.0.1', method: 'CONNECT', path: authority });
    connecting.end();
    const [response, socket] = await once(connecting, 'connect');
    expect(response.statusCode).toBe(200);
    return socket;
  }

  async function readAll(socket: Socket): Promise<string> {
    let received = '';
    for await (const chunk of socket) received += chunk;
    return received;
  }

  it.each([
    ['of an emulated host, as the real host', 'gitlab.com', '/api/v4/user', 401],
    ['of a host that is not emulated, as itself', 'www.example.com', '/', 421],
  ])('responds to CONNECT and to the requests %s', async (_, host, path, status) => {
    const tunnel = await openTunnel(`${host}:443`);
    // The certificate is valid for the name of the real host.
    const socket = tlsConnect({ socket: tunnel, servername: host, ca: server.emulator.ca });
    await once(socket, 'secureConnect');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await readAll(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('responds to plain HTTP inside a tunnel, too', async () => {
    const socket = await openTunnel('gitlab.com:80');
    socket.write('GET /api/v4/user HTTP/1.1\r\nHost: gitlab.com\r\nConnection: close\r\n\r\n');
    expect(await readAll(socket)).toMatch(/^HTTP\/1.1 401 /);
  });

  it('responds to a request with an absolute URL', async () => {
    const socket = connect(server.emulator.port, '127.0.0.1');
    socket.write('GET http://gitlab.com/api/v4/user HTTP/1.1\r\nHost: gitlab.com\r\nConnection: close\r\n\r\n');
    expect(await readAll(socket)).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe('the port of the emulator', () => {
  const server = useEmulator({ profiles });
  const others = Object.values(networkInterfaces()).flatMap((list = []) =>
    list.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
  );
  // On Linux, a server on all interfaces would also accept connections to 127.0.0.2.
  const hosts = [...(process.platform === 'linux' ? ['127.0.0.2'] : []), ...others];

  it.each(hosts)('is not open on %s', async (host) => {
    const socket = connect(server.emulator.port, host);
    const [error] = await once(socket, 'error');
    expect(error.code).toBe('ECONNREFUSED');
  });
});
