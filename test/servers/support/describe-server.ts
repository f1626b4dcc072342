import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { type Arrival, Browser } from '../../support/browser.ts';
import { type Finished, type Running, Sandbox, startCommand } from '../../support/cli.ts';
import { leaksIn } from '../../support/leaks.ts';
import { servers } from '../servers.js';
import type { RecordedRequest } from './recording-proxy.ts';
import { reservedPort } from './reserved-port.ts';
import { type ServerProcess, startServer } from './server-process.ts';

/** The user who signs in. */
export const USER = { username: 'ada', password: 'lovelace-1815' };

/** Every character that RFC 6749 §2.3.1 makes hard: they differ when a server does not decode a Basic header. */
export const ODD_SECRET = 's e+c/r:t%&=x';

/** Decides on the pages that begin at `url`. Returns the redirect to the client, or the last page. */
export type Decide = (browser: Browser, url: string) => Promise<Arrival>;

/** Whether the server has redirected to the client. It does so without a consent page if it remembers the consent. */
export const isAtClient = ({ url }: Arrival): boolean => new URL(url).pathname === '/callback';

/** How the tests reach a server. */
export interface ServerSettings {
  /** Paths of the endpoints. `resource` needs a token with the scope `read`. */
  readonly paths: { token: string; authorization: string; device?: string; resource?: string };
  /** Whether a token is valid, for a server without a protected resource. */
  readonly verify?: (origin: string, token: string) => Promise<boolean>;
  /** Scope of a login. */
  readonly scope: string;
  /** Client authentication of `robot` and `web`. Default: in the body. */
  readonly clientAuth?: string;
  readonly approve: Decide;
  /** Default: {@link USER}. */
  readonly user?: typeof USER;
}

/** Fields of profiles, by profile. */
type Profiles = Record<string, Record<string, unknown>>;

/** A server of others with the profiles `robot`, `web` and `tool`, and a sandbox for each test. */
export class Server {
  #process: ServerProcess | undefined;
  #sandbox: Sandbox | undefined;
  #port = 0;

  constructor(
    readonly name: string,
    readonly settings: ServerSettings,
  ) {}

  async start(): Promise<void> {
    this.#port = await reservedPort();
    this.#process = await startServer(this.name, `http://127.0.0.1:${this.#port}/callback`);
  }

  async stop(): Promise<void> {
    await this.#process?.close();
  }

  /** Begins a test. */
  reset(): void {
    this.#sandbox = new Sandbox();
    this.received.length = 0;
    this.write({});
  }

  /** Ends a test. */
  cleanUp(): void {
    this.#sandbox?.remove();
  }

