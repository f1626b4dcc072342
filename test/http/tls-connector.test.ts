import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secureContextOptions } from '../../src/http/tls.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { runModule } from '../support/child-module.ts';
import { bounds, errorOf, noTls, post, sendWith } from '../support/wire-request.ts';
import { giveToken, serve, serveRaw } from '../support/wire-server.ts';

const authority = new Authority();
const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const client = authority.issue({ name: 'client', usage: 'clientAuth' });
const trusted = { ...noTls, ca: authority.ca.cert };
const send = sendWith({});

/** A TLS server that is not Node's; where there is none, one test has nothing to talk to. */
const hasOpenssl = spawnSync('openssl', ['version']).error === undefined;

describe('a server that is trusted', () => {
  it('D19 is reached when its authority is in options.ca_file', async () => {
    const server = await serve(giveToken, certificate);
    await expect(send(post(server.url, { tls: trusted }), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('D19 is reached by name as well as by address', async () => {
    const server = await serve(giveToken, certificate);
    const url = `https://localhost:${server.port}/token`;
    await expect(send(post(url, { tls: trusted }), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('D19 may have its authority anywhere among several in the file', async () => {
    const other = new Authority('Other CA');
    const server = await serve(giveToken, certificate);
    const ca = `# our authorities\n${other.ca.cert}\n${authority.ca.cert}`;
    await expect(send(post(server.url, { tls: { ...noTls, ca } }), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('D19 may be one of the system when the profile adds its own', () => {
    const { ca } = secureContextOptions(trusted, {});
    // Newer Nodes have those of the system among them.
    expect(ca).toEqual(expect.arrayContaining([...rootCertificates]));
    expect(ca?.at(-1)).toBe(authority.ca.cert);
    expect(secureContextOptions(noTls, {})).toEqual({});
  });

  it('D19 may be one of NODE_EXTRA_CA_CERTS when the profile adds another', async () => {
    const other = new Authority('Extra CA');
    const extra = await serve(giveToken, other.issue({ name: 'extra', hosts: SERVER_NAMES }));
    const own = await serve(giveToken, certificate);
    const { stdout } = await runModule(
      `const { oauthProfile } = await import(process.env.ENTRY);
       for (const url of [${JSON.stringify(extra.url)}, ${JSON.stringify(own.url)}]) {
         const acme = { type: 'custom', url, grant_type: 'client_credentials', options: { ca_file: process.env.CA_FILE } };
         console.log((await oauthProfile('acme', { data: { acme } })).access_token);
       }`,
      { NODE_EXTRA_CA_CERTS: other.caFile, CA_FILE: authority.caFile },
    );
    expect(stdout).toBe('given-access-token\ngiven-access-token\n');
  });
});

describe('a server that is not trusted', () => {
  const expired = authority.issue({ name: 'old', hosts: SERVER_NAMES, days: [-400, -300] });
  const future = authority.issue({ name: 'new', hosts: SERVER_NAMES, days: [300, 400] });
  const foreign = authority.issue({ name: 'foreign', hosts: 'DNS:other.example.test' });
  const cases = [
    ['whose authority is unknown', certificate, noTls, 'set graph.options.ca_file to its certificate'],
    ['that signed for itself', authority.ca, noTls, 'set graph.options.ca_file to its certificate'],
    ['whose certificate has expired', expired, trusted, 'has expired'],
    ['whose certificate is not valid yet', future, trusted, "check this machine's clock"],
    ['whose certificate is for another host', foreign, trusted, 'the certificate is for another host'],
    ['whose certificate is not for servers', client, trusted, 'check that the address speaks TLS'],
  ] as const;
  it.each(cases)('gets nothing: one %s', async (_what, pair, tls, hint) => {
    const server = await serve(giveToken, pair);
    const error = await errorOf(send(post(server.url, { tls }), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(error.message).toContain(`no trusted connection to 127.0.0.1:${server.port}`);
    expect(error.hint).toContain(hint);
    expect(server.requests).toHaveLength(0);
    await server.allClosed();
  });

  it('gets nothing when it does not speak TLS', async () => {
    const server = await serve();
    const error = await errorOf(send(post(server.url.replace('http:', 'https:')), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(error.hint).toContain('check that the address speaks TLS');
    expect(server.requests).toHaveLength(0);
  });

  it('gets nothing when it ends the connection in the handshake', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => socket.destroy()));
    const error = await errorOf(send(post(`https://127.0.0.1:${server.port}/token`), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
  });

  it('D17 gets nothing when it hangs in the handshake, and is hung up on', async () => {
    const server = await serveRaw((socket) => socket.resume());
    const error = await errorOf(send(post(`https://127.0.0.1:${server.port}/token`), bounds(undefined, 60)));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    expect(error.hint).toContain('no connection came about');
    await server.allClosed();
  });
});

describe('mutual TLS', () => {
  it.each([
    ['two files', { cert: client.cert, certKey: client.key }],
    ['one file, the certificate first', { cert: client.cert + client.key, certKey: undefined }],
    ['one file, the key first', { cert: client.key + client.cert, certKey: undefined }],
  ])('D19 shows the client certificate from %s', async (_what, files) => {
    const server = await serve(giveToken, { ...certificate, clientCa: authority.ca.cert });
    const names: string[] = [];
    server.server.on('secureConnection', (socket) => names.push(socket.getPeerCertificate().subject.CN));
    await expect(send(post(server.url, { tls: { ...trusted, ...files } }), bounds())).resolves.toMatchObject({
      status: 200,
    });
    expect(names).toEqual(['client']);
  });

  it.skipIf(!hasOpenssl)(
    'D19 advises to set options.cert_file when the server refuses to go on without a certificate',
    async () => {
      // Node's own servers hang up; others say why, and TLS 1.3 does so after the handshake.
      const pem = [authority.file('s.pem', certificate.cert), authority.file('s.key', certificate.key)] as const;
      const server = spawn(
        'openssl',
        [
          's_server',
          '-accept',
          '127.0.0.1:0',
          '-cert',
          pem[0],
          '-key',
          pem[1],
          '-CAfile',
          authority.caFile,
          '-Verify',
          '1',
          '-verify_return_error',
        ],
        { stdio: ['pipe', 'pipe', 'ignore'] },
      );
      onTestFinished(() => {
        server.kill('SIGKILL');
      });
      let text = '';
      let port: string | undefined;
      while (port === undefined) {
        text += (await once(server.stdout, 'data'))[0];
        port = /^ACCEPT 127\.0\.0\.1:(\d+)/m.exec(text)?.[1];
      }
      const error = await errorOf(send(post(`https://127.0.0.1:${port}/token`, { tls: trusted }), bounds()));
      expect(error.code).toBe('tls_failed');
      expect(error.hint).toContain('graph.options.cert_file');
    },
  );
});

describe('files that cannot be used', () => {
  it.each([
    ['ca_file', { ...noTls, ca: 'no certificate at all' }],
    ['cert_file', { ...trusted, cert: 'no certificate at all', certKey: client.key }],
    ['cert_key_file', { ...trusted, cert: client.cert, certKey: certificate.key }],
  ])('are named before anything is sent, with and without a proxy: options.%s', async (option, tls) => {
    const server = await serve(giveToken, certificate);
    const proxied = sendWith({ HTTPS_PROXY: `127.0.0.1:${server.port}` });
    for (const reuseConnection of [true, false]) {
      for (const sending of [
        send(post(server.url, { tls, reuseConnection }), bounds()),
        proxied(post('https://login.example.test/token', { tls, reuseConnection }), bounds()),
      ]) {
        expect(await errorOf(sending)).toMatchObject({
          code: 'profile_invalid',
          issues: [{ variable: `graph.options.${option}` }],
        });
      }
    }
    expect(server.connections).toBe(0);
  });
});

it('a TLS connection that is kept does not keep the process', async () => {
  const server = await serve(giveToken, certificate);
  const { stdout } = await runModule(
    `const { oauthProfile } = await import(process.env.ENTRY);
     const acme = { type: 'custom', url: ${JSON.stringify(server.url)}, grant_type: 'client_credentials', options: { ca_file: process.env.CA_FILE } };
     console.log((await oauthProfile('acme', { data: { acme } })).access_token);`,
    { CA_FILE: join(authority.folder, 'ca.pem') },
  );
  expect(stdout).toBe('given-access-token\n');
});
