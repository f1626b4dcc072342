import { type KeyObject, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { ProviderError } from '../../src/errors.ts';
import type { TokenResponse } from '../../src/oauth-profile.ts';
import { type Arrival, Browser } from '../support/browser.ts';
import { request } from '../support/client.ts';
import { startOidcProvider } from '../support/oidc-provider.ts';
import { startOAuth2Server } from './oauth2-server.ts';

/** The servers that are compared, in the order of the documentation's columns. */
const partyNames = ['oidc-provider', 'oauth2-server', 'emulator'] as const;

/** Name of a server that is compared. */
type PartyName = (typeof partyNames)[number];

/** Fields of a profile. */
export type Fields = Readonly<Record<string, string>>;

/** A server that gets the same requests as the others. */
export interface Party {
  readonly name: PartyName;
  /** Audience of client assertions. */
  readonly audience: string;
  /** The response to a profile with these fields. */
  token(fields: Fields): Promise<TokenResponse>;
  /** Outcome of a profile with these fields: `token`, or status and error. */
  outcome(fields: Fields): Promise<string>;
  /** Sends a request that this client never sends. */
  post(form: string, headers?: Record<string, string>): Promise<Arrival>;
  /** An authorization code for the client `web`. */
  code(query: Fields): Promise<string>;
  /** A device code for the client `web`, after the decision of the user. */
  device(decision: 'pending' | 'allow' | 'deny'): Promise<string>;
  close(): Promise<void>;
}

export const REDIRECT = 'https://app.example.test/callback';
export const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
export const ODD_SECRET = 'p@ss w/+~:%';
export const PLUS_SECRET = 'plus+secret';

const secrets: Readonly<Record<string, string>> = {
  web: 'web-secret',
  other: 'other-secret',
  robot: 'robot-secret',
  odd: ODD_SECRET,
  plus: PLUS_SECRET,
};
const users = { 'ada@example.com': 'lovelace' };

/** The P-256 key pair of the client `signer`. */
interface SigningKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Starts all servers with the same clients and users; `robot` may use `client_credentials` only. */
async function startParties({ privateKey, publicKey }: SigningKeys): Promise<Party[]> {
  return Promise.all([oidcProvider(publicKey), oauth2Server(), emulator(privateKey)]);
}

async function oidcProvider(key: KeyObject): Promise<Party> {
  const machine = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
  const all = ['authorization_code', 'client_credentials', 'refresh_token', DEVICE];
  const server = await startOidcProvider([
    ...Object.entries(secrets).map(([client_id, client_secret]) => ({
      client_id,
      client_secret,
      ...(client_id === 'robot' ? machine : { grant_types: all, redirect_uris: [REDIRECT] }),
    })),
    {
      client_id: 'signer',
      ...machine,
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [key.export({ format: 'jwk' })] },
    },
  ]);
  return {
    name: 'oidc-provider',
    audience: server.tokenUrl,
    ...requestsTo(server.tokenUrl),
    post: (form, headers) => new Browser().send(server.tokenUrl, form, headers),
    code: async (query) => codeIn(await new Browser().visit(authorizeUrl(`${server.issuer}/auth`, query))),
    async device(decision) {
      const { device_code, verification_uri_complete } = await newDevice(`${server.issuer}/device/auth`);
      const user = new Browser();
      if (decision === 'pending') return device_code;
      const page = await user.visit(verification_uri_complete);
      if (decision === 'deny') await user.submit(page, { abort: 'yes' });
      else await user.submit(await user.submit(page));
      return device_code;
    },
    close: server.close,
  };
}

async function oauth2Server(): Promise<Party> {
  const all = ['authorization_code', 'client_credentials', 'password', 'refresh_token'];
  const server = await startOAuth2Server({
    clients: Object.entries(secrets).map(([id, secret]) => ({
      id,
      secret,
      grants: id === 'robot' ? ['client_credentials'] : all,
      redirectUris: [REDIRECT],
    })),
    users,
    scopes: ['openid', 'offline_access', 'read', 'write'],
  });
  return {
    name: 'oauth2-server',
    audience: server.tokenUrl,
    ...requestsTo(server.tokenUrl),
    post: (form, headers) => new Browser().send(server.tokenUrl, form, headers),
    code: async (query) => codeIn(await new Browser().visit(authorizeUrl(`${server.origin}/authorize`, query))),
    device: () => Promise.reject(new Error('oauth2-server does not support device codes')),
    close: server.close,
  };
}

async function emulator(key: KeyObject): Promise<Party> {
  const url = 'https://login.example.test/token';
  const clients = Object.entries(secrets).map(([client_id, client_secret]) => [
    client_id,
    { type: 'custom', url, client_id, client_secret, username, password },
  ]);
  const pem = key.export({ format: 'pem', type: 'pkcs8' });
  const signer = { type: 'custom', url, client_id: 'signer', options: { client_auth: 'private_key_jwt', key: pem } };
  // `Date.now` itself would not see the fake timers of a test.
  const clock = (): number => Date.now();
  const running = await startEmulator({ profiles: { ...Object.fromEntries(clients), signer }, clock });
  const base = `${running.url}/login.example.test`;
  return {
    name: 'emulator',
    audience: url,
    ...requestsTo(url, running),
    post: (form, headers) => new Browser().send(`${base}/token`, form, headers),
    async code(query) {
      const user = new Browser();
      const page = await user.visit(authorizeUrl(`${base}/authorize`, query));
      return codeIn(await user.submit(await user.submit(page, signingIn), { step: 'allow' }));
    },
    async device(decision) {
      const { device_code, verification_uri_complete } = await newDevice(`${base}/device_authorization`);
      const user = new Browser();
      if (decision === 'pending') return device_code;
      const [, user_code = ''] = verification_uri_complete.split('user_code=');
      const page = await user.submit(await user.visit(verification_uri_complete), { user_code });
      await user.submit(await user.submit(page, signingIn), { step: decision });
      return device_code;
    },
    close: running.close,
  };
}

