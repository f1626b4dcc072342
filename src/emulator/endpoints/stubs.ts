import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve } from 'node:path';
import { type EmulatorRequest, type EmulatorResponse, text } from '../messages.ts';
import { ConfigError } from '../settings.ts';

/** A stub response for the requests to one path of a host. */
export interface StubOptions {
  /** Default: GET. */
  readonly method?: string | undefined;
  /** The exact path; `*` stands for any characters. */
  readonly path: string;
  /** Default: 200. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A string, or any other value, which is sent as JSON. */
  readonly body?: unknown;
  /** A file with the body, inside the directory of the configuration. It is read for each request. */
  readonly file?: string | undefined;
}

/** Stub responses by host. */
export type Stubs = ReadonlyMap<string, readonly Stub[]>;

interface Stub {
  readonly method: string;
  readonly path: RegExp;
  readonly respond: () => Promise<EmulatorResponse>;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
};

/** Prepares the stubs of all hosts. Files are inside `directory`. */
export function createStubs(hosts: Readonly<Record<string, readonly StubOptions[]>>, directory: string): Stubs {
  return new Map(
    Object.entries(hosts).map(([host, stubs]) => [
      host.toLowerCase(),
      stubs.map(({ method = 'GET', path, status = 200, headers = {}, body, file }) => ({
        method,
        path: new RegExp(`^${path.split('*').map(escapeRegExp).join('.*')}$`),
        respond: async () => {
          if (file !== undefined) return respondWithFile(status, headers, file, directory);
          const isText = typeof body === 'string' || body === undefined;
          const type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
          return {
            status,
            headers: { 'Content-Type': type, ...headers },
            body: isText ? (body ?? '') : JSON.stringify(body),
          };
        },
      })),
    ]),
  );
}

async function respondWithFile(
  status: number,
  headers: Readonly<Record<string, string>>,
  file: string,
  directory: string,
): Promise<EmulatorResponse> {
  try {
    const type = contentTypes[extname(file)] ?? 'application/octet-stream';
    return { status, headers: { 'Content-Type': type, ...headers }, body: await readFile(pathInside(directory, file)) };
  } catch (error) {
    return text(
      500,
      `emulator error: cannot read ${file} (${(error as NodeJS.ErrnoException).code ?? 'invalid path'})`,
    );
  }
}

/** The path of a file inside a directory. Throws for any other file: a configuration may come with a cloned repository. */
export function pathInside(directory: string, file: string): string {
  const path = resolve(directory, file);
  // A link could lead to any file.
  const real = existsSync(path) ? relative(realpathSync(directory), realpathSync(path)) : '';
  if ([relative(directory, path), real].some((way) => /^\.\.(?:[/\\]|$)/.test(way) || isAbsolute(way)))
    throw new ConfigError(`${file} is outside of ${directory}`);
  return path;
}

/** The stub for a request. */
export function findStub(stubs: Stubs, { host, method, path }: EmulatorRequest): Stub['respond'] | undefined {
  return stubs.get(host)?.find((stub) => stub.method === method && stub.path.test(path))?.respond;
}

function escapeRegExp(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
