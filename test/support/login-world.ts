import { composeSignIn } from '../../src/compose.ts';
import { flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { type BrowserLoginOptions, loginWithAuthorizationCode } from '../../src/flows/login/authorization-code.ts';
import { type DeviceCodePrompt, loginWithDeviceCode } from '../../src/flows/login/device-code.ts';
import { type LoginResult, login as signInAndKeep } from '../../src/flows/login/login.ts';
import type { LoginPorts, Ports } from '../../src/ports.ts';
import { completeProfile, type StoredGrant } from '../../src/profile/complete-profile.ts';
import { type LoginProfile, toLoginProfile } from '../../src/profile/login-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import { Session } from '../../src/session.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The variables of one profile. */
export function variablesWith(name: string, fields: Fields): Variables {
  return new Variables().add(flatten({ [name]: fields }, 'data'), { label: 'data', directory: '', trust: 'given' });
}

/** The profile `svc` of these fields, read for a sign-in. */
export function loginProfileOf(fields: Fields): LoginProfile {
  return toLoginProfile(parseProfile('svc', variablesWith('svc', fields), new Session({ env: {}, cwd: '/' }).outside));
}

/** What a test may put in the place of the real thing. */
export interface Changes {
  readonly ports?: Partial<Ports>;
  readonly outside?: Partial<LoginPorts>;
  readonly wish?: Partial<BrowserLoginOptions>;
  readonly readLine?: (signal: AbortSignal) => Promise<string>;
  readonly mayReplace?: (former: string, account: string) => Promise<boolean>;
  readonly signal?: AbortSignal;
}

/** One profile, its server and what is kept for it: all that several commands would share through the vault, in one process. */
export class LoginWorld {
  readonly told: string[] = [];

  constructor(
    readonly name: string,
    readonly variables: Variables,
    readonly session: Session,
    readonly emulator: Emulator | undefined,
  ) {}

  /** A profile at an emulator of its provider, at the provider's own addresses. */
  static async emulated(name: string, fields: Fields, clock?: () => number): Promise<LoginWorld> {
    const profiles = { [name]: fields as Record<string, unknown> };
    const emulator = await startEmulator({ profiles, clock });
    const address = { port: emulator.port, ca: emulator.ca };
    const session = new Session({ env: {}, cwd: '/' }, { emulator: address });
    return new LoginWorld(name, variablesWith(name, fields), session, emulator);
  }

  /** The same server, asked with another profile of the same name by somebody who keeps nothing. */
  withPasted(fields: Fields): LoginWorld {
    const { name, emulator } = this;
    const address = emulator && { port: emulator.port, ca: emulator.ca };
    const session = new Session({ env: {}, cwd: '/' }, { emulator: address, store: 'memory' });
    return new LoginWorld(name, variablesWith(name, fields), session, emulator);
  }

  get profile(): LoginProfile {
    return toLoginProfile(parseProfile(this.name, this.variables, this.session.outside));
  }

  async signInPorts(): Promise<LoginPorts> {
    const { emulator } = this;
    return composeSignIn({ env: {}, cwd: '/' }, emulator && { port: emulator.port, ca: emulator.ca });
  }

  /** `open` is the person's browser. */
  async loginWithBrowser(open: (address: string) => void, changes: Changes = {}): Promise<LoginResult> {
    const { profile: login } = this;
    const ports = { ...this.session.ports, ...changes.ports };
    const outside = {
      ...(await this.signInPorts()),
      openBrowser: async (address: string) => {
        open(address);
        return undefined;
      },
      ...changes.outside,
    };
    const person = {
      readLine: changes.readLine,
      showUrl: (address: string) => void this.told.push(address),
      showMistake: (text: string) => void this.told.push(text),
    };
    const wish = { port: undefined, open: true, ...changes.wish };
    return this.#keep(
      () => loginWithAuthorizationCode(login, wish, ports, outside, person, changes.signal),
      login,
      ports,
      changes,
    );
  }

  async loginWithDevice(person: DeviceCodePrompt, changes: Changes = {}): Promise<LoginResult> {
    const { profile: login } = this;
    const ports = { ...this.session.ports, ...changes.ports };
    return this.#keep(() => loginWithDeviceCode(login, ports, person, changes.signal), login, ports, changes);
  }

  /** A token, as the command `token` gets it. */
  async token(
    anew = false,
  ): Promise<{ token: string; fromCache: boolean; response: Readonly<Record<string, unknown>> }> {
    const profile = await this.session.readProfile(this.name, this.variables);
    const { token, fromCache } = await this.session.getToken(profile, { anew, keep: true });
    return { token: reply.accessToken.reveal(), fromCache, response: reply.response };
  }

  async close(): Promise<void> {
    await this.session.close();
    await this.emulator?.close();
  }

  async #keep(
    signIn: () => ReturnType<typeof loginWithDeviceCode>,
    login: LoginProfile,
    ports: Ports,
    { mayReplace = async () => false }: Changes,
  ): Promise<LoginResult> {
    const store = await this.session.openStore();
    const readWith = (brought: StoredGrant) =>
      completeProfile(parseProfile(this.name, this.variables, this.session.outside), brought);
    return signInAndKeep({ login, signIn, readWith, mayReplace }, ports, store);
  }
}
