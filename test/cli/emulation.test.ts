import { afterAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../support/run-cli.ts';
import { serveRaw } from '../support/wire-server.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());
sandbox.write('p.yaml', 'x: {type: twitter, client_id: a, client_secret: b}\n');

const pem = '-----BEGIN CERTIFICATE-----\n';

describe('what listens in the place of an emulator', () => {
  it.each([
    ['breaks off', `HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${pem}`, true],
    ['breaks off in a chunk', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n${pem}`, true],
    ['says nothing', '', true],
    ['never comes to an end', `HTTP/1.1 200 OK\r\n\r\n${pem.repeat(10_000)}`, false],
  ])('ends the command with a clear error: it %s', async (_, bytes, ends) => {
    const server = await serveRaw((socket) => {
      socket.once('data', () => {
        socket.write(bytes);
        if (ends) socket.end();
      });
    });
    const url = `http://127.0.0.1:${server.port}`;
    const { stdout, stderr, exit } = await sandbox.run(`oauth-profile token x --data p.yaml --emulate=${url}`);
    expect({ stdout, stderr, exit }).toEqual({
      stdout: '',
      stderr: `oauth-profile: no emulator answers at ${url}\n  → start one: oauth-profile emulate\n`,
      exit: 4,
    });
  });
});

it('shows a request of very many and very long names in a few lines', async () => {
  const form = `${'n'.repeat(30_000)}=1&${Array.from({ length: 4000 }, (_, i) => `f${i}=`).join('&')}`;
  sandbox.write('form', form);
  const { stdout } = await sandbox.run(
    'oauth-profile emulate --data p.yaml > out & until grep -qs join out; do sleep 0.05; done; url=$(grep -o "http://127.0.0.1:[0-9]*" out | head -1); curl -s --data @form "$url/api.twitter.com/oauth2/token"; kill -INT %1; wait %1; cat out',
  );
  expect(stdout).toContain('forbidden_missing_parameter');
  expect(stdout).toContain('  … and 3901 more\n');
  expect(stdout.length).toBeLessThan(70_000);
});
