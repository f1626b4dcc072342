import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { DataFile } from './data/load-variables.ts';
import type { Source } from './data/variables.ts';
import { OAuthProfileError } from './errors.ts';
import type { Clock, Log, Ports } from './ports.ts';
import type { ProfileOutside } from './profile/read-profile.ts';
import { version } from './version.ts';

/** What a process gives us. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const DATA_FILE = 'oauth-profiles.yaml';
const MAX_FILE_BYTES = 1_048_576;

/** The real ports. Nothing of the transport is loaded before the first request. */
export function composePorts({ env }: Surroundings, log: Log = () => {}): Ports {
  let send: Ports['send'] | undefined;
  return {
    async send(request, bounds) {
      send ??= (await import('./transport/send.ts')).createSend(env);
      return send(request, bounds);
    },
    async sign(spec, profile) {
      return (await import('./transport/sign-assertion.ts')).signAssertion(spec, profile);
    },
    clock,
    random: Math.random,
    log,
    version,
  };
}

const clock: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((done, fail) => {
      const timer = setTimeout(finish, ms);
      signal?.addEventListener('abort', finish, { once: true });
      function finish(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        if (signal?.aborted)
          fail(new OAuthProfileError('aborted', 'the request was aborted', { cause: signal.reason }));
        else done();
      }
    }),
};

/** The environment and files that references and options of profiles reach. */
export function composeOutside({ env, cwd }: Surroundings): ProfileOutside {
  const locate = (path: string, source: Source): string =>
    resolve(cwd, source.folder, path.startsWith('~/') ? join(homeOf(env), path.slice(2)) : path);
  return {
    env: (name) => env[name],
    readFile: (path, source) => readIfThere(locate(path, source)),
    readText(path, source) {
      const file = locate(path, source);
      if (source.trust === 'folder') refuseOutside(file, resolve(cwd, source.folder), path);
      return readIfThere(file);
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
    advice: 'keep the file inside the folder, or give the profile in a file of your own with --data',
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
export function findDataFiles({ env, cwd }: Surroundings): {
  user: DataFile | undefined;
  folder: DataFile | undefined;
} {
  const config = env['XDG_CONFIG_HOME'] || join(homeOf(env), '.config');
  const userFile = join(config, 'oauth-profile', DATA_FILE);
  const folderFile = join(cwd, DATA_FILE);
  const user = readDataFileIfThere(userFile, userFile, 'user');
  // In the configuration folder itself the two are one.
  const same = realpathIfThere(userFile) === realpathIfThere(folderFile);
  return {
    user,
    folder: user !== undefined && same ? undefined : readDataFileIfThere(folderFile, DATA_FILE, 'folder'),
  };
}

/** A file that the caller named; it must be there. */
export function readGivenDataFile(path: string, { cwd }: Surroundings): DataFile {
  const file = readDataFileIfThere(resolve(cwd, path), path, 'given');
  if (file !== undefined) return file;
  throw new OAuthProfileError('data_invalid', `${path}: there is no such file`, {
    advice: 'check the path after --data',
  });
}

function readDataFileIfThere(path: string, label: string, trust: Source['trust']): DataFile | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new OAuthProfileError('data_invalid', `${label}: cannot be read (${code})`, {
      cause: error,
      advice: 'check that it is a file and that you may read it',
    });
  }
  if (bytes.length > MAX_FILE_BYTES) {
    throw new OAuthProfileError('data_invalid', `${label}: is larger than ${MAX_FILE_BYTES} bytes`, {
      advice: 'name a file of variables',
    });
  }
  return { text: decodeUtf8(bytes, label), source: { label, folder: dirname(path), trust } };
}

function decodeUtf8(bytes: Buffer, label: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new OAuthProfileError('data_invalid', `${label}: is not UTF-8 text`, { advice: 'save the file as UTF-8' });
  }
}

function readIfThere(path: string): string | undefined {
  try {
    const bytes = readFileSync(path);
    return bytes.length > MAX_FILE_BYTES ? undefined : decodeUtf8(bytes, path);
  } catch {
    return undefined;
  }
}

function homeOf(env: Surroundings['env']): string {
  return env['HOME'] || env['USERPROFILE'] || sep;
}
