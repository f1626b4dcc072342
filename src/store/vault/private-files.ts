import { constants, lstatSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import { findUserDirectory } from '../../files/directories.ts';
import { readRegularFile } from '../../files/read-file.ts';
import type { Environment } from '../../ports.ts';
import { hasErrorCode, storeUnreadableError } from '../store-errors.ts';

/** Larger than any record, and small enough to be read at once. */
const MAX_BYTES = 16 * 1_048_576;

/** The vault's directory. */
export function findVaultDirectory(env: Environment): string {
  const home = env['OAUTH_PROFILE_HOME'] || requireUserDirectory('data', env);
  if (isAbsolute(home)) return join(home, 'vault');
  throw new OAuthProfileError('usage', `OAUTH_PROFILE_HOME is not an absolute path: ${home}`, {
    hint: 'set it to an absolute path: a relative one would depend on the working directory',
  });
}

/** The key file. It is outside the vault's directory, so that a copy of the vault does not contain the key. */
export function findKeyFile(env: Environment): string {
  return join(requireUserDirectory('config', env), 'vault.key');
}

function requireUserDirectory(kind: 'config' | 'data', env: Environment): string {
  const directory = findUserDirectory(kind, env);
  if (directory !== undefined) return directory;
  throw storeUnreadableError(
    'there is no home directory for the vault',
    'set HOME, or OAUTH_PROFILE_HOME and XDG_CONFIG_HOME, to an absolute path',
  );
}

/** Returns whether the directory exists. Throws if other users can access it or control where its path leads. */
export function checkPrivateDirectory(directory: string): boolean {
  const stats = lstatIfExists(directory);
  if (stats === undefined) return false;
  if (!stats.isDirectory()) {
    throw storeUnreadableError(
      `${directory} is not a directory${stats.isSymbolicLink() ? ' but a symbolic link' : ''}`,
      'set OAUTH_PROFILE_HOME to the directory that contains the vault',
    );
  }
  assertPrivate(directory, stats, 'chmod 700');
  for (let path = dirname(directory); path !== dirname(path); path = dirname(path)) assertOwnLink(path);
  return true;
}

/** Reads a file that only its owner can access; `undefined` if it does not exist. */
export function readPrivateFile(file: string): Buffer | undefined {
  const check = (stats: Stats): void => assertPrivate(file, stats, 'chmod 600');
  try {
    return readRegularFile(file, MAX_BYTES, { flags: constants.O_NOFOLLOW, check });
  } catch (error) {
    throw error instanceof OAuthProfileError ? error : cannotRead(file, error);
  }
}

function assertPrivate(path: string, { uid, mode }: Stats, chmod: string): void {
  const user = process.geteuid?.();
  // Windows has neither user ids nor permission bits.
  if (user === undefined) return;
  if (uid !== user) {
    throw storeUnreadableError(
      `${path} belongs to another user (${uid})`,
      'run this command as that user, or set OAUTH_PROFILE_HOME to a directory of your own',
    );
  }
  if ((mode & 0o077) !== 0) {
    throw storeUnreadableError(
      `${path} is accessible to other users (mode ${(mode & 0o777).toString(8)})`,
      `run: ${chmod} ${path}; other users may have copied its content`,
    );
  }
}

/** Rejects a symbolic link of another user, who could change its target at any time. */
function assertOwnLink(path: string): void {
  const stats = lstatIfExists(path);
  const user = process.geteuid?.();
  if (stats === undefined || user === undefined || !stats.isSymbolicLink() || [0, user].includes(stats.uid)) return;
  throw storeUnreadableError(
    `${path}, which leads to the vault, is a symbolic link of another user (${stats.uid})`,
    'remove that link',
  );
}

/** Status of a file or link; `undefined` if it does not exist. */
export function lstatIfExists(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (hasErrorCode(error, 'ENOTDIR')) return undefined;
    throw cannotRead(path, error);
  }
}

function cannotRead(path: string, cause: unknown): OAuthProfileError {
  const { code } = cause as NodeJS.ErrnoException;
  const reason = { ELOOP: 'it is a symbolic link', EFBIG: 'it is too large' }[code ?? ''] ?? code;
  return storeUnreadableError(`cannot read ${path} (${reason})`, 'check that it is a regular file of this user', cause);
}
