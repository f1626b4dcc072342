import { expect } from 'vitest';
import { type Client, createClient } from '../../src/client.ts';
import type { DataObject } from '../../src/config/flatten.ts';
import type { Variables } from '../../src/config/variables.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { ProviderError } from '../../src/errors.ts';
import { type BrowserLoginOptions, loginWithAuthorizationCode } from '../../src/flows/login/authorization-code.ts';
import { type DeviceCodePrompt, loginWithDeviceCode } from '../../src/flows/login/device-code.ts';
import { type LoginResult, login as runLogin } from '../../src/flows/login/login.ts';
import { requestToken } from '../../src/flows/request-token.ts';
import { getToken } from '../../src/get-token.ts';
import type { TokenResponse } from '../../src/oauth-profile.ts';
import type { EmulatorEndpoint, LoginPorts, Ports } from '../../src/ports.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { type LoginProfile, toLoginProfile } from '../../src/profile/login-profile.ts';
import { type ParsedProfile, parseProfile } from '../../src/profile/parse-profile.ts';
import { leaksIn } from './leaks.ts';
import { variablesWith } from './profiles.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Replacements for one login. */
export interface LoginChanges {
  readonly ports?: Partial<Ports>;
  readonly loginPorts?: Partial<LoginPorts>;
  readonly options?: Partial<BrowserLoginOptions>;
  readonly readLine?: (signal: AbortSignal) => Promise<string>;
  readonly mayReplace?: (former: string, account: string) => Promise<boolean>;
  readonly signal?: AbortSignal;
}

/** One profile with its emulated provider and its own store, for several commands in one process. */
export class LoginFixture {
  /** URLs and mistakes that were shown to the user. */
  readonly shown: string[] = [];

  constructor(
    readonly name: string,
    readonly variables: Variables,
    readonly client: Client,
    readonly emulator: Emulator | undefined,
  ) {}

  /** A profile with the real URLs of its provider, which is emulated. */
  static async emulated(name: string, fields: Fields, clock?: () => number): Promise<LoginFixture> {
    const profiles = { [name]: fields as Record<string, unknown> };
    const emulator = await startEmulator({ profiles, clock });
    const client = createClient({ environment: { env: {}, cwd: '/' }, emulator });
    return new LoginFixture(name, variablesWith(name, fields), client, emulator);
  }

  /** Another profile with the same name and emulator, and an empty store. */
  withFields(fields: Fields): LoginFixture {
    const { name, emulator } = this;
    const client = createClient({ environment: { env: {}, cwd: '/' }, emulator });
    return new LoginFixture(name, variablesWith(name, fields), client, emulator);
  }

  get profile(): LoginProfile {
    return toLoginProfile(this.#parsed);
  }

  /** `open` is the user's browser. */
  async loginWithBrowser(open: (url: string) => void, changes: LoginChanges = {}): Promise<LoginResult> {
    const ports = { ...this.client.ports, ...changes.ports };
    const loginPorts: LoginPorts = {
      ...(await this.client.loginPorts()),
      openBrowser: async (url) => {
        open(url);
        return undefined;
      },
      ...changes.loginPorts,
    };
    const prompt = {
      readLine: changes.readLine,
      showUrl: (url: string) => void this.shown.push(url),
      showMistake: (message: string) => void this.shown.push(message),
      showWarning: (message: string) => void this.shown.push(message),
    };
    const options = { port: undefined, open: true, ...changes.options };
    return this.#login(
      (profile) => loginWithAuthorizationCode(profile, options, ports, loginPorts, prompt, changes.signal),
      ports,
      changes,
    );
  }

  async loginWithDevice(prompt: DeviceCodePrompt, changes: LoginChanges = {}): Promise<LoginResult> {
    const ports = { ...this.client.ports, ...changes.ports };
    return this.#login((profile) => loginWithDeviceCode(profile, ports, prompt, changes.signal), ports, changes);
  }

  /** A token, as the command `token` gets it. */
  async token(
    forceRefresh = false,
  ): Promise<{ token: string; fromCache: boolean; response: Readonly<Record<string, unknown>> }> {
    const { variables } = this;
    const { token, fromCache } = await getToken(this.client, this.name, { variables, reuse: true, forceRefresh });
    return { token: token.accessToken.reveal(), fromCache, response: token.response };
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.emulator?.close();
  }

  get #parsed(): ParsedProfile {
    return parseProfile(this.name, this.variables, this.client.sources);
  }

  async #login(
    authenticate: (profile: LoginProfile) => ReturnType<typeof loginWithDeviceCode>,
    ports: Ports,
    { mayReplace = async () => false }: LoginChanges,
  ): Promise<LoginResult> {
    const task = { parsed: this.#parsed, login: this.profile, authenticate, mayReplace };
    return runLogin(task, ports, await this.client.openStore());
  }
}

const secretFields = /secret|password|refresh_token|^code$|code_verifier|device_code|assertion/;

/** Requests a token with a profile named `acme`. Nothing is stored, so that an old refresh token is sent again. */
export async function request(fields: DataObject, emulator?: EmulatorEndpoint): Promise<TokenResponse> {
  const client = createClient({ emulator });
  const profile = completeProfile(parseProfile('acme', variablesWith('acme', fields), client.sources));
  const { response } = await requestToken(profile, client.ports);
  return response as TokenResponse;
}

/** The error response of the provider, which must not contain a secret of the profile. Any other result fails the test. */
export async function requestError(fields: DataObject, emulator?: EmulatorEndpoint): Promise<ProviderError> {
  const outcome: unknown = await request(fields, emulator).catch((error) => error);
  if (!(outcome instanceof ProviderError)) expect.fail(`no error, but ${JSON.stringify(outcome) ?? String(outcome)}`);
  const secrets = Object.entries(fields)
    .filter(([name, value]) => secretFields.test(name) && typeof value === 'string' && value.length >= 8)
    .map(([, value]) => String(value));
  expect(leaksIn(`${outcome.stack}\n${JSON.stringify(outcome)}`, secrets)).toEqual([]);
  return outcome;
}
