import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Sandbox } from '../support/run-cli.ts';
import { startTokenServer } from '../support/token-server.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

it.each([
  ['a refusal', 400, '{"error":"invalid_client"}'],
  ['half a reply', 200, '{"access_token":"abc'],
  ['a reply without a token', 200, '{"token_type":"Bearer"}'],
  ['an empty token', 200, '{"access_token":""}'],
  ['a page', 200, '<html></html>'],
])(
  'D2 all or nothing: after %s nothing is on stdout, and what a script saved before is untouched',
  async (_, status, body) => {
    const server = await startTokenServer((response) => {
      response.statusCode = status;
      response.end(body);
    });
    sandbox.write('token', 'the former value');
    const { stdout, exit } = await sandbox.run(
      'token=$(oauth-profile token p --set p.type=custom --set p.url=http://127.0.0.1:$PORT/ 2>/dev/null) && printf "%s" "$token" > token; echo "status $?, token is [$token]"',
      { PORT: String(server.port) },
    );
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^status [34], token is \[\]\n$/);
    expect(readFileSync(join(sandbox.work, 'token'), 'utf8')).toBe('the former value');
    await server.close();
  },
);
