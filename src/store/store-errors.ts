import { OAuthProfileError } from '../errors.ts';

/** Creates the error for a store whose content cannot be used. The content is left as it is. */
export function storeUnreadableError(message: string, hint: string, cause?: unknown): OAuthProfileError {
  return new OAuthProfileError('store_unreadable', message, { hint, cause });
}

/** Creates the error for content in a format that this version does not know. */
export function newerVersionError(location: string): OAuthProfileError {
  return storeUnreadableError(`${location} was written by a newer version of oauth-profile`, 'update oauth-profile');
}

/** Creates the error for a caller that did not get a lock in time. */
export function lockTimeoutError(owner: string, waitedMs: number): OAuthProfileError {
  const seconds = Math.round(waitedMs / 100) / 10;
  return new OAuthProfileError('store_locked', `${owner} still holds the lock for this token after ${seconds} s`, {
    hint: 'try again; if that process hangs, end it: its lock is then released',
  });
}

/** Runs `change`, which writes files in `directory`; system errors become `store_unwritable`. */
export async function mapWriteErrors<T>(directory: string, change: () => T | Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (error instanceof OAuthProfileError || code === undefined || syscall === undefined) throw error;
    const [reason, hint] = REASONS[code] ?? [
      `${syscall} failed with ${code}`,
      `check that ${directory} is a writable directory and that the disk is not full`,
    ];
    throw new OAuthProfileError('store_unwritable', `cannot write to ${directory}: ${reason}`, { hint, cause: error });
  }
}

/** Whether a system call failed with one of these error codes. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof Error && code !== undefined && codes.includes(code);
}

const CHOOSE_DIRECTORY = 'set OAUTH_PROFILE_HOME to a writable directory on a local disk';

const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOSPC: ['no space left on device', 'free some disk space'],
  EDQUOT: ['disk quota exceeded', 'free some disk space'],
  EROFS: ['the file system is read-only', CHOOSE_DIRECTORY],
  EACCES: ['permission denied', CHOOSE_DIRECTORY],
  EPERM: ['operation not permitted', CHOOSE_DIRECTORY],
};
