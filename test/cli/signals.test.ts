import { afterAll, expect, it } from 'vitest';
import { Sandbox } from '../support/run-cli.ts';
import { startTokenServer } from '../support/token-server.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends a waiting request with 130 and closes its connection',
  async (signal) => {
    let pid = 0;
    let closed: () => void;
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await startTokenServer((response) => {
      response.on('close', () => closed());
      process.kill(pid, signal);
    });
    const { stdout, stderr, exit } = await sandbox.run(
      'exec oauth-profile token p --set p.type=custom --set p.url=http://127.0.0.1:$PORT/ --set p.grant_type=client_credentials',
      { PORT: String(server.port) },
      (started) => {
        pid = started;
      },
    );
    await gone;
    expect({ stdout, stderr, exit }).toEqual({
      stdout: '',
      stderr: 'oauth-profile: the request was aborted\n',
      exit: 130,
    });
    expect(server.received).toHaveLength(1);
    await server.close();
  },
);

it('who stops reading the output ends the command quietly', async () => {
  const { stderr } = await sandbox.run(
    'oauth-profile --help | true; oauth-profile completion bash | head -c 1 > /dev/null',
  );
  expect(stderr).toBe('');
});
