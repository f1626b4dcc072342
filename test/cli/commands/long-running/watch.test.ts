import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sandbox, startCommand } from '../../../support/cli.ts';
import { startTokenServer, type TokenServer } from '../../../support/server.ts';

let sandbox: Sandbox;
let server: TokenServer;
/** The response to each request. */
let respond: (count: number) => Record<string, unknown>;
beforeEach(async () => {
  sandbox = new Sandbox();
  server = await startTokenServer((response, { number }) => {
    const members = respond(number);
    response.statusCode = 'error' in members ? 400 : 200;
    response.end(JSON.stringify(members));
  });
  sandbox.write(
    'oauth-profiles.yaml',
    `p: {type: custom, url: "http://127.0.0.1:${server.port}/", grant_type: refresh_token, client_id: app, refresh_token: first-refresh-token}\n`,
  );
});
afterEach(async () => {
  sandbox.remove();
  await server.stop();
});

/** Waits until the file has this content. */
async function waitForContent(name: string, content: string): Promise<void> {
  const file = join(sandbox.work, name);
  while (!existsSync(file) || readFileSync(file, 'utf8') !== content) await setTimeout(20);
}

describe('watch', () => {
  it('replaces the token in the file until it is stopped, and deletes the file', async () => {
    respond = (count) => ({ access_token: `access-${count}`, refresh_token: `refresh-${count}`, expires_in: 2 });
    const command = startCommand(sandbox, ['watch', 'p', '--file', 'token', '--force-refresh']);
    await waitForContent('token', 'access-1');
    const { ino, mode } = statSync(join(sandbox.work, 'token'));
    expect(mode & 0o777).toBe(0o600);
    await waitForContent('token', 'access-2');
    expect(statSync(join(sandbox.work, 'token')).ino).not.toBe(ino);
    command.child.kill('SIGTERM');
    expect(await command.finished).toEqual({ stdout: '', stderr: '', exit: 0 });
    expect(readdirSync(sandbox.work)).toEqual(['oauth-profiles.yaml']);
  });

  it('does not delete a file that another program has put in its place', async () => {
    respond = (count) => ({ access_token: `access-${count}`, refresh_token: `refresh-${count}`, expires_in: 3600 });
    const command = startCommand(sandbox, ['watch', 'p', '--file', 'token', '--force-refresh']);
    await waitForContent('token', 'access-1');
    sandbox.write('token', 'of another program');
    command.child.kill('SIGTERM');
    expect(await command.finished).toMatchObject({ exit: 0 });
    expect(sandbox.read('token')).toBe('of another program');
  });

  it('exits with 5 when a login is required, and deletes the file', async () => {
    respond = (count) =>
      count === 1
        ? { access_token: 'access-1', refresh_token: 'refresh-1', expires_in: 2 }
        : { error: 'invalid_grant' };
    const command = startCommand(sandbox, ['watch', 'p', '--file', 'token', '--json']);
    await waitForContent('token', 'access-1');
    const { stderr, exit } = await command.finished;
    expect({ exit, code: JSON.parse(stderr).code }).toEqual({ exit: 5, code: 'login_required' });
    expect(readdirSync(sandbox.work)).toEqual(['oauth-profiles.yaml']);
  });

  it('with --token id_token replaces an id token that expires before the access token', async () => {
    const idToken = (subject: string, lifetime: number) =>
      new UnsecuredJWT({}).setSubject(subject).setIssuedAt().setExpirationTime(`${lifetime}s`).encode();
    const ids = [idToken('first', 1), idToken('second', 3600)];
    respond = (count) => ({ access_token: `access-${count}`, expires_in: 3600, id_token: ids[count - 1] });
    const command = startCommand(sandbox, ['watch', 'p', '--file', 'id', '--token', 'id_token']);
    await waitForContent('id', ids[1] ?? '');
    command.child.kill('SIGINT');
    expect(await command.finished).toMatchObject({ exit: 0 });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['a response without an id token', ['--file', 'id', '--token', 'id_token'], 'response_unreadable', 4],
    ['a directory that does not exist', ['--file', 'none/token'], 'usage', 2],
    ['a path that is a directory', ['--file', 'directory'], 'usage', 2],
    ['a missing --file', [], 'usage', 2],
    ['an unknown --token', ['--file', 'id', '--token', 'refresh_token'], 'usage', 2],
  ])('fails for %s and leaves no file', async (_, flags, code, exit) => {
    respond = () => ({ access_token: 'access-1', expires_in: 3600 });
    mkdirSync(join(sandbox.work, 'directory'));
    const command = startCommand(sandbox, ['watch', 'p', '--json', ...flags]);
    const finished = await command.finished;
    expect({ code: JSON.parse(finished.stderr).code, exit: finished.exit }).toEqual({ code, exit });
    expect(readdirSync(sandbox.work).sort()).toEqual(['directory', 'oauth-profiles.yaml']);
  });
});

describe('exec --token-file', () => {
  it('replaces the token in the file while the command runs', async () => {
    respond = (count) => ({ access_token: `access-${count}`, refresh_token: `refresh-${count}`, expires_in: 2 });
    const script = 'until [ "$(cat "$OAUTH_ACCESS_TOKEN_FILE")" = access-2 ]; do sleep 0.05; done; exit 7';
    const command = startCommand(sandbox, ['exec', 'p', '--token-file', '--', 'sh', '-c', script]);
    expect(await command.finished).toMatchObject({ exit: 7, stderr: '' });
  });

  it('reports that a login is required and lets the command end by itself', async () => {
    respond = (count) =>
      count === 1
        ? { access_token: 'access-1', refresh_token: 'refresh-1', expires_in: 2 }
        : { error: 'invalid_grant' };
    const script = 'trap "exit 7" USR1; while :; do sleep 0.05; done';
    const command = startCommand(sandbox, ['exec', 'p', '--token-file', '--', 'sh', '-c', script]);
    await command.waitFor(/^oauth-profile: /m);
    command.child.kill('SIGUSR1');
    expect(await command.finished).toMatchObject({ exit: 7 });
  });
});
