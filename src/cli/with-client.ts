import { type Client, type ClientOptions, createClient, type VariableSources } from '../client.ts';
import { readEnvironment } from '../config/dotenv.ts';
import { hasReference } from '../config/reference.ts';
import { type Entry, Variables } from '../config/variables.ts';
import { OAuthProfileError } from '../errors.ts';
import { type ProcessEnvironment, readNamedFile } from '../files/profile-files.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { usageError } from './args.ts';
import { type Context, logVerbose, warn } from './context.ts';
import type { Emulation } from './emulation.ts';

/** A client with the variables and the emulator that it uses. */
export interface OpenClient {
  readonly client: Client;
  readonly variables: Variables;
  /** Set with `--emulate`. */
  readonly emulation: Emulation | undefined;
}

/** Without any of these flags, the code of the emulator is not loaded. */
const EMULATOR_FLAGS = ['emulate', 'fault', 'allow'];

/**
 * Runs `use` with a client as the flags describe it, and closes everything afterwards. An emulator knows the profiles of all variables that `load`
 * returns; by default, those of the files and flags.
 */
export async function withClient<T>(
  context: Context,
  use: (open: OpenClient) => Promise<T>,
  load = async (client: Client) => [await client.loadVariables(variableSources(context))],
): Promise<T> {
  const options = clientOptions(context);
  const plain = createClient(options);
  const all = await load(plain);
  const isEmulated =
    EMULATOR_FLAGS.some((flag) => context.args.switches.has(flag) || context.args.values.has(flag)) ||
    context.environment.env['OAUTH_PROFILE_EMULATOR'];
  const { openEmulation } = isEmulated ? await import('./emulation.ts') : { openEmulation: () => undefined };
  const emulation = await openEmulation(context, plain.sources, all);
  const client = emulation === undefined ? plain : createClient({ ...options, emulator: emulation });
  try {
    return await use({ client, variables: all[0] ?? new Variables(), emulation });
  } catch (error) {
    // `close` waits for a refresh that was sent, which may take some seconds.
    if (error instanceof OAuthProfileError && error.code === 'aborted')
      logVerbose(context, 'interrupted: waiting for requests that were sent');
    throw error;
  } finally {
    await client.close();
    await emulation?.close();
  }
}

/** The client options that the flags describe. */
export function clientOptions(context: Context): ClientOptions {
  const { environment, args } = context;
  const store = args.values.get('store')?.[0];
  if (store !== undefined && !/^(?:rediss?|unix)(?:\+\w+)?:\/\/./.test(store))
    throw usageError('invalid --store: expected a Redis URL', 'write --store redis://host:6379, or rediss:// for TLS');
  if (store !== undefined && /^[\w+]+:\/\/[^/]*:[^/]*@/.test(store))
    warn(
      context,
      '--store contains a password, and other users can see command-line arguments: set OAUTH_PROFILE_STORE',
    );
  return {
    environment: withEnvironmentFiles(environment, args.values.get('env-file') ?? []),
    store,
    keepAlive: false,
    log: (line) => logVerbose(context, line),
    warn: (message) => warn(context, message),
  };
}

/** Adds the variables of `--env-file`. A variable that is set in the environment has precedence, as with `node --env-file`. */
function withEnvironmentFiles(environment: ProcessEnvironment, paths: readonly string[]): ProcessEnvironment {
  const variables = paths.map((path) => {
    const { text, source } = readNamedFile(path, environment);
    return readEnvironment(text, source.label);
  });
  return variables.length === 0
    ? environment
    : { ...environment, env: Object.assign({}, ...variables, environment.env) };
}

/** The variables that `--data` and `--set` name. */
export function variableSources(context: Context): VariableSources {
  const { args } = context;
  const settings = parseSettings(args.values.get('set') ?? []);
  for (const { name, value } of settings) {
    if (isSensitiveName(name) && typeof value === 'string' && value !== '' && !hasReference(value))
      warn(context, `--set ${name}: other users can see command-line arguments; use \${env:…} or --data instead`);
  }
  return { files: args.values.get('data') ?? [], settings };
}

function parseSettings(settings: readonly string[]): Entry[] {
  const issues: string[] = [];
  const entries = settings.map((setting, index) => {
    const end = setting.indexOf('=');
    // The value itself is not shown: it may be a secret.
    if (end < 1) issues.push(`invalid --set (number ${index + 1}): expected NAME=VALUE`);
    return { name: setting.slice(0, end), value: setting.slice(end + 1) };
  });
  if (issues.length > 0) throw usageError(issues, 'write --set graph.scope=user.read');
  return entries;
}
