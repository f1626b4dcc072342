import { createReadStream } from 'node:fs';
import { appendFile, open, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { OAuthProfileError } from '../errors.ts';
import type { FileContent, Files, FileWriter } from '../ports.ts';
import { createDirectory } from './directories.ts';

const MAX_READ_BYTES = 32 * 1_048_576;

/** The file system. Paths may lead out of the directory of the script: scripts are trusted like shell scripts. */
export const localFiles: Files = {
  async read(path, directory) {
    const { size, read } = await localFiles.open(path, directory);
    if (size > MAX_READ_BYTES) {
      throw new OAuthProfileError('step_failed', `${path} is larger than ${MAX_READ_BYTES} bytes`, {
        hint: 'check the path',
      });
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of read()) chunks.push(chunk);
    return Buffer.concat(chunks);
  },

  async open(path, directory): Promise<FileContent> {
    const file = resolvePath(path, directory);
    const { size } = await withFileErrors('read', path, () => statFile(file));
    return {
      size,
      async *read() {
        if (size === 0) return;
        try {
          yield* createReadStream(file, { end: size - 1 });
        } catch (error) {
          throw fileError('read', path, error);
        }
      },
    };
  },

  async write(path, directory, content, append) {
    if (append) {
      const file = resolvePath(path, directory);
      return withFileErrors('write', path, async () => {
        createDirectory(dirname(file));
        await assertFileOrMissing(file);
        await appendFile(file, content);
      });
    }
    const writer = await localFiles.create(path, directory);
    try {
      await writer.write(content);
      await writer.commit();
    } catch (error) {
      await writer.discard();
      throw error;
    }
  },

  create: (path, directory) => withFileErrors('write', path, () => createFile(path, resolvePath(path, directory))),
};

/** Writes to a temporary file next to the target and renames it, so that readers see the old content or the new, never a part. */
async function createFile(path: string, file: string): Promise<FileWriter> {
  await assertFileOrMissing(file);
  // A symbolic link stays; the file that it points to is replaced.
  const target = await realpath(file).catch(() => file);
  const directory = dirname(target);
  const topmost = createDirectory(directory);
  const temporary = join(directory, `.${basename(target).slice(0, 100)}.${crypto.randomUUID()}.part`);
  const handle = await open(temporary, 'wx');
  return {
    write: (chunk) => withFileErrors('write', path, () => handle.writeFile(chunk)),
    commit: () =>
      withFileErrors('write', path, async () => {
        const replaced = await stat(target).catch(() => undefined);
        if (replaced !== undefined) await handle.chmod(replaced.mode & 0o777);
        await handle.close();
        await rename(temporary, target);
      }),
    async discard() {
      await handle.close().catch(() => {});
      await rm(temporary, { force: true });
      try {
        for (let made = directory; topmost && made.length >= topmost.length; made = dirname(made)) await rmdir(made);
      } catch {
        // Another program has created a file there.
      }
    },
  };
}

function resolvePath(path: string, directory: string): string {
  return resolve(directory, path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);
}

/** Only regular files: devices and pipes may never end, and must not be replaced. */
async function statFile(file: string): Promise<{ size: number }> {
  const stats = await stat(file);
  if (stats.isFile()) return stats;
  throw Object.assign(new Error(), { code: stats.isDirectory() ? 'EISDIR' : 'not a regular file' });
}

async function assertFileOrMissing(file: string): Promise<void> {
  await statFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

async function withFileErrors<T>(action: 'read' | 'write', path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw fileError(action, path, error);
  }
}

function fileError(action: 'read' | 'write', path: string, error: unknown): OAuthProfileError {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return new OAuthProfileError('step_failed', `cannot ${action} ${path} (${code})`, {
    cause: error,
    hint: 'check the path and its permissions; relative paths start at the directory of the script',
  });
}
