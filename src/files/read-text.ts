import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { OAuthProfileError } from '../errors.ts';

/** Largest file that is read as text: profiles, scripts, keys and certificates. */
const MAX_BYTES = 1_048_576;

/**
 * Reads a UTF-8 text file; `undefined` if it does not exist. A file that exists but cannot be used is an error: "not found" would send the user the
 * wrong way. `label` names the file in messages.
 */
export function readTextFile(path: string, label: string): string | undefined {
  const bytes = readBytes(path, label);
  if (bytes === undefined) return undefined;
  if (!isUtf8(bytes)) {
    throw new OAuthProfileError('data_invalid', `${label} is not UTF-8 text`, { hint: 'save the file as UTF-8' });
  }
  const text = bytes.toString();
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** Checks type and size before it reads, and never reads more than the limit: a file may be sparse, a device or a pipe. */
function readBytes(path: string, label: string): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!fstatSync(fd).isFile()) throw Object.assign(new Error('not a regular file'), { code: 'not a regular file' });
    const buffer = Buffer.allocUnsafe(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(fd, buffer, length, buffer.length - length, null);
    }
    if (length <= MAX_BYTES) return buffer.subarray(0, length);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new OAuthProfileError('data_invalid', `cannot read ${label} (${code})`, {
      cause: error,
      hint: 'check that it is a file and that you have permission to read it',
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
  throw new OAuthProfileError('data_invalid', `${label} is larger than ${MAX_BYTES} bytes`, {
    hint: 'check the path: a profile, script, key or certificate is smaller',
  });
}
