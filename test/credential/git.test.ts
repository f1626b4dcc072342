import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Authority } from '../support/certificates.ts';
import { hasProgram, useToolFixture } from '../support/cli.ts';

const fixture = useToolFixture();
const authority = new Authority();
const hasGit = hasProgram('git');

/** Serves the repositories in a directory with `git http-backend`, to users with an accepted token. */
let server: Server;
let origin: string;
let directory: string;
/** Passwords that the server received, without repetitions. */
let received: string[];
let isAccepted: (password: string) => boolean;

function serve(request: IncomingMessage, response: ServerResponse): void {
  const [, encoded] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
  const [user, password = ''] = Buffer.from(encoded ?? '', 'base64')
    .toString()
    .split(':');
  if (encoded !== undefined && received.at(-1) !== password) received.push(password);
  if (user !== 'oauth2' || !isAccepted(password)) {
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
    return;
  }
  const url = new URL(request.url ?? '', origin);
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: user,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    },
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk) => chunks.push(chunk));
  backend.on('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    for (const line of output.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ');
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(output.subarray(end + 4));
  });
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'oauth-profile-git-'));
  server = createServer(authority.issue({ name: 'git', hosts: 'DNS:localhost,IP:127.0.0.1' }), serve);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  await fixture.run(
    `git init -q --bare '${directory}/repo.git' && git -C '${directory}/repo.git' config http.receivepack true`,
  );
});
afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  [received, isAccepted] = [[], () => true];
  rmSync(join(fixture.sandbox.home, '.gitconfig'), { force: true });
  fixture.setProfiles({ origins: [origin] });
});

const env = () => ({
  GIT_SSL_CAINFO: authority.caFile,
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
});
const run = (line: string) => fixture.run(line, env());

describe.skipIf(!hasGit)('the credential helper of git', () => {
  it('clones and pushes, and is configured and removed with git config', async () => {
    expect(await run('oauth-profile configure git lab && oauth-profile configure git lab')).toMatchObject({
      stdout: expect.stringMatching(/nothing to change\n$/),
      exit: 0,
    });
    const clone = `git clone -q ${origin}/repo.git one && cd one && git commit -q --allow-empty -m first && git push -q origin HEAD:main`;
    expect(
      await run(`${clone} && git -C .. clone -q -b main ${origin}/repo.git two && git log --format=%s`),
    ).toMatchObject({
      stdout: 'first\n',
      exit: 0,
    });
    expect(received).toEqual(['access-token-1']);
    expect((await run('oauth-profile configure git lab --undo; cat ~/.gitconfig')).stdout).not.toMatch(
      /^\[credential/m,
    );
  });

  it('gets a new token after git has erased a rejected one', async () => {
    await run('oauth-profile configure git lab');
    const before = fixture.issued();
    isAccepted = (password) => password === `access-token-${before + 1}`;
    // The first call erases the token, the second one gets another.
    expect(await run(`git ls-remote ${origin}/repo.git`)).toMatchObject({ exit: 128 });
    expect(await run(`git ls-remote ${origin}/repo.git`)).toMatchObject({ exit: 0 });
    expect(received).toEqual([`access-token-${before}`, `access-token-${before + 1}`]);
    // Another password is not ours.
    const erase = (password: string) =>
      run(
        `printf 'protocol=https\\nhost=${new URL(origin).host}\\npassword=${password}\\n\\n' | oauth-profile credential git erase`,
      );
    await erase('other');
    expect(await run('oauth-profile token lab')).toMatchObject({ stdout: `access-token-${before + 1}\n` });
    await erase(`access-token-${before + 1}`);
    expect(await run('oauth-profile token lab')).toMatchObject({ stdout: `access-token-${before + 2}\n` });
  });

  it('sends nothing to another host, and makes git stop without a prompt if there is no token', async () => {
    await run("git config --global credential.helper '!oauth-profile credential git'");
    fixture.setProfiles({ origins: ['https://other.example.com'] });
    const other = await run(`git ls-remote ${origin}/repo.git`);
    expect(other.exit).toBe(128);
    expect(received).toEqual([]);
    const lab = { type: 'gitlab', client_id: 'app', grant_type: 'refresh_token', options: { origins: [origin] } };
    fixture.setProfiles({}, { lab });
    const failed = await run(`git ls-remote ${origin}/repo.git`);
    expect(failed.stderr).toMatch(/oauth-profile login lab/);
    expect(failed.stderr).toMatch(/quit/);
    expect(received).toEqual([]);
  });

  it('does not read the profile file of the repository', async () => {
    await run("git config --global credential.helper '!oauth-profile credential git'");
    fixture.setProfiles({ origins: ['https://other.example.com'] });
    const url = `http://127.0.0.1:${fixture.server.port}/token`;
    fixture.sandbox.write(
      'oauth-profiles.yaml',
      `evil: {type: custom, url: "${url}", options: {origins: "${origin}"}}\n`,
    );
    const before = fixture.issued();
    expect(await run(`git ls-remote ${origin}/repo.git`)).toMatchObject({ exit: 128 });
    expect([received, fixture.issued()]).toEqual([[], before]);
  });
});
