import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { OAuthProfileError } from '../errors.ts';

/** Largest file that is read as a whole: profiles, scripts, keys and certificates. */
const MAX_TEXT_BYTES = 1_048_576;

/**
 * Reads a regular file; `undefined` if it does not exist. Type and size are checked first, and hardly more than `maxBytes` are read: a file may be
 * sparse, endless, a device or a pipe. Errors have a `code`: that of the system, `not a regular file` or `EFBIG`.
 */
export function readRegularFile(
  path: string,
  maxBytes: number,
  { flags = 0, check }: { readonly flags?: number | undefined; readonly check?: (stats: Stats) => void } = {},
): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw Object.assign(new Error(), { code: 'not a regular file' });
    check?.(stats);
    if (stats.size <= maxBytes) {
      // Files of /proc have size 0 and a content, which some of them only return in units of 8 bytes.
      const buffer = Buffer.allocUnsafe(stats.size || maxBytes + 8);
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(fd, buffer, length, buffer.length - length, null);
      }
      if (length <= maxBytes) return buffer.subarray(0, length);
    }
    throw Object.assign(new Error(), { code: 'EFBIG' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * Reads a UTF-8 text file; `undefined` if it does not exist. A file that exists but cannot be used is an error: "not found" would send the user the
 * wrong way. `label` names the file in messages. With base64, the file may contain any bytes.
 */
export function readTextFile(path: string, label: string, encoding: 'utf8' | 'base64' = 'utf8'): string | undefined {
  const invalid = (problem: string, hint: string, cause?: unknown) =>
    new OAuthProfileError('data_invalid', problem, { hint, cause });
  let bytes: Buffer | undefined;
  try {
    bytes = readRegularFile(path, MAX_TEXT_BYTES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'EFBIG'
      ? invalid(
          `${label} is larger than ${MAX_TEXT_BYTES} bytes`,
          'check the path: a profile, script, key or certificate is smaller',
        )
      : invalid(
          `cannot read ${label} (${code})`,
          'check that it is a file and that you have permission to read it',
          error,
        );
  }
  if (encoding === 'base64') return bytes?.toString(encoding);
  if (bytes !== undefined && !isUtf8(bytes)) throw invalid(`${label} is not UTF-8 text`, 'save the file as UTF-8');
  return bytes?.toString().replace(/^\ufeff/, '');
}
