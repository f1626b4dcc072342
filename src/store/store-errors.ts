import { OAuthProfileError } from '../errors.ts';

/** What is kept cannot be used, and stays as it is. */
export function unreadable(message: string, hint: string, cause?: unknown): OAuthProfileError {
  return new OAuthProfileError('store_unreadable', message, { hint: hint, cause });
}

/** Runs what changes files under `place`; a refusal of the system becomes `store_unwritable`. */
export async function writing<T>(place: string, change: () => T | Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (error instanceof OAuthProfileError || code === undefined || syscall === undefined) throw error;
    const [reason, hint] = REASONS[code] ?? [`${syscall} failed with ${code}`, 'check the disk and the folder'];
    throw new OAuthProfileError('store_unwritable', `cannot write to ${place}: ${reason}`, {
      hint: hint,
      cause: error,
    });
  }
}

/** Whether the system refused with one of these codes. */
export function failedWith(error: unknown, ...codes: string[]): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof Error && code !== undefined && codes.includes(code);
}

/** The error for a caller who waited in vain for a turn. */
export function locked(holder: string, waitedMs: number): OAuthProfileError {
  return new OAuthProfileError(
    'store_locked',
    `${holder} is still busy with the same token after ${Math.round(waitedMs / 100) / 10} s`,
    {
      hint: 'try again; if it hangs, end that process: its lock then ends by itself',
    },
  );
}

const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOSPC: ['the disk is full', 'free some space'],
  EDQUOT: ['the disk quota is used up', 'free some space'],
  EROFS: ['the file system is read-only', 'set OAUTH_PROFILE_HOME to a folder that you may write to'],
  EACCES: ['permission denied', 'set OAUTH_PROFILE_HOME to a folder that you may write to'],
  EPERM: ['permission denied', 'set OAUTH_PROFILE_HOME to a folder that you may write to, on a local disk'],
};
