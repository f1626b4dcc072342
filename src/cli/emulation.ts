import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ExternalSources, Resolver } from '../config/resolver.ts';
import type { Variables } from '../config/variables.ts';
import type { ServedRequest } from '../emulator/control/request-log.ts';
import { type Fault, faultKinds, parseFault } from '../emulator/faults.ts';
import type { EmulatedProfiles } from '../emulator/realms.ts';
import type { Emulator } from '../emulator/start-emulator.ts';
import { OAuthProfileError } from '../errors.ts';
import type { EmulatorEndpoint, Environment } from '../ports.ts';
import { collectFields } from '../profile/collect-fields.ts';
import { findProvider } from '../providers/registry.ts';
import { createPrivateDirectory } from '../store/vault/durable-fs.ts';
import { checkPrivateDirectory, findVaultDirectory, readPrivateFile } from '../store/vault/private-files.ts';
import { usageError } from './args.ts';
import type { Context } from './context.ts';

/** An emulator that a command uses. */
export type Emulation = Pick<Emulator, 'port' | 'ca' | 'close'>;

/** The emulator that `--emulate` asks for: a new one, or the one at the given URL. */
export async function openEmulation(
  context: Context,
  sources: ExternalSources,
  all: readonly Variables[],
): Promise<Emulation | undefined> {
  const { args } = context;
  const url = args.values.get('emulate')?.[0];
  if (url !== undefined) {
    if (args.values.has('fault'))
      throw usageError('--fault cannot be combined with --emulate=URL', 'pass --fault to oauth-profile emulate');
    return { ...(await connectToEmulator(url, context.environment.env)), close: async () => {} };
  }
  if (!args.switches.has('emulate')) {
    if (args.values.has('fault')) throw usageError('--fault needs --emulate', 'add --emulate');
    return undefined;
  }
  return startEmulator(context, sources, all, 0);
}

/** Starts an emulator that knows the profiles of all these variables. */
export async function startEmulator(
  { args }: Context,
  sources: ExternalSources,
  all: readonly Variables[],
  port: number,
  onRequest?: (request: ServedRequest) => void,
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
function mergeProfiles(sources: ExternalSources, all: readonly Variables[]): EmulatedProfiles {
  const profiles: Record<string, EmulatedProfiles[string]> = {};
  const known = new Set<string>();
  for (const [index, variables] of all.entries()) {
    for (const [name, profile] of Object.entries(emulatedProfiles(sources, variables))) {
      const json = JSON.stringify(profile);
      if (!known.has(json)) profiles[Object.hasOwn(profiles, name) ? `${name} (${index + 1})` : name] = profile;
      known.add(json);
    }
  }
  return profiles;
}

function parseFaults(values: readonly string[]): Fault[] {
  return values.map((value) => {
    const fault = parseFault(value);
    if (fault !== undefined) return fault;
    const hint = `faults are ${faultKinds.join(', ')}; add :2 to apply one to the second request only`;
    throw usageError('invalid --fault: unknown fault', hint);
  });
}

/** The profiles in the form that the emulator takes, with their secrets, which it must recognise. Invalid profiles are left out. */
export function emulatedProfiles(sources: ExternalSources, variables: Variables): EmulatedProfiles {
  const resolver = new Resolver(variables, sources);
  const profiles: Record<string, Record<string, unknown>> = {};
  for (const name of variables.profileNames()) {
    try {
      const { fields, basic, options, issues } = collectFields(name, variables, resolver);
      if (issues.length > 0 || findProvider(String(fields.get('type')?.value)) === undefined) continue;
      const profile: Record<string, unknown> = {};
      for (const [field, { value }] of [...fields, ...basic])
        profile[field] = typeof value === 'string' ? value : value.reveal();
      for (const [option, { value, variable }] of options) {
        if (option === 'key_file') profile['options.key'] = sources.readFileInside(String(value), variable.source);
        else profile[`options.${option}`] = value;
      }
      profiles[name] = profile;
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
    }
  }
  return profiles;
}

/** Files with the certificate authorities of this user's running emulators, by port. Other users can neither read nor replace them. */
function registryDirectory(env: Environment): string {
  return join(dirname(findVaultDirectory(env)), 'emulators');
}

/** Lets `--emulate=URL` verify this emulator. Returns a function that ends that. */
export async function registerEmulator({ port, ca }: EmulatorEndpoint, env: Environment): Promise<() => void> {
  const directory = registryDirectory(env);
  await createPrivateDirectory(directory);
  checkPrivateDirectory(directory);
  const file = join(directory, `${port}.pem`);
  const unregister = (): void => rmSync(file, { force: true });
  unregister();
  writeFileSync(file, ca, { flag: 'wx', mode: 0o600 });
  return unregister;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Finds the emulator that this user started at a URL. Any other server fails the TLS handshake before it receives a secret. */
async function connectToEmulator(url: string, env: Environment): Promise<EmulatorEndpoint> {
  const [, digits] = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{1,5})\/?$/.exec(url) ?? [];
  if (digits === undefined)
    throw usageError(
      'invalid --emulate: expected the URL that oauth-profile emulate prints',
      'write --emulate=http://127.0.0.1:PORT',
    );
  const port = Number(digits);
  const directory = registryDirectory(env);
  const ca = checkPrivateDirectory(directory) ? readPrivateFile(join(directory, `${port}.pem`))?.toString() : undefined;
  const fail = (message: string, cause?: unknown): OAuthProfileError =>
    new OAuthProfileError('connection_failed', message, { cause, hint: 'start an emulator: oauth-profile emulate' });
  if (ca === undefined) throw fail(`you have not started an emulator at ${url}`);
  const { connect } = await import('node:tls');
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost', rejectUnauthorized: true });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch (error) {
    throw fail(`there is no emulator at ${url} any more`, error);
  } finally {
    socket.destroy();
  }
  return { port, ca };
}
