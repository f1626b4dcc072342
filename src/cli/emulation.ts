import { once } from 'node:events';
import { type ExternalSources, Resolver } from '../config/resolver.ts';
import type { Source, Variables } from '../config/variables.ts';
import type { EmulatorOptions } from '../emulator/config.ts';
import { type Fault, faultKinds, parseFault } from '../emulator/faults.ts';
import type { EmulatedProfiles } from '../emulator/realms.ts';
import type { Emulator } from '../emulator/start-emulator.ts';
import { OAuthProfileError } from '../errors.ts';
import type { EmulatorEndpoint, Environment } from '../ports.ts';
import { collectFields } from '../profile/collect-fields.ts';
import { isPkcs12 } from '../profile/profile.ts';
import type { ProfileDraft } from '../profile/profile-draft.ts';
import { parseUrl } from '../profile/url.ts';
import { findProvider } from '../providers/registry.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { Secret } from '../redaction/secret.ts';
import { findEmulator } from '../store/emulator-registry.ts';
import { invalidFlag, usageError } from './args.ts';
import type { Context } from './context.ts';
import { readEmulatorConfig } from './emulator-config.ts';

/** An emulator that a command uses. */
export type Emulation = EmulatorEndpoint & Pick<Emulator, 'close'>;

/** The emulator that `--emulate` asks for: a new one, or the one at the given URL. */
export async function openEmulation(
  context: Context,
  sources: ExternalSources,
  all: readonly Variables[],
): Promise<Emulation | undefined> {
  const { args, environment } = context;
  const isNew = args.switches.has('emulate');
  const url = args.values.get('emulate')?.[0] ?? (isNew ? undefined : environment.env['OAUTH_PROFILE_EMULATOR']);
  if (url) {
    if (args.values.has('fault'))
      throw usageError('--fault cannot be combined with --emulate=URL', 'pass --fault to oauth-profile emulate');
    const emulator = await connectToEmulator(url, environment.env);
    const allow = [...(emulator.allow ?? []), ...parseOrigins(args.values.get('allow') ?? [])];
    return { ...emulator, allow, close: async () => {} };
  }
  if (!isNew) {
    for (const flag of ['fault', 'allow'])
      if (args.values.has(flag)) throw usageError(`--${flag} needs --emulate`, 'add --emulate');
    return undefined;
  }
  return startEmulator(context, sources, all);
}

/** Starts an emulator that knows the profiles of all these variables. */
export async function startEmulator(
  context: Context,
  sources: ExternalSources,
  all: readonly Variables[],
  options: Pick<EmulatorOptions, 'port' | 'control' | 'onRequest'> = {},
): Promise<Emulator> {
  const { args } = context;
  const given = parseFaults(args.values.get('fault') ?? []);
  const config = await readEmulatorConfig(context, sources);
  const { allow = [], faults = [] } = config as EmulatorOptions;
  const emulator = await import('../emulator/start-emulator.ts');
  const port = options.port ?? Number(config['port'] ?? 0);
  try {
    return await emulator.startEmulator({
      ...config,
      ...(options.control === false && { control: false }),
      onRequest: options.onRequest,
      port,
      profiles: await mergeProfiles(sources, all),
      faults: given.length > 0 ? given : faults,
      allow: [...allow, ...parseOrigins(args.values.get('allow') ?? [])],
    });
  } catch (error) {
    if (error instanceof TypeError) throw usageError(error.message, 'correct emulator.yaml, or the file of --config');
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw usageError(`cannot listen on port ${port} (${code})`, 'choose another port with --port, or omit --port');
  }
}

/** Two scripts may each define their own profile of the same name: the emulator knows both. */
async function mergeProfiles(sources: ExternalSources, all: readonly Variables[]): Promise<EmulatedProfiles> {
  const profiles: Record<string, EmulatedProfiles[string]> = {};
  const known = new Set<string>();
  for (const [index, variables] of all.entries()) {
    for (const [name, profile] of Object.entries(await emulatedProfiles(sources, variables))) {
      const json = JSON.stringify(profile);
      if (!known.has(json)) profiles[Object.hasOwn(profiles, name) ? `${name} (${index + 1})` : name] = profile;
      known.add(json);
    }
  }
  return profiles;
}

function parseOrigins(values: readonly string[]): string[] {
  return values.map((value) => {
    const url = parseUrl(value);
    if (url !== undefined && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(url.href))
      return url.origin;
    throw invalidFlag('allow', value, 'an origin', 'https://staging.example.com');
  });
}

function parseFaults(values: readonly string[]): Fault[] {
  return values.map((value) => {
    const fault = parseFault(value);
    if (fault !== undefined) return fault;
    const hint = `faults are ${faultKinds.join(', ')}; add :2 to apply one to the second request only`;
    throw usageError(`unknown --fault "${escapeControls(value)}"`, hint);
  });
}

/** The profiles in the form that the emulator takes, with their secrets, which it must recognise. Invalid profiles are left out. */
export async function emulatedProfiles(sources: ExternalSources, variables: Variables): Promise<EmulatedProfiles> {
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
        if (option === 'key_file')
          profile['options.key'] = await readKey(sources, String(value), variable.source, options);
        else profile[`options.${option}`] = value;
      }
      profiles[name] = profile;
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
    }
  }
  return profiles;
}

/** The emulator needs PEM or JWK. The error of a PKCS #12 file that cannot be converted appears when it is used. */
async function readKey(sources: ExternalSources, path: string, source: Source, options: ProfileDraft['options']) {
  if (!isPkcs12(path)) return sources.readFileInside(path, source);
  const { readPkcs12 } = await import('../http/grants/pkcs12.ts');
  const content = sources.readFileInside(path, source, 'base64') ?? '';
  const { value = '' } = options.get('key_passphrase') ?? {};
  const passphrase = value instanceof Secret ? value.reveal() : String(value ?? '');
  return readPkcs12(Buffer.from(content, 'base64'), passphrase).catch(() => undefined);
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Finds a running emulator and verifies that it is still the one that this user started. */
async function connectToEmulator(url: string, env: Environment): Promise<EmulatorEndpoint> {
  if (!/^http:\/\/(?:127\.0\.0\.1|localhost):\d{1,5}\/?$/.test(url))
    throw usageError(
      'invalid --emulate: expected the URL that oauth-profile emulate prints',
      'write --emulate=http://127.0.0.1:PORT',
    );
  const emulator = findEmulator(url, env);
  const { port, ca } = emulator;
  const { connect } = await import('node:tls');
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost', rejectUnauthorized: true });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch (cause) {
    const hint = 'start an emulator: oauth-profile emulate';
    throw new OAuthProfileError('connection_failed', `the emulator at ${url} is no longer running`, { cause, hint });
  } finally {
    socket.destroy();
  }
  return emulator;
}
