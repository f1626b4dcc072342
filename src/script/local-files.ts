import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, type FileHandle, mkdir, open, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { OAuthProfileError } from '../errors.ts';
import type { FileContent, Files, FileWriter } from '../ports.ts';

const MAX_READ_BYTES = 32 * 1_048_576;

/** The files of this machine. A path may lead out of the script's folder: a script is its user's own, as a shell script is. */
export const localFiles: Files = {
  async read(path, folder) {
    const { size, read } = await localFiles.open(path, folder);
    if (size > MAX_READ_BYTES) {
      throw new OAuthProfileError('step_failed', `${path}: is larger than ${MAX_READ_BYTES} bytes`, {
        hint: 'that is not what it was meant to be: check the path',
      });
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of read()) pieces.push(piece);
    return Buffer.concat(pieces);
  },

  async open(path, folder): Promise<FileContent> {
    const file = locate(path, folder);
    const { size } = await attempt(path, 'read', () => regularFile(file));
    return {
      size,
      async *read() {
        if (size === 0) return;
        try {
          yield* createReadStream(file, { end: size - 1 });
        } catch (error) {
          throw problem(path, 'read', error);
        }
      },
    };
  },

  async write(path, folder, content, append) {
    if (append) {
      const file = locate(path, folder);
      await attempt(path, 'written', async () => {
        await makeFolders(dirname(file));
        await regularFileOrNone(file);
        await appendFile(file, content);
      });
      return;
    }
    const file = await localFiles.create(path, folder);
    try {
      await file.write(content);
      await file.commit();
    } catch (error) {
      await file.discard();
      throw error;
    }
  },

  create: (path, folder) => attempt(path, 'written', () => LocalFile.create(path, locate(path, folder))),
};

/** A file that grows beside the place where it will stand: whoever looks there finds the old one or the new one, never half of it. */
class LocalFile implements FileWriter {
  readonly #path: string;
  readonly #target: string;
  readonly #beside: string;
  readonly #handle: FileHandle;
  /** The uppermost folder that was made for it. */
  readonly #made: string | undefined;

  private constructor(path: string, target: string, beside: string, handle: FileHandle, made: string | undefined) {
    this.#path = path;
    this.#target = target;
    this.#beside = beside;
    this.#handle = handle;
    this.#made = made;
  }

  static async create(path: string, file: string): Promise<LocalFile> {
    await regularFileOrNone(file);
    // Of a link it is the target that changes, not the link.
    const target = await realpath(file).catch(() => file);
    const made = await makeFolders(dirname(target));
    const beside = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomUUID()}.part`);
    return new LocalFile(path, target, beside, await open(beside, 'wx'), made);
  }

  write(piece: Uint8Array): Promise<void> {
    return attempt(this.#path, 'written', () => this.#handle.writeFile(piece));
  }

  commit(): Promise<void> {
    return attempt(this.#path, 'written', async () => {
      const mode = await stat(this.#target).then(
        (old) => old.mode,
        () => undefined,
      );
      if (mode !== undefined) await this.#handle.chmod(mode & 0o777);
      await this.#handle.close();
      await rename(this.#beside, this.#target);
    });
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#beside, { force: true });
    if (this.#made === undefined) return;
    const top = dirname(this.#made);
    try {
      for (let folder = dirname(this.#target); folder !== top; folder = dirname(folder)) await rmdir(folder);
    } catch {
      // Somebody else put something there meanwhile.
    }
  }
}

function locate(path: string, folder: string): string {
  return resolve(folder, path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);
}

/** The uppermost of the folders that it made. Node's own `recursive` goes on for ever where a parent is there and takes nothing, as in /proc. */
async function makeFolders(folder: string): Promise<string | undefined> {
  const there = await stat(folder).catch(() => undefined);
  if (there !== undefined) return undefined;
  const above = await makeFolders(dirname(folder));
  try {
    await mkdir(folder);
    return above ?? folder;
  } catch (error) {
    // Another step may have been quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return above;
  }
}

/** A device or a pipe never ends, and nothing may take its place. */
async function regularFile(file: string): Promise<{ size: number }> {
  const stats = await stat(file);
  if (!stats.isFile()) throw Object.assign(new Error('no file'), { code: stats.isDirectory() ? 'EISDIR' : 'no file' });
  return stats;
}

async function regularFileOrNone(file: string): Promise<void> {
  await regularFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

async function attempt<T>(path: string, what: 'read' | 'written', act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw problem(path, what, error);
  }
}

function problem(path: string, what: 'read' | 'written', error: unknown): OAuthProfileError {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return new OAuthProfileError('step_failed', `${path}: cannot be ${what} (${code})`, {
    cause: error,
    hint: `check the path, and that you may ${what === 'read' ? 'read' : 'write'} there; relative paths start from the script's folder`,
  });
}
