import { composeOutside, composePorts, findDataFiles, type Surroundings } from './compose.ts';
import { type DataObject, flatten } from './data/flatten.ts';
import { loadVariables } from './data/load-variables.ts';
import { Variables } from './data/variables.ts';
import { acquireToken } from './flows/acquire-token.ts';
import type { EmulatorAddress, Ports } from './ports.ts';
import { readProfile } from './profile/read-profile.ts';

/** What {@link oauthProfile} can be told. */
export interface OAuthProfileOptions {
  /** The variables: `{'graph.type': 'microsoft'}` or `{graph: {type: 'microsoft'}}`. Without it the files that the shell command reads are read. */
  readonly data?: DataObject | undefined;
  /** Ends the call early, with an error of code `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** An emulator of the providers, from `oauth-profile/emulator`: every request goes there, to the real address. */
  readonly emulator?: EmulatorAddress | undefined;
}

/** A token response as the provider gave it: every member, types kept. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type?: string;
  /** Seconds; a text where the provider answered with a form. */
  readonly expires_in?: number | string;
  readonly refresh_token?: string;
  readonly scope?: string;
  readonly id_token?: string;
  readonly [member: string]: unknown;
}

const surroundings: Surroundings = {
  env: process.env,
  get cwd() {
    return process.cwd();
  },
};
const ports = composePorts(surroundings);
const emulatedPorts = new WeakMap<EmulatorAddress, Ports>();
const outside = composeOutside(surroundings);
const dataSource = { label: 'data', folder: '', trust: 'given' } as const;

/** Asks the provider of a profile for a token and returns its response; any failure is one {@link OAuthProfileError}. */
export async function oauthProfile(profile: string, options: OAuthProfileOptions = {}): Promise<TokenResponse> {
  if (typeof profile !== 'string' || profile === '') throw new TypeError('oauthProfile: the profile must be a name');
  const { data, signal, emulator } = options;
  if (data !== undefined && (typeof data !== 'object' || data === null || Symbol.iterator in data))
    throw new TypeError('oauthProfile: data must be an object of variables');
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new TypeError('oauthProfile: signal must be an AbortSignal');
  const variables =
    data === undefined
      ? await loadVariables({
          ...findDataFiles(surroundings),
          given: [],
          settings: { entries: [], source: dataSource },
        })
      : new Variables().add(flatten(data, 'data'), dataSource);
  const { response } = await acquireToken(readProfile(profile, variables, outside), portsFor(emulator), signal);
  return response as TokenResponse;
}

/** Connections are kept from call to call, for each emulator apart. */
function portsFor(emulator: EmulatorAddress | undefined): Ports {
  if (emulator === undefined) return ports;
  const known = emulatedPorts.get(emulator) ?? composePorts(surroundings, { emulator });
  emulatedPorts.set(emulator, known);
  return known;
}
