import { composeOutside } from '../compose.ts';
import { Resolver } from '../config/resolver.ts';
import { Variables } from '../config/variables.ts';
import { type Fault, faultKinds, parseFault } from '../emulator/fault.ts';
import type { EmulatedProfiles } from '../emulator/profiles.ts';
import type { Emulator, ServedRequest } from '../emulator/start-emulator.ts';
import { OAuthProfileError } from '../errors.ts';
import type { EmulatorEndpoint } from '../ports.ts';
import { collectFields, profileNames } from '../profile/collect-fields.ts';
import { findProvider } from '../providers/registry.ts';
import type { Context } from './context.ts';
import { usage } from './usage.ts';

/** An emulator that a command talks to, and the way to be done with it. */
export interface Emulation {
  readonly address: EmulatorEndpoint;
  close(): Promise<void>;
}

/** The emulator that `--emulate` asks for: one of our own, or the one that runs at the given address. */
export async function emulationOf(context: Context, ...all: Variables[]): Promise<Emulation | undefined> {
  const { call } = context;
  const joined = call.values.get('emulate')?.[0];
  if (joined !== undefined) {
    if (call.values.has('fault'))
      throw usage(['--fault is for an emulator of its own'], 'give it to oauth-profile emulate');
    return { address: await join(joined), close: async () => {} };
  }
  if (!call.switches.has('emulate')) {
    if (call.values.has('fault')) throw usage(['--fault needs --emulate'], 'add --emulate');
    return undefined;
  }
  const emulator = await start(context, all, 0, undefined);
  return { address: { port: emulator.port, ca: emulator.ca }, close: () => emulator.close() };
}

/** Starts an emulator that knows the profiles of all these variables. */
export async function start(
  context: Context,
  all: readonly Variables[],
  port: number,
  onRequest: ((request: ServedRequest) => void) | undefined,
): Promise<Emulator> {
  const faults = faultsOf(context.call.values.get('fault') ?? []);
  const { startEmulator } = await import('../emulator/start-emulator.ts');
  try {
    return await startEmulator({ profiles: allProfiles(context, all), port, faults, onRequest });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw usage([`port ${port} cannot be used (${code})`], 'choose another with --port, or leave it out');
  }
}

/** Two scripts may each have their own profile of one name: the emulator knows both. */
function allProfiles(context: Context, all: readonly Variables[]): EmulatedProfiles {
  const [first = new Variables(), ...others] = all;
  const profiles = { ...profilesOf(context, first) };
  const known = new Set(Object.values(profiles).map((profile) => JSON.stringify(profile)));
  for (const [index, variables] of others.entries()) {
    for (const [name, profile] of Object.entries(profilesOf(context, variables))) {
      const text = JSON.stringify(profile);
      if (!known.has(text)) profiles[Object.hasOwn(profiles, name) ? `${name} (${index + 2})` : name] = profile;
      known.add(text);
    }
  }
  return profiles;
}

function faultsOf(given: readonly string[]): Fault[] {
  const faults = given.map((text) => parseFault(text));
  if (faults.includes(undefined)) {
    throw usage(
      ['--fault names no known fault'],
      `faults are ${faultKinds.join(', ')}; :2 behind one strikes the second request only`,
    );
  }
  return faults.filter((fault) => fault !== undefined);
}

/** Every profile as the emulator wants it, in clear: it must recognise secrets. What cannot be read is not emulated. */
export function profilesOf(context: Context, variables: Variables): EmulatedProfiles {
  const outside = composeOutside(context.surroundings);
  const resolver = new Resolver(variables, outside);
  const profiles: Record<string, Record<string, unknown>> = {};
  for (const name of profileNames(variables)) {
    try {
      const { fields, basic, options, issues: faults } = collectFields(name, variables, resolver);
      if (faults.length > 0 || findProvider(String(fields.get('type')?.value)) === undefined) continue;
      const profile: Record<string, unknown> = {};
      for (const [field, { value }] of [...fields, ...basic])
        profile[field] = typeof value === 'string' ? value : value.reveal();
      for (const [option, { value, variable }] of options) {
        if (option === 'key_file') profile['options.key'] = outside.readOptionFile(String(value), variable.source);
        else profile[`options.${option}`] = value;
      }
      profiles[name] = profile;
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
    }
  }
  return profiles;
}

/** Learns what a running emulator signs its certificates with. */
async function join(address: string): Promise<EmulatorEndpoint> {
  const found = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{1,5})\/?$/.exec(address);
  if (found === null)
    throw usage(
      ['--emulate takes the address that oauth-profile emulate prints'],
      'write --emulate=http://127.0.0.1:PORT',
    );
  const port = Number(found[1]);
  const ca = await readCertificate(port).catch((cause) => {
    throw new OAuthProfileError('connection_failed', `no emulator answers at ${address}`, {
      cause,
      hint: 'start one: oauth-profile emulate',
    });
  });
  if (!ca.startsWith('-----BEGIN CERTIFICATE-----')) {
    throw new OAuthProfileError('connection_failed', `what answers at ${address} is no emulator`, {
      hint: 'start one: oauth-profile emulate',
    });
  }
  return { port, ca };
}

const JOIN_MS = 5_000;
const MAX_CERTIFICATE_LENGTH = 65_536;

/** Whatever listens there may answer without end, or break off. */
async function readCertificate(port: number): Promise<string> {
  const { get } = await import('node:http');
  return new Promise<string>((resolve, reject) => {
    const path = '/oauth-profile-emulator/ca.pem';
    const signal = AbortSignal.timeout(JOIN_MS);
    const request = get({ host: '127.0.0.1', port, path, signal, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_CERTIFICATE_LENGTH) request.destroy(new Error('too much of an answer'));
      });
      response.on('error', reject);
      response.on('end', () => resolve(text));
    });
    request.on('error', reject);
  });
}
