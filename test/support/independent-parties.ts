import { type KeyObject, randomBytes, sign } from 'node:crypto';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { ProviderError } from '../../src/errors.ts';
import type { TokenResponse } from '../../src/oauth-profile.ts';
import { ask } from './independent-asking.ts';
import { type Arrival, Browser } from './independent-browser.ts';
import { startOAuth2Server } from './independent-oauth2-server.ts';
import { startOidcProvider } from './independent-oidc-provider.ts';

/** The servers that are compared, in the order of the documentation's columns. */
export const partyNames = ['oidc-provider', 'oauth2-server', 'emulator'] as const;

/** One of them. */
export type PartyName = (typeof partyNames)[number];

/** Fields of a profile. */
export type Fields = Readonly<Record<string, string>>;

/** A server that gets the same requests as the others. */
export interface Party {
  readonly name: PartyName;
  /** How it calls itself in assertions. */
  readonly audience: string;
  /** The response to a profile with these fields. */
  token(fields: Fields): Promise<TokenResponse>;
  /** What a profile with these fields comes to: `token`, or status and error. */
  outcome(fields: Fields): Promise<string>;
  /** A request by hand, for what our client never sends. */
  post(form: string, headers?: Record<string, string>): Promise<Arrival>;
  /** An authorization code for the client `web`. */
  code(query: Fields): Promise<string>;
  /** A device code for the client `web`, after the person did something. */
  device(decision: 'waits' | 'agrees' | 'declines'): Promise<string>;
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
const people = { 'ada@example.com': 'lovelace' };

/** What the client `signer` signs with: an elliptic curve, P-256. */
export interface SigningKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** All parties, with the same clients and people; `robot` may use `client_credentials` only. */
export async function startParties({ privateKey, publicKey }: SigningKeys): Promise<Party[]> {
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
    ...asking(server.tokenUrl),
    post: (form, headers) => new Browser().send(server.tokenUrl, form, headers),
    code: async (query) => codeIn(await new Browser().visit(authorizeUrl(`${server.issuer}/auth`, query))),
    async device(decision) {
      const { device_code, verification_uri_complete } = await newDevice(`${server.issuer}/device/auth`);
      const person = new Browser();
      if (decision === 'waits') return device_code;
      const page = await person.visit(verification_uri_complete);
      if (decision === 'declines') await person.submit(page, { abort: 'yes' });
      else await person.submit(await person.submit(page));
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
    users: people,
    scopes: ['openid', 'offline_access', 'read', 'write'],
  });
  return {
    name: 'oauth2-server',
    audience: server.tokenUrl,
    ...asking(server.tokenUrl),
    post: (form, headers) => new Browser().send(server.tokenUrl, form, headers),
    code: async (query) => codeIn(await new Browser().visit(authorizeUrl(`${server.origin}/authorize`, query))),
    device: () => Promise.reject(new Error('it has no device codes')),
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
  // Asked for each time: tests let time pass.
  const clock = (): number => Date.now();
  const running = await startEmulator({ profiles: { ...Object.fromEntries(clients), signer }, clock });
  const base = `${running.url}/login.example.test`;
  return {
    name: 'emulator',
    audience: url,
    ...asking(url, running),
    post: (form, headers) => new Browser().send(`${base}/token`, form, headers),
    async code(query) {
      const person = new Browser();
      const page = await person.visit(authorizeUrl(`${base}/authorize`, query));
      return codeIn(await person.submit(await person.submit(page, signingIn), { step: 'allow' }));
    },
    async device(decision) {
      const { device_code, verification_uri_complete } = await newDevice(`${base}/device_authorization`);
      const person = new Browser();
      if (decision === 'waits') return device_code;
      const [, user_code = ''] = verification_uri_complete.split('user_code=');
      const page = await person.submit(await person.visit(verification_uri_complete), { user_code });
      const step = decision === 'agrees' ? 'allow' : 'deny';
      await person.submit(await person.submit(page, signingIn), { step });
      return device_code;
    },
    close: running.close,
  };
}

const [[username, password] = ['', '']] = Object.entries(people);
const signingIn = { username, password, step: 'sign-in' };

function asking(url: string, address?: { port: number; ca: string }): Pick<Party, 'token' | 'outcome'> {
  const token = (fields: Fields): Promise<TokenResponse> => ask({ type: 'custom', url, ...fields }, address);
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

/** What an answer to a request by hand comes to, in the words of {@link Party.outcome}. */
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
  if (code === null) throw new Error(`no code came back, but ${url} ${text}`);
  return code;
}

async function newDevice(endpoint: string): Promise<{ device_code: string; verification_uri_complete: string }> {
  const form = { client_id: 'web', client_secret: 'web-secret', scope: 'openid offline_access', prompt: 'consent' };
  const { status, text } = await new Browser().visit(endpoint, form);
  if (status !== 200) throw new Error(`no device code, but ${status} ${text}`);
  return JSON.parse(text);
}

/** A client assertion of `signer` (RFC 7523 §3), with claims changed; `undefined` leaves one out. */
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