  get sandbox(): Sandbox {
    if (this.#sandbox === undefined) throw new Error('a sandbox exists only during a test');
    return this.#sandbox;
  }

  get origin(): string {
    if (this.#process === undefined) throw new Error('the server is not running');
    return this.#process.proxy.origin;
  }

  /** POST requests that the server received during this test. */
  get received(): RecordedRequest[] {
    return this.#process?.proxy.received ?? [];
  }

  /** Requests to the token endpoint with this grant. */
  tokenRequests(grant: string): RecordedRequest[] {
    return this.received.filter(({ path, form }) => path === this.settings.paths.token && form['grant_type'] === grant);
  }

  url(endpoint: 'token' | 'authorization' | 'device' | 'resource'): string {
    return `${this.origin}${this.settings.paths[endpoint]}`;
  }

  /** Options of a profile for a login. */
  loginOptions(profile: 'web' | 'tool'): Record<string, string> {
    const { clientAuth } = this.settings;
    return {
      authorization_url: this.url('authorization'),
      ...(profile === 'web' && clientAuth !== undefined && { client_auth: clientAuth }),
      ...(this.settings.paths.device !== undefined && { device_authorization_url: this.url('device') }),
    };
  }

  /** Writes the profiles, with changed or added ones. */
  write(changes: Profiles): void {
    const { scope, clientAuth } = this.settings;
    const auth = clientAuth === undefined ? {} : { client_auth: clientAuth };
    const base = { type: 'custom', url: this.url('token') };
    const profiles: Profiles = {
      robot: {
        ...base,
        grant_type: 'client_credentials',
        client_id: 'robot',
        client_secret: 'robot-secret',
        scope: 'read',
        options: auth,
      },
      web: { ...base, client_id: 'web', client_secret: 'web-secret', scope, options: this.loginOptions('web') },
      tool: { ...base, client_id: 'tool', scope, options: this.loginOptions('tool') },
    };
    for (const [name, fields] of Object.entries(changes)) profiles[name] = { ...base, ...profiles[name], ...fields };
    this.sandbox.write('oauth-profiles.json', JSON.stringify(profiles));
  }

  /** Runs `oauth-profile` with the words of `line`. Its output must not contain a configured secret. */
  async run(line: string, env: Record<string, string> = {}): Promise<Finished> {
    return checkSecrets(await this.sandbox.run(`oauth-profile ${line}`, env));
  }

  /** Logs in with a browser. */
  async login(profile: string, decide: Decide = this.settings.approve, flags: string[] = []): Promise<Finished> {
    const args = ['login', profile, '--browser', '--no-open', '--port', String(this.#port), ...flags];
    const login = startCommand(this.sandbox, args);
    try {
      const [, url = ''] = await login.waitFor(/^ {2}(http\S+)\n/m);
      const browser = new Browser();
      const { url: redirect } = await decide(browser, url);
      await browser.visit(redirect);
      return checkSecrets(await login.finished);
    } finally {
      login.child.kill();
    }
  }

  /** Starts a login with a device code. */
  startDeviceLogin(profile: string): Running {
    return startCommand(this.sandbox, ['login', profile, '--device']);
  }

  /** The stored response of a profile, with its refresh token. */
  async response(profile: string): Promise<Record<string, string>> {
    const { stdout, stderr } = await this.run(`token ${profile} --json --reveal`);
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }

  /** Whether a valid refresh token of a profile is stored. */
  async isRefreshable(profile: string): Promise<boolean> {
    const { profiles } = JSON.parse((await this.run('list --json')).stdout);
    return profiles.some(
      (row: { profile: string; refreshable?: boolean }) => row.profile === profile && row.refreshable,
    );
  }

  /** Sends a form to the server without the client under test. */
  post(path: string, form: Record<string, string>): Promise<Response> {
    return fetch(`${this.origin}${path}`, { method: 'POST', body: new URLSearchParams(form) });
  }

  /** Whether the resource server accepts a token. */
  async accepts(token: string): Promise<boolean> {
    if (this.settings.verify !== undefined) return this.settings.verify(this.origin, token.trim());
    const response = await fetch(this.url('resource'), { headers: { Authorization: `Bearer ${token.trim()}` } });
    await response.text();
    return response.status === 200;
  }
}

/** Declares the tests of a server, which is started for them. They are skipped if the server is not installed. */
export function describeServer(name: string, settings: ServerSettings, declare: (server: Server) => void): void {
  const title = servers.find(({ directory }) => directory === name)?.title ?? name;
  const missing = JSON.parse(process.env['MISSING_SERVERS'] ?? '[]').includes(name);
  describe.skipIf(missing)(title, () => {
    const server = new Server(name, settings);
    beforeAll(() => server.start(), 60_000);
    afterAll(() => server.stop());
    beforeEach(() => server.reset());
    afterEach(() => server.cleanUp());
    declare(server);
  });
}

function checkSecrets(finished: Finished): Finished {
  const secrets = ['robot-secret', 'web-secret', ODD_SECRET, USER.password];
  expect(leaksIn(finished.stdout + finished.stderr, secrets)).toEqual([]);
  return finished;
}