const [[username, password] = ['', '']] = Object.entries(users);
const signingIn = { username, password, step: 'sign-in' };

function requestsTo(url: string, emulator?: { port: number; ca: string }): Pick<Party, 'token' | 'outcome'> {
  const token = (fields: Fields): Promise<TokenResponse> => request({ type: 'custom', url, ...fields }, emulator);
  return {
    token,
    async outcome(fields) {
      try {
        await token(fields);
        return 'token';
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return `${error.provider.status} ${error.provider.error}`;
      }
    },
  };
}

/** Outcome of a response, as in {@link Party.outcome}. */
export function outcomeOf({ status, text }: Arrival): string {
  const { access_token, error } = JSON.parse(text);
  return status === 200 && typeof access_token === 'string' ? 'token' : `${status} ${error}`;
}

function authorizeUrl(endpoint: string, query: Fields): string {
  return `${endpoint}?${new URLSearchParams({
    client_id: 'web',
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'openid offline_access read',
    prompt: 'consent',
    ...query,
  })}`;
}

function codeIn({ url, text }: Arrival): string {
  const code = new URL(url).searchParams.get('code');
  if (code === null) throw new Error(`no code, but ${url} ${text}`);
  return code;
}

async function newDevice(endpoint: string): Promise<{ device_code: string; verification_uri_complete: string }> {
  const form = { client_id: 'web', client_secret: 'web-secret', scope: 'openid offline_access', prompt: 'consent' };
  const { status, text } = await new Browser().visit(endpoint, form);
  if (status !== 200) throw new Error(`no device code, but ${status} ${text}`);
  return JSON.parse(text);
}

/** A client assertion of `signer` (RFC 7523 §3) with changed claims; `undefined` removes one. */
export function assertion(key: KeyObject, audience: unknown, changed: Record<string, unknown> = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: 'signer',
    sub: 'signer',
    aud: audience,
    jti: randomBytes(9).toString('hex'),
    exp: now + 60,
    iat: now,
  };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'ES256', typ: 'JWT' })}.${part({ ...claims, ...changed })}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** A request, valid or not, and its expected outcome. */
interface Case {
  /** Servers that support the grant or the client authentication. Default: all. */
  readonly of?: readonly PartyName[];
  /** Outcome that the RFC requires of the emulator, whatever the others do. */
  readonly must?: string;
  readonly try: (party: Party) => Promise<string>;
}

/** Tries every case with every server. All outcomes must be equal, or documented below that heading. */
export function compare(heading: string, keys: SigningKeys, cases: Readonly<Record<string, Case>>): void {
  const documented = disagreements(heading);
  let parties: Party[];
  beforeAll(async () => {
    parties = await startParties(keys);
  });
  afterAll(() => Promise.all(parties.map((party) => party.close())));
  afterEach(() => {
    vi.useRealTimers();
  });

  describe(`the emulator and independent servers (${heading})`, () => {
    it.each(Object.entries(cases))('have the same outcome, or the documented ones, for: %s', async (name, testCase) => {
      const outcomes: Partial<Record<PartyName, string>> = {};
      for (const party of parties) {
        if (testCase.of?.includes(party.name) === false) continue;
        outcomes[party.name] = await testCase.try(party);
        vi.useRealTimers();
      }
      if (testCase.must !== undefined) expect(outcomes.emulator).toBe(testCase.must);
      const known = documented.get(name);
      if (known !== undefined) expect(outcomes).toEqual(known);
      else expect(new Set(Object.values(outcomes).map(withStatusClass)), JSON.stringify(outcomes)).toHaveLength(1);
    });

    it('have no documented outcome that is not tested', () => {
      expect([...documented.keys()].filter((name) => !Object.hasOwn(cases, name))).toEqual([]);
    });
  });
}

/** Advances the clock of the servers, which have no timers. */
export function passSeconds(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

/** Statuses of one class mean the same: RFC 6749 §5.2 lets a server choose between 400 and 401. */
function withStatusClass(outcome: string): string {
  return outcome.replace(/^(\d)\d\d /, '$1xx ');
}

/** The documented outcomes of each server below a heading, by case. */
function disagreements(heading: string): Map<string, Partial<Record<PartyName, string>>> {
  const page = readFileSync(new URL('../../docs/contributing/testing.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const [table = ''] = section.split('\n#');
  const rows = table.split('\n').filter((line) => /^\| [^|]+ \| (?:`|–)/.test(line));
  if (rows.length === 0) throw new Error(`docs/contributing/testing.md has no table below ${heading}`);
  return new Map(
    rows.map((row) => {
      const [, name = '', ...cells] = row.split('|').map((cell) => cell.trim());
      const outcomes = partyNames
        .map((party, index) => [party, cells[index] ?? ''] as const)
        .filter(([, cell]) => cell !== '–')
        .map(([party, cell]) => [party, cell.replace(/^`|`$/g, '')]);
      return [name, Object.fromEntries(outcomes)];
    }),
  );
}
