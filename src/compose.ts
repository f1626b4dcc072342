import { isUtf8 } from 'node:buffer';
import { setMaxListeners } from 'node:events';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { DataFile } from './config/load-variables.ts';
import type { Source } from './config/variables.ts';
import { abortError, OAuthProfileError } from './errors.ts';
import type { Connector } from './http/connector.ts';
import type {
  CallApi,
  Clock,
  EmulatorEndpoint,
  Environment,
  Files,
  Log,
  LoginPorts,
  Ports,
  TokenStore,
} from './ports.ts';
import type { ProfileSources } from './profile/parse-profile.ts';
import { version } from './version.ts';

/** What a process gives us. */
export interface ProcessEnvironment {
  readonly env: Environment;
  readonly cwd: string;
}

const DATA_FILE = 'oauth-profiles.yaml';
const MAX_FILE_BYTES = 1_048_576;

/** What the ports can be told. */
export interface PortOptions {
  readonly log?: Log | undefined;
  /** Every request goes there instead of to its host. */
  readonly emulator?: EmulatorEndpoint | undefined;
  /** Whether connections wait for the next request; who sends one and ends has no use for that. */
  readonly keepConnections?: boolean | undefined;
}

/** The real ports. Nothing of the transport is loaded before the first request. */
export function composePorts(
  { env }: ProcessEnvironment,
  { log = () => {}, emulator, keepConnections = true }: PortOptions = {},
): Ports {
  let loading: Promise<Ports['send']> | undefined;
  let loaded: Ports['send'] | undefined;
  return {
    send(asked, bounds) {
      const request = keepConnections ? asked : { ...asked, reuseConnection: false };
      allowMany(bounds.signal);
      if (loaded !== undefined) return loaded(request, bounds);
      loading ??= loadSend(env, emulator);
      return loading.then((send) => {
        loaded = send;
        return send(request, bounds);
      });
    },
    async sign(spec, profile, bounds) {
      allowMany(bounds.signal);
      return (await import('./http/client-assertion.ts')).signAssertion(spec, profile, bounds);
    },
    clock,
    random: Math.random,
    log,
    version,
  };
}

/** What the store can be told. */
export interface StoreOptions extends Pick<PortOptions, 'emulator'> {
  /** `redis://…`, or `memory`, instead of the vault of this machine. */
  readonly store?: string | undefined;
  /** Tells a person what is not as it should be but stops nothing. */
  readonly warn?: ((text: string) => void) | undefined;
}

/** The store that tokens are kept in: a Redis, the vault of this machine, or, with an emulator, nothing that outlives the process. */
export async function composeStore(
  { env }: ProcessEnvironment,
  { clock }: Ports,
  { emulator, store, warn = () => {} }: StoreOptions,
): Promise<TokenStore> {
  if (emulator !== undefined || store === 'memory') return (await import('./store/memory.ts')).createMemoryStore(clock);
  const url = store ?? env['OAUTH_PROFILE_STORE'];
  if (url) return (await import('./store/redis/redis-store.ts')).openRedisStore(url, { env, warn });
  return (await import('./store/vault/vault.ts')).openVault({ env, clock });
}

/** What scripts send to APIs and find in files; loaded when it is first used. */
export function composeCallApi(
  { env }: ProcessEnvironment,
  emulator: EmulatorEndpoint | undefined,
): { readonly callApi: CallApi; readonly files: Files } {
  let loading: Promise<CallApi> | undefined;
  const load = async (): Promise<CallApi> =>
    (await import('./http/call-api.ts')).createCallApi(await loadConnector(env, emulator));
  const files = async (): Promise<Files> => (await import('./script/local-files.ts')).localFiles;
  return {
    async callApi(request, bounds) {
      allowMany(bounds.signal);
      loading ??= load();
      return (await loading)(request, bounds);
    },
    files: {
      read: async (...args) => (await files()).read(...args),
      open: async (...args) => (await files()).open(...args),
      write: async (...args) => (await files()).write(...args),
      create: async (...args) => (await files()).create(...args),
    },
  };
}

/** What the sign-in of a person takes: a listener, a browser, chance. */
export async function composeSignIn(
  surroundings: ProcessEnvironment,
  emulator: EmulatorEndpoint | undefined,
): Promise<LoginPorts> {
  const { callApi } = composeCallApi(surroundings, emulator);
  return (await import('./interactive/login-ports.ts')).createLoginPorts(surroundings.env, callApi, emulator);
}

async function loadSend(env: Environment, emulator: EmulatorEndpoint | undefined): Promise<Ports['send']> {
  return (await import('./http/send.ts')).createSend(await loadConnector(env, emulator));
}

