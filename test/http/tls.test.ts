import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rootCertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secureContextOptions } from '../../src/http/tls.ts';
import { runModule } from '../support/build.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { errorOf } from '../support/errors.ts';
import { bounds, noTls, post, sendWith } from '../support/ports.ts';
import { giveToken, serve, serveRaw } from '../support/server.ts';

const authority = new Authority();
const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const client = authority.issue({ name: 'client', usage: 'clientAuth' });
const trusted = { ...noTls, ca: authority.ca.cert };
const send = sendWith({});

/** One test needs a TLS server other than Node's. */
const hasOpenssl = spawnSync('openssl', ['version']).error === undefined;

describe('a trusted server', () => {
  it('D19 has an issuer in options.ca_file', async () => {
    const server = await serve(giveToken, certificate);
    await expect(send(post(server.url, { tls: trusted }), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('D19 can be reached by host name and by IP address', async () => {
    const server = await serve(giveToken, certificate);
    const url = `https://localhost:${server.port}/token`;
    await expect(send(post(url, { tls: trusted }), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('D19 may have any of several issuers in options.ca_file', async () => {
    const other = new Authority('Other CA');
    const server = await serve(giveToken, certificate);
    const ca = `# our certificate authorities\n${other.ca.cert}\n${authority.ca.cert}`;
    await expect(send(post(server.url, { tls: { ...noTls, ca } }), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('D19 may have an issuer of the system if options.ca_file is set', () => {
    const { ca } = secureContextOptions(trusted, {});
    // Node 22.15 and later add the certificates of the system.
    expect(ca).toEqual(expect.arrayContaining([...rootCertificates]));
    expect(ca?.at(-1)).toBe(authority.ca.cert);
    expect(secureContextOptions(noTls, {})).toEqual({});
  });

  it('D19 may have an issuer in NODE_EXTRA_CA_CERTS if options.ca_file is set', async () => {
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

describe('an untrusted server', () => {
  const expired = authority.issue({ name: 'old', hosts: SERVER_NAMES, days: [-400, -300] });
  const future = authority.issue({ name: 'new', hosts: SERVER_NAMES, days: [300, 400] });
  const foreign = authority.issue({ name: 'foreign', hosts: 'DNS:other.example.test' });
  const cases = [
    ['has an unknown issuer', certificate, noTls, 'graph.options.ca_file'],
    ['is self-signed', authority.ca, noTls, 'graph.options.ca_file'],
    ['has expired', expired, trusted, 'expired'],
    ['is not valid yet', future, trusted, 'clock'],
    ['is for another host', foreign, trusted, 'another host'],
    ['is a client certificate', client, trusted, 'https server'],
  ] as const;
  it.each(cases)('receives no request if its certificate %s', async (_what, pair, tls, hint) => {
    const server = await serve(giveToken, pair);
    const error = await errorOf(send(post(server.url, { tls }), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(error.message).toContain(`127.0.0.1:${server.port}`);
    expect(error.hint).toContain(hint);
    expect(server.requests).toHaveLength(0);
    await server.allClosed();
  });

  it('receives no request if it does not speak TLS', async () => {
    const server = await serve();
    const error = await errorOf(send(post(server.url.replace('http:', 'https:')), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(server.requests).toHaveLength(0);
  });

  it('receives no request if it closes the connection during the handshake', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => socket.destroy()));
    const error = await errorOf(send(post(`https://127.0.0.1:${server.port}/token`), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
  });

  it('D17 receives no request if the handshake hangs, and the connection is closed after the timeout', async () => {
    const server = await serveRaw((socket) => socket.resume());
    const error = await errorOf(send(post(`https://127.0.0.1:${server.port}/token`), bounds(undefined, 60)));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    await server.allClosed();
  });
});

describe('mutual TLS', () => {
  it.each([
    ['two files', { cert: client.cert, certKey: client.key }],
    ['one file with the certificate first', { cert: client.cert + client.key, certKey: undefined }],
    ['one file with the key first', { cert: client.key + client.cert, certKey: undefined }],
  ])('D19 presents the client certificate from %s', async (_what, files) => {
    const server = await serve(giveToken, { ...certificate, clientCa: authority.ca.cert });
    const names: string[] = [];
    server.server.on('secureConnection', (socket) => names.push(socket.getPeerCertificate().subject.CN));
    await expect(send(post(server.url, { tls: { ...trusted, ...files } }), bounds())).resolves.toMatchObject({
      status: 200,
    });
    expect(names).toEqual(['client']);
  });

  it.skipIf(!hasOpenssl)(
    'D19 has a hint about options.cert_file if the server requires a client certificate',
    async () => {
      // Node's servers close the connection; others send an alert, with TLS 1.3 after the handshake.
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
      let output = '';
      let port: string | undefined;
      while (port === undefined) {
        output += (await once(server.stdout, 'data'))[0];
        port = /^ACCEPT 127\.0\.0\.1:(\d+)/m.exec(output)?.[1];
      }
      const error = await errorOf(send(post(`https://127.0.0.1:${port}/token`, { tls: trusted }), bounds()));
      expect(error.code).toBe('tls_failed');
      expect(error.hint).toContain('graph.options.cert_file');
    },
  );
});

describe('an unusable TLS file', () => {
  it.each([
    ['ca_file', { ...noTls, ca: 'not a certificate' }],
    ['cert_file', { ...trusted, cert: 'not a certificate', certKey: client.key }],
    ['cert_key_file', { ...trusted, cert: client.cert, certKey: certificate.key }],
  ])('is reported before anything is sent, with and without a proxy: options.%s', async (option, tls) => {
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

it('an idle TLS connection does not prevent the process from exiting', async () => {
  const server = await serve(giveToken, certificate);
  const { stdout } = await runModule(
    `const { oauthProfile } = await import(process.env.ENTRY);
     const acme = { type: 'custom', url: ${JSON.stringify(server.url)}, grant_type: 'client_credentials', options: { ca_file: process.env.CA_FILE } };
     console.log((await oauthProfile('acme', { data: { acme } })).access_token);`,
    { CA_FILE: authority.caFile },
  );
  expect(stdout).toBe('given-access-token\n');
});
