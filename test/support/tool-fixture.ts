import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Finished, Sandbox } from './run-cli.ts';
import { startTokenServer, type TokenServer } from './server.ts';

/** Whether a program can be run. `npm test` prints the programs that are missing, and how many tests were skipped. */
export function hasProgram(name: string, ...args: string[]): boolean {
  return spawnSync(name, args.length > 0 ? args : ['--version'], { stdio: 'ignore' }).status === 0;
}

/** A sandbox whose user has the profile `lab`, and the token server that it uses. All tests of a file share it. */
export interface ToolFixture {
  readonly sandbox: Sandbox;
  readonly server: TokenServer;
  /** The number of the last token. */
  issued(): number;
  /** Replaces the profiles of the user: `lab` with these options, and others. */
  setProfiles(options: object, others?: object): void;
  /** Sets the next responses of the token server. Default: a new token. */
  respondWith(response: object | undefined): void;
  run(line: string, env?: Record<string, string>): Promise<Finished>;
}

/** An unsigned JWT that expires in an hour. */
export function createIdToken(count: number): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return `${encode({ alg: 'none' })}.${encode({ sub: 'ada', exp, count })}.`;
}

/** Creates the fixture before the tests of a file. Tokens are `access-token-1`, `access-token-2` and so on. */
export function useToolFixture(): ToolFixture {
  let sandbox: Sandbox;
  let server: TokenServer;
  let issued = 0;
  let fixed: object | undefined;
  beforeAll(async () => {
    sandbox = new Sandbox();
    server = await startTokenServer((response, { number }) => {
      issued = number;
      const token = { access_token: `access-token-${number}`, id_token: createIdToken(number), expires_in: 3600 };
      response.end(JSON.stringify(fixed ?? token));
    });
  });
  afterAll(async () => {
    sandbox.remove();
    await server.stop();
  });
  return {
    get sandbox() {
      return sandbox;
    },
    get server() {
      return server;
    },
    issued: () => issued,
    setProfiles(options, others = {}) {
      const directory = join(sandbox.home, '.config', 'oauth-profile');
      mkdirSync(directory, { recursive: true });
      const url = `http://127.0.0.1:${server.port}/token`;
      const fields = { type: 'custom', url, grant_type: 'client_credentials', client_id: 'robot' };
      const profiles = { lab: { ...fields, options }, ...others };
      writeFileSync(join(directory, 'oauth-profiles.json'), JSON.stringify(profiles));
    },
    respondWith(response) {
      fixed = response;
    },
    run: (line, env = {}) => sandbox.run(line, env),
  };
}