async function loadConnector(env: Environment, emulator: EmulatorEndpoint | undefined): Promise<Connector> {
  return (await import('./http/connector.ts')).createConnector(env, emulator);
}

const clock: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((done, fail) => {
      const timer = setTimeout(finish, ms);
      if (signal?.aborted) return finish();
      allowMany(signal);
      signal?.addEventListener('abort', finish, { once: true });
      function finish(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        if (signal?.aborted) fail(abortError(signal));
        else done();
      }
    }),
};

/** Any number of calls may share a signal; Node would take their listeners for a leak. */
function allowMany(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal);
}

/** The environment and files that references and options of profiles reach. */
export function composeOutside(surroundings: ProcessEnvironment): ProfileSources {
  const { env } = surroundings;
  // The working folder is asked for each time: a program may change it.
  const locate = (path: string, source: Source): string =>
    resolve(surroundings.cwd, source.directory, path.startsWith('~/') ? join(homeOf(env), path.slice(2)) : path);
  return {
    env: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    readOptionFile(path, source) {
      try {
        return readTextIfThere(locate(path, source), path);
      } catch {
        return undefined;
      }
    },
    readFileInside(path, source) {
      const file = locate(path, source);
      if (source.trust === 'directory') refuseOutside(file, resolve(surroundings.cwd, source.directory), path);
      return readTextIfThere(file, `file ${path}`);
    },
  };
}

/** A folder's own file reads nothing beyond the folder, not even through a link. */
function refuseOutside(file: string, folder: string, path: string): void {
  const inside = (inner: string, outer: string): boolean => {
    const way = relative(outer, inner);
    return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  };
  const real = realpathIfThere(file);
  if (inside(file, folder) && (real === undefined || inside(real, realpathIfThere(folder) ?? folder))) return;
  throw new OAuthProfileError('data_invalid', `\${file:${path}} leaves the folder of its file`, {
    hint: 'keep the file inside the folder, or give the profile in a file of your own with --data',
  });
}

function realpathIfThere(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The user's own profiles and those of the working folder, where they exist. */
export function findDataFiles({ env, cwd }: ProcessEnvironment): {
  user: DataFile | undefined;
  folder: DataFile | undefined;
} {
  const xdg = env['XDG_CONFIG_HOME'];
  // The XDG specification wants a relative path ignored; here it would make the working folder's file the user's own.
  const config = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homeOf(env), '.config');
  const userFile = join(config, 'oauth-profile', DATA_FILE);
  const folderFile = join(cwd, DATA_FILE);
  const user = readDataFileIfThere(userFile, userFile, 'user');
  // In the configuration folder itself the two are one.
  const same = user !== undefined && realpathIfThere(userFile) === realpathIfThere(folderFile);
  return { user, folder: same ? undefined : readDataFileIfThere(folderFile, DATA_FILE, 'directory') };
}

/** A file that the caller named; it must be there. */
export function readGivenFile(
  path: string,
  { cwd }: ProcessEnvironment,
  code: 'data_invalid' | 'script_invalid' = 'data_invalid',
): DataFile {
  const file = readDataFileIfThere(resolve(cwd, path), path, 'given');
  if (file !== undefined) return file;
  throw new OAuthProfileError(code, `${path}: there is no such file`, {
    hint: code === 'data_invalid' ? 'check the path after --data' : 'check the path',
  });
}

function readDataFileIfThere(path: string, label: string, trust: Source['trust']): DataFile | undefined {
  const text = readTextIfThere(path, label);
  return text === undefined ? undefined : { text, source: { label, directory: dirname(path), trust } };
}

/** A file that is there but cannot be used is an error of its own: who reads "there is none" looks for the wrong thing. */
function readTextIfThere(path: string, label: string): string | undefined {
  let bytes: Buffer;
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // A device or a pipe never ends.
    if (!stats.isFile() && !stats.isDirectory()) throw Object.assign(new Error('no file'), { code: 'not a file' });
    bytes = readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new OAuthProfileError('data_invalid', `${label}: cannot be read (${code})`, {
      cause: error,
      hint: 'check that it is a file and that you may read it',
    });
  }
  if (bytes.length > MAX_FILE_BYTES) {
    throw new OAuthProfileError('data_invalid', `${label}: is larger than ${MAX_FILE_BYTES} bytes`, {
      hint: 'that is not what it was meant to be: check the path',
    });
  }
  if (!isUtf8(bytes)) {
    throw new OAuthProfileError('data_invalid', `${label}: is not UTF-8 text`, { hint: 'save the file as UTF-8' });
  }
  const text = bytes.toString();
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function homeOf(env: Environment): string {
  return [env['HOME'], env['USERPROFILE']].find((path) => path !== undefined && isAbsolute(path)) ?? sep;
}
