import { Resolver } from '../config/resolver.ts';
import { Variables } from '../config/variables.ts';
import { type Fault, faultKinds, parseFault } from '../emulator/faults.ts';
import type { EmulatedProfiles } from '../emulator/realms.ts';
import type { ServedRequest } from '../emulator/control/request-log.ts';
import type { Emulator } from '../emulator/start-emulator.ts';
import { OAuthProfileError } from '../errors.ts';
import type { EmulatorEndpoint } from '../ports.ts';
import { collectFields, profileNames } from '../profile/collect-fields.ts';
import type { ProfileSources } from '../profile/parse-profile.ts';
import { findProvider } from '../providers/registry.ts';
import { usageError } from './args.ts';
import { flagValue, hasFlag } from './command.ts';
import type { Context } from './context.ts';

/** An emulator that a command uses. */
export interface Emulation {
  readonly endpoint: EmulatorEndpoint;
  close(): Promise<void>;
}

/** The emulator that `--emulate` asks for: a new one, or the one at the given URL. */
export async function openEmulation(
  context: Context,
  sources: ProfileSources,
  all: readonly Variables[],
): Promise<Emulation | undefined> {
  const { args } = context;
  const url = flagValue(args, 'emulate');
  if (url !== undefined) {
    if (args.values.has('fault'))
      throw usageError('--fault cannot be combined with --emulate=URL', 'pass --fault to oauth-profile emulate');
    return { endpoint: await connectToEmulator(url), close: async () => {} };
  }
  if (!hasFlag(args, 'emulate')) {
    if (args.values.has('fault')) throw usageError('--fault needs --emulate', 'add --emulate');
    return undefined;
  }
  const emulator = await startEmulator(context, sources, all, 0, undefined);
  return { endpoint: { port: emulator.port, ca: emulator.ca }, close: () => emulator.close() };
}

/** Starts an emulator that knows the profiles of all these variables. */
export async function startEmulator(
  { args }: Context,
  sources: ProfileSources,
  all: readonly Variables[],
  port: number,
  onRequest: ((request: ServedRequest) => void) | undefined,
): Promise<Emulator> {
  const faults = parseFaults(args.values.get('fault') ?? []);
  const emulator = await import('../emulator/start-emulator.ts');
  try {
    return await emulator.startEmulator({ profiles: mergeProfiles(sources, all), port, faults, onRequest });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw usageError(`cannot listen on port ${port} (${code})`, 'choose another port with --port, or omit --port');
  }
}

/** Two scripts may each define their own profile of the same name: the emulator knows both. */
function mergeProfiles(sources: ProfileSources, all: readonly Variables[]): EmulatedProfiles {
  const [first = new Variables(), ...others] = all;
  const profiles = { ...emulatedProfiles(sources, first) };
  const known = new Set(Object.values(profiles).map((profile) => JSON.stringify(profile)));
  for (const [index, variables] of others.entries()) {
    for (const [name, profile] of Object.entries(emulatedProfiles(sources, variables))) {
      const json = JSON.stringify(profile);
      if (!known.has(json)) profiles[Object.hasOwn(profiles, name) ? `${name} (${index + 2})` : name] = profile;
      known.add(json);
    }
  }
  return profiles;
}

function parseFaults(values: readonly string[]): Fault[] {
  const faults = values.map((value) => parseFault(value));
  if (faults.includes(undefined)) {
    throw usageError(
      'invalid --fault: unknown fault',
      `faults are ${faultKinds.join(', ')}; add :2 to apply one to the second request only`,
    );
  }
  return faults.filter((fault) => fault !== undefined);
}

/** The profiles in the form that the emulator takes, with their secrets, which it must recognise. Invalid profiles are left out. */
export function emulatedProfiles(sources: ProfileSources, variables: Variables): EmulatedProfiles {
  const resolver = new Resolver(variables, sources);
  const profiles: Record<string, Record<string, unknown>> = {};
  for (const name of profileNames(variables)) {
    try {
      const { fields, basic, options, issues } = collectFields(name, variables, resolver);
      if (issues.length > 0 || findProvider(String(fields.get('type')?.value)) === undefined) continue;
      const profile: Record<string, unknown> = {};
      for (const [field, { value }] of [...fields, ...basic])
        profile[field] = typeof value === 'string' ? value : value.reveal();
      for (const [option, { value, variable }] of options) {
        if (option === 'key_file') profile['options.key'] = sources.readOptionFile(String(value), variable.source);
        else profile[`options.${option}`] = value;
      }
      profiles[name] = profile;
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
    }
  }
  return profiles;
}

/** Reads the certificate authority of a running emulator. */
async function connectToEmulator(url: string): Promise<EmulatorEndpoint> {
  const [, digits] = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{1,5})\/?$/.exec(url) ?? [];
  if (digits === undefined)
    throw usageError(
      'invalid --emulate: expected the URL that oauth-profile emulate prints',
      'write --emulate=http://127.0.0.1:PORT',
    );
  const port = Number(digits);
  const hint = 'start an emulator: oauth-profile emulate';
  const ca = await readCertificate(port).catch((cause) => {
    throw new OAuthProfileError('connection_failed', `cannot connect to an emulator at ${url}`, { cause, hint });
  });
  if (!ca.startsWith('-----BEGIN CERTIFICATE-----')) {
    throw new OAuthProfileError('connection_failed', `the server at ${url} is not an emulator`, { hint });
  }
  return { port, ca };
}

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_CERTIFICATE_LENGTH = 65_536;

/** Limited in time and size: any server may listen on that port. */
async function readCertificate(port: number): Promise<string> {
  const { get } = await import('node:http');
  return new Promise<string>((resolve, reject) => {
    const path = '/oauth-profile-emulator/ca.pem';
    const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    const request = get({ host: '127.0.0.1', port, path, signal, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_CERTIFICATE_LENGTH) request.destroy(new Error('the response is too large'));
      });
      response.on('error', reject);
      response.on('end', () => resolve(text));
    });
    request.on('error', reject);
  });
}
