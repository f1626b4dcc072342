import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sandbox, startCommand } from '../support/cli.ts';
import { startTokenServer } from '../support/server.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

/** A promise that another part of the test resolves. */
class Gate {
  open: () => void = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

/** The files in the vault that are neither records, aliases nor their directories. */
function leftoverFiles(): string[] {
  const vault = join(sandbox.home, '.local', 'share', 'oauth-profile', 'vault');
  return readdirSync(vault, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/^[0-9a-f]{16}(?:\/[0-9a-f]{32}\.(?:record|alias))?$/.test(name),
  );
}

const profile = (grant: string, port: number): string =>
  `p: {type: custom, url: "http://127.0.0.1:${port}/", grant_type: ${grant}, client_id: app, refresh_token: first-refresh-token}\n`;

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  it('ends a request with 130, closes its connection and releases the lock', async () => {
    const sent = new Gate();
    const closed = new Gate();
    const server = await startTokenServer((response) => {
      response.on('close', closed.open);
      sent.open();
    });
    sandbox.write('oauth-profiles.yaml', profile('client_credentials', server.port));
    const command = startCommand(sandbox, ['token', 'p', '--json']);
    await sent.opened;
    command.child.kill(signal);
    await closed.opened;
    const { stdout, stderr, exit } = await command.finished;
    expect({ stdout, exit }).toEqual({ stdout: '', exit: 130 });
    expect(JSON.parse(stderr)).toMatchObject({ code: 'aborted' });
    expect(leftoverFiles()).toEqual([]);
    await server.stop();
  });

  it('lets a refresh that was sent finish, and stores the new refresh token', async () => {
    const sent = new Gate();
    const interrupted = new Gate();
    const server = await startTokenServer(async (response, { number }) => {
      sent.open();
      await interrupted.opened;
      response.end(
        JSON.stringify({ access_token: `access-${number}`, refresh_token: `refresh-${number}`, expires_in: 3600 }),
      );
    });
    sandbox.write('oauth-profiles.yaml', profile('refresh_token', server.port));
    const command = startCommand(sandbox, ['token', 'p', '--verbose']);
    await sent.opened;
    command.child.kill(signal);
    await command.waitFor(/^interrupted/m);
    interrupted.open();
    expect(await command.finished).toMatchObject({ stdout: '', exit: 130 });
    expect(leftoverFiles()).toEqual([]);
    expect(await startCommand(sandbox, ['token', 'p', '--force-refresh']).finished).toMatchObject({ exit: 0 });
    expect(new URLSearchParams(server.requests[1]?.body).get('refresh_token')).toBe('refresh-1');
    await server.stop();
  });

  it('ends the wait for a lock and leaves the lock of the other process', async () => {
    const sent = new Gate();
    const interrupted = new Gate();
    const server = await startTokenServer(async (response) => {
      sent.open();
      await interrupted.opened;
      response.end(JSON.stringify({ access_token: 'access', expires_in: 3600 }));
    });
    sandbox.write('oauth-profiles.yaml', profile('client_credentials', server.port));
    const owner = startCommand(sandbox, ['token', 'p']);
    await sent.opened;
    const before = leftoverFiles();
    const waiting = startCommand(sandbox, ['token', 'p', '--verbose']);
    await waiting.waitFor(/client_credentials/);
    waiting.child.kill(signal);
    expect(await waiting.finished).toMatchObject({ stdout: '', exit: 130 });
    expect(leftoverFiles()).toEqual(before);
    interrupted.open();
    expect(await owner.finished).toMatchObject({ stdout: 'access\n', exit: 0 });
    expect(leftoverFiles()).toEqual([]);
    await server.stop();
  });
});

it('a reader that closes the pipe ends the command without an error', async () => {
  const { stderr } = await sandbox.run(
    'oauth-profile --help | true; oauth-profile completion bash | head -c 1 > /dev/null',
  );
  expect(stderr).toBe('');
});
