import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Authority } from '../support/certificates.ts';
import { bounds, errorOf, post, sendWith } from '../support/wire-request.ts';
import { giveToken, serve } from '../support/wire-server.ts';

const authority = new Authority();
const certificate = authority.issue({ name: 'emulator', hosts: 'DNS:login.example.test' });
const ca = authority.ca.cert;

describe('a request to an emulator', () => {
  it('keeps its address and its TLS, but goes nowhere else, not even to a proxy', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:9');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const server = await serve(giveToken, certificate);
    const names: unknown[] = [];
    server.server.on('secureConnection', (socket) => names.push(socket.servername));
    const send = sendWith({}, { port: server.port, ca });
    await expect(send(post('https://login.example.test/t?x=1'), bounds())).resolves.toMatchObject({ status: 200 });
    expect(server.requests[0]).toMatchObject({ path: '/t?x=1', headers: { host: 'login.example.test' } });
    expect(names).toEqual(['login.example.test']);
  });

  it('is refused by one that pretends to be another host', async () => {
    const server = await serve(giveToken, certificate);
    const send = sendWith({}, { port: server.port, ca });
    const error = await errorOf(send(post('https://other.example.test/t'), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(server.requests).toHaveLength(0);
  });

  it('keeps plain http plain', async () => {
    const server = await serve();
    const send = sendWith({}, { port: server.port, ca });
    await expect(send(post('http://192.0.2.1:8080/t'), bounds())).resolves.toMatchObject({ status: 200 });
    expect(server.requests[0]?.headers.host).toBe('192.0.2.1:8080');
  });

  it.each([
    [true, 1],
    [false, 3],
  ])('uses a kept connection only where it may: %s', async (reuseConnection, connections) => {
    const server = await serve(giveToken, certificate);
    const send = sendWith({}, { port: server.port, ca });
    for (let i = 0; i < 3; i++) await send(post('https://login.example.test/t', { reuseConnection }), bounds());
    expect(server.connections).toBe(connections);
  });

  it('says which host is not emulated', async () => {
    const server = await serve((response) => {
      response.writeHead(421, { 'X-OAuth-Profile-Emulator': 'not_emulated' }).end();
    }, certificate);
    const error = await errorOf(
      sendWith({}, { port: server.port, ca })(post('https://login.example.test/'), bounds()),
    );
    expect(error).toMatchObject({ code: 'not_emulated', message: 'login.example.test is not emulated' });
  });
});
