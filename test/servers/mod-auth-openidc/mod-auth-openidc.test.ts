import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, type EmulatorFault, startEmulator } from '../../../src/emulator.ts';
import { Browser } from '../../support/browser.ts';
import { servers } from '../servers.js';
import { reservedPort } from '../support/reserved-port.ts';

const NAME = 'mod-auth-openidc';
const { title = NAME, command: [program, ...args] = [''] } = servers.find(({ directory }) => directory === NAME) ?? {};
const missing = JSON.parse(process.env['MISSING_SERVERS'] ?? '[]').includes(NAME);

const client = { client_id: 'c', client_secret: 'c secret' };
const profiles = {
  acme: {
    type: 'custom',
    url: 'https://login.example.test/oauth/token',
    ...client,
    username: 'eve',
    password: 'pw-eve',
  },
};

describe.skipIf(missing)(title, () => {
  const data = mkdtempSync(join(tmpdir(), `oauth-profile-${NAME}-`));
  let emulator: Emulator;
  let apache: ChildProcess;
  const urls = { site: '', jwt: '', introspection: '' };

  beforeAll(async () => {
    emulator = await startEmulator({ profiles });
    // Apache reads its files as another user if this one is root.
    chmodSync(data, 0o755);
    mkdirSync(join(data, 'site'));
    writeFileSync(join(data, 'site', 'index.html'), 'welcome');
    writeFileSync(join(data, 'ca.pem'), emulator.ca);
    const ports = [await reservedPort(), await reservedPort(), await reservedPort()];
    const [site = 0, jwt = 0, introspection = 0] = ports;
    Object.assign(urls, {
      site: `http://127.0.0.1:${site}/`,
      jwt: `http://127.0.0.1:${jwt}/`,
      introspection: `http://127.0.0.1:${introspection}/`,
    });
    const supervisor = join(import.meta.dirname, '..', 'support', 'supervise.js');
    const config = join(import.meta.dirname, 'apache.conf');
    apache = spawn(process.execPath, [supervisor, program ?? '', ...args, '-f', config], {
      env: {
        DATA: data,
        ISSUER: `${emulator.url}/login.example.test`,
        SECURE_ISSUER: `https://127.0.0.1:${emulator.port}/login.example.test`,
        SITE_PORT: String(site),
        JWT_PORT: String(jwt),
        INTROSPECTION_PORT: String(introspection),
      },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    let errors = '';
    apache.stderr?.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    while (!(await isOpen(introspection))) {
      if (apache.exitCode !== null) throw new Error(`Apache did not start:\n${errors}`);
      await sleep(50);
    }
  }, 60_000);

  afterAll(async () => {
    if (apache.exitCode === null) {
      apache.stdin?.end();
      await once(apache, 'exit');
    }
    await emulator.close();
    if (process.env['SERVER_OUTPUT']) process.stderr.write(readFileSync(join(data, 'error.log')));
    rmSync(data, { recursive: true });
  });

  const control = (method: string, path: string, body: unknown) =>
    fetch(`${emulator.url}/_emulator${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  const setFaults = (...faults: EmulatorFault[]) => control('PUT', '/faults', { faults });
  afterEach(() => setFaults());

  async function requestToken(changes: Record<string, string> = {}): Promise<string> {
    const form = {
      grant_type: 'password',
      ...client,
      username: 'eve',
      password: 'pw-eve',
      resource: 'https://api.test',
    };
    const url = `${emulator.url}/login.example.test/oauth/token`;
    const response = await fetch(url, { method: 'POST', body: new URLSearchParams({ ...form, ...changes }) });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  async function call(url: string, token: string | undefined) {
    const response = await fetch(url, { headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
    const { status, headers } = response;
    return { status, user: headers.get('x-user'), text: status === 200 ? await response.text() : undefined };
  }

  describe.each(['jwt', 'introspection'] as const)('resource server, %s', (kind) => {
    it('accepts a token and learns its user', async () => {
      expect(await call(urls[kind], await requestToken())).toEqual({ status: 200, user: 'eve', text: 'welcome' });
    });

    it('rejects a request without a token', async () => {
      expect((await call(urls[kind], undefined)).status).toBe(401);
    });

    it('rejects a token for another audience', async () => {
      expect((await call(urls[kind], await requestToken({ resource: 'https://other.test' }))).status).toBe(401);
      await setFaults({ kind: 'wrong-audience' });
      expect((await call(urls[kind], await requestToken())).status).toBe(401);
    });

    it('rejects an expired token', async () => {
      await setFaults({ kind: 'expired-token' });
      expect((await call(urls[kind], await requestToken())).status).toBe(401);
    });

    it('rejects a forged token', async () => {
      const [header, , signature] = (await requestToken()).split('.');
      const claims = { iss: `${emulator.url}/login.example.test`, aud: 'https://api.test', sub: 'root', exp: 9e9 };
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
      expect((await call(urls[kind], `${header}.${payload}.${signature}`)).status).toBe(401);
      await setFaults({ kind: 'bad-signature' });
      expect((await call(urls[kind], await requestToken())).status).toBe(401);
    });
  });

  describe('resource server, jwt keys', () => {
    it.each(['wrong-kid', 'expired-signing-key', 'wrong-issuer'] as const)('rejects the fault %s', async (kind) => {
      await setFaults({ kind });
      expect((await call(urls.jwt, await requestToken())).status).toBe(401);
    });

    it('accepts a token of a new key, because it reads the JWKS again', async () => {
      expect((await call(urls.jwt, await requestToken())).status).toBe(200);
      await setFaults({ kind: 'rotated-jwks' });
      expect((await call(urls.jwt, await requestToken())).status).toBe(200);
    });
  });

  describe('resource server, revocation', () => {
    it('rejects a revoked token', async () => {
      const token = await requestToken();
      expect((await call(urls.introspection, token)).status).toBe(200);
      await control('POST', '/tokens/revoke', { token });
      expect((await call(urls.introspection, token)).status).toBe(401);
    });
  });

  describe('login', () => {
    /** Opens the site, signs in and gives consent. */
    async function login() {
      // Cookies belong to a host, whatever the port: one browser would send the cookies of the site to the emulator.
      const [site, provider] = [new Browser(), new Browser()];
      // The module redirects only browsers.
      const { url } = await site.visit(urls.site, undefined, { Accept: 'text/html' });
      const user = { username: 'eve', password: 'pw-eve', step: 'sign-in' };
      const consent = await provider.submit(await provider.visit(url), user);
      const { url: callback } = await provider.submit(consent, { step: 'allow' });
      expect(callback).toContain('code=');
      return site.visit(callback, undefined, { Accept: 'text/html' });
    }

    it('signs a user in with a code, PKCE, an id token and userinfo', async () => {
      const { status, text, headers, url } = await login();
      expect({ status, text, url, user: headers['x-user'] }).toEqual({
        status: 200,
        text: 'welcome',
        url: urls.site,
        user: 'eve@example.com',
      });
    });

    it.each(['wrong-audience', 'wrong-issuer', 'expired-token', 'bad-signature', 'wrong-kid'] as const)(
      'rejects an id token with the fault %s',
      async (kind) => {
        await setFaults({ kind });
        const { text } = await login();
        expect(text).not.toContain('welcome');
      },
    );
  });
});

/** Whether a server listens on the port. */
async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
  }).then((open) => {
    socket.destroy();
    return open === true;
  });
}
