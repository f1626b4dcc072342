import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import type { Environment } from '../../ports.ts';
import { failedWith, unreadable } from '../store-errors.ts';

/** Larger than any record, and small enough to be read at once. */
const MAX_BYTES = 16 * 1_048_576;

/** The vault's own folder. */
export function findVaultFolder(env: Environment): string {
  const home = env['OAUTH_PROFILE_HOME'];
  if (home === undefined || home === '') return join(baseFolder(env, 'XDG_DATA_HOME', '.local', 'share'), 'vault');
  if (isAbsolute(home)) return join(home, 'vault');
  throw new OAuthProfileError('usage', `OAUTH_PROFILE_HOME is not an absolute path: ${home}`, {
    hint: 'start it with a slash; from elsewhere a relative path would be another vault',
  });
}

/** The key file, which a copy of the vault's folder does not contain. */
export function findKeyFile(env: Environment): string {
  return join(baseFolder(env, 'XDG_CONFIG_HOME', '.config'), 'vault.key');
}

function baseFolder(env: Environment, variable: string, ...usual: string[]): string {
  const xdg = env[variable];
  // The XDG specification wants a relative path ignored.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'oauth-profile');
  const home = [env['HOME'], env['USERPROFILE']].find((path) => path !== undefined && isAbsolute(path));
  if (home !== undefined) return join(home, ...usual, 'oauth-profile');
  throw new OAuthProfileError('store_unreadable', 'there is no home folder for the vault', {
    hint: 'set HOME, or OAUTH_PROFILE_HOME and XDG_CONFIG_HOME, to an absolute path',
  });
}

/** Whether the folder is there; one that others could read, or have put there, is refused. */
export function checkFolder(folder: string): boolean {
  const stats = lstatIfThere(folder);
  if (stats === undefined) return false;
  if (stats.isSymbolicLink() || !stats.isDirectory()) {
    throw unreadable(`${folder} is not a folder, or a link to one`, 'set OAUTH_PROFILE_HOME to where the vault is');
  }
  refuseOthers(folder, stats, 'chmod 700');
  if (isReal(folder)) return true;
  for (let part = dirname(folder); part !== dirname(part); part = dirname(part)) refuseForeignLink(part);
  return true;
}

/** The content of a file that only its owner may read, or `undefined` where there is none. */
export function readPrivate(file: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (failedWith(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (failedWith(error, 'ELOOP')) throw unreadable(`${file} is a link`, 'put the file itself there', error);
    throw unreadable(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`, CHECK, error);
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw unreadable(`${file} is not a file`, CHECK);
    refuseOthers(file, stats, 'chmod 600');
    if (stats.size > MAX_BYTES) throw unreadable(`${file} is larger than ${MAX_BYTES} bytes`, CHECK);
    return readFileSync(fd);
  } catch (error) {
    if (error instanceof OAuthProfileError) throw error;
    throw unreadable(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`, CHECK, error);
  } finally {
    closeSync(fd);
  }
}

const CHECK = 'check that it is a file of yours';

function refuseOthers(path: string, { uid, mode }: Stats, chmod: string): void {
  const me = process.geteuid?.();
  // Windows has neither owners nor modes in this sense.
  if (me === undefined) return;
  if (uid !== me) {
    throw unreadable(`${path} belongs to another user (${uid})`, 'run as that user, or use a vault of your own');
  }
  if ((mode & 0o077) !== 0) {
    throw unreadable(
      `${path} is open to other users (mode ${(mode & 0o777).toString(8)})`,
      `close it with: ${chmod} ${path}; whoever could read it may have copied it`,
    );
  }
}

/** Whether there is no link on the way, which is told at once. */
function isReal(path: string): boolean {
  try {
    return realpathSync.native(path) === path;
  } catch {
    return false;
  }
}

/** A link on the way that another user made could point elsewhere tomorrow. */
function refuseForeignLink(part: string): void {
  const stats = lstatIfThere(part);
  const me = process.geteuid?.();
  if (stats === undefined || me === undefined || !stats.isSymbolicLink() || [0, me].includes(stats.uid)) return;
  throw unreadable(`${part}, on the way to the vault, is a link of another user (${stats.uid})`, 'remove that link');
}

function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (failedWith(error, 'ENOTDIR')) return undefined;
    throw unreadable(`${path} cannot be looked at (${(error as NodeJS.ErrnoException).code})`, CHECK, error);
  }
}
