import type { Client } from '../../../src/client.ts';
import { type LoginResult, login } from '../../../src/flows/login/login.ts';
import { type FamilyRecord, type LoginRecord, parseRecord } from '../../../src/flows/records.ts';
import { SingleFlight } from '../../../src/flows/single-flight.ts';
import type { TokenResult } from '../../../src/flows/token-cache.ts';
import { findStoredGrant } from '../../../src/flows/token-family.ts';
import { type GetTokenOptions, getProfileToken } from '../../../src/get-token.ts';
import type { ParsedToken } from '../../../src/oauth/token-response.ts';
import type { TokenStore, WireRequest } from '../../../src/ports.ts';
import { completeProfile } from '../../../src/profile/complete-profile.ts';
import { type LoginProfile, toLoginProfile } from '../../../src/profile/login-profile.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { fakePorts } from '../../support/ports.ts';
import { parsedProfileOf } from '../../support/profiles.ts';
import { createPlainMemoryStore } from '../../support/store.ts';

type Fields = Readonly<Record<string, unknown>>;

export const gitlab = { type: 'gitlab', client_id: 'app', client_secret: 'app-secret', scope: 'api' };
export const custom = { type: 'custom', url: 'https://id.example.com/token', client_id: 'tool' };

/** The response of the provider to a login, and the consent of the user. */
export interface LoginOptions {
  /** Default: `rt-first`; `null` for none. */
  readonly refreshToken?: string | null;
  readonly account?: string;
  /** Whether the response has `expires_in`. Default: true. */
  readonly expires?: boolean;
  readonly scope?: unknown;
  /** Whether the user agrees to replace the login of another account. */
  readonly replace?: boolean;
}

/** A store and a provider, whose response a test can replace. */
export class StoredLogins {
  readonly sent: WireRequest[] = [];
  response = { status: 200, body: '{"access_token":"refreshed","refresh_token":"rt-next","expires_in":60}' };
  readonly ports = fakePorts({
    send: async (request) => {
      this.sent.push(request);
      return { ...this.response, headers: {} };
    },
  });
  store: TokenStore = createPlainMemoryStore(this.ports.clock);

  /** Logs a user in. `prompts` contains the former and the new account if the user had to confirm the change. */
  async logIn(
    name: string,
    fields: Fields,
    options: LoginOptions = {},
  ): Promise<LoginResult & { readonly prompts: readonly string[] }> {
    const prompts: string[] = [];
    const task = {
      parsed: parsedProfileOf(name, fields),
      login: loginProfile(name, fields),
      authenticate: async () => this.#responseOf(options),
      mayReplace: async (former: string, account: string) => {
        prompts.push(former, account);
        return options.replace === true;
      },
    };
    return { ...(await login(task, this.ports, this.store)), prompts };
  }

  /** A profile, completed with its stored login. */
  async profile(name: string, fields: Fields): Promise<Profile> {
    const parsed = parsedProfileOf(name, fields);
    const { binding, configuredRefreshToken } = parsed;
    const grant = binding && (await findStoredGrant(name, binding, configuredRefreshToken, this.store));
    return completeProfile(parsed, grant);
  }

  /** The refresh token that a profile would send. */
  async refreshToken(name: string, fields: Fields): Promise<string | undefined> {
    const value = (await this.profile(name, fields)).fields.find((field) => field.name === 'refresh_token')?.value;
    return value instanceof Secret ? value.reveal() : value;
  }

  getToken(profile: Profile, options: GetTokenOptions): Promise<TokenResult> {
    const clock = { ...this.ports.clock, sleep: () => new Promise<void>(() => {}) };
    const client: Partial<Client> = {
      ports: this.ports,
      openStore: async () => this.store,
      singleFlight: new SingleFlight(clock),
      warn: () => {},
    };
    return getProfileToken(client as Client, profile, { reuse: true, ...options });
  }

  /** The record of the only login, and of its family. */
  async records(): Promise<{ readonly login: LoginRecord; readonly family: FamilyRecord }> {
    const records = (await this.store.list()).map(parseRecord);
    const login = records.find((record) => record.kind === 'login');
    const family = records.find((record) => record.kind === 'family');
    if (login === undefined || family === undefined || records.length !== 2) throw new Error('not one login');
    return { login, family };
  }

  #responseOf({ refreshToken = 'rt-first', account, expires = true, scope = 'api' }: LoginOptions): ParsedToken {
    const payload = Buffer.from(JSON.stringify({ preferred_username: account })).toString('base64url');
    const idToken = account === undefined ? {} : { id_token: `e30.${payload}.x` };
    return {
      response: {
        access_token: 'at-first',
        ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
        ...(expires ? { expires_in: 3600 } : {}),
        scope,
        ...idToken,
      },
      accessToken: new Secret('at-first'),
      refreshToken: refreshToken === null ? undefined : new Secret(refreshToken),
      otherSecrets: [],
      tokenType: 'Bearer',
      expiresAt: expires ? this.ports.clock.now() + 3_600_000 : undefined,
    };
  }
}

/** A profile for a login. */
export function loginProfile(name: string, fields: Fields): LoginProfile {
  return toLoginProfile(parsedProfileOf(name, fields));
}
